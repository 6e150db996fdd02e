//===- tools/eider/Run.cpp - eider run ------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Inputs.h"
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"

#include <algorithm>
#include <cstdio>

namespace eider::cli {

namespace {

/// Device memory of one tensor.
class Buffer {
public:
  Buffer(const Device &device, size_t bytes)
      : device_(device), pointer_(device.allocate(std::max<size_t>(bytes, 1))), bytes_(bytes) {}
  ~Buffer() { device_.free(pointer_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void *pointer() const { return pointer_; }
  void upload(const std::vector<std::byte> &data) {
    device_.upload(pointer_, data.data(), data.size());
  }
  /// An element that a kernel forgets to write is then a NaN in every float type.
  void poison() { device_.fill(pointer_, 0xff, bytes_); }
  std::vector<std::byte> download() const {
    std::vector<std::byte> data(bytes_);
    device_.download(data.data(), pointer_, bytes_);
    return data;
  }

private:
  Device device_;
  void *pointer_;
  size_t bytes_;
};

const Signature::Tensor &tensorOf(const Signature &signature, const std::string &name) {
  return *std::ranges::find(signature.tensors, name, &Signature::Tensor::name);
}

void checkShapes(const Kernel &kernel, const Signature &signature, const Dims &dims,
                 const std::vector<HostTensor> &inputs, const std::string &file) {
  for (const HostTensor &input : inputs) {
    const std::vector<int64_t> wanted = kernel.shapeOf(input.name, dims);
    if (input.shape != wanted)
      throw Error(ErrorKind::Request,
                  "its shape is " + shapeText(input.shape) + " where " + shapeText(wanted) +
                      " is wanted: [" + join(tensorOf(signature, input.name).shape) + "]",
                  file + ": tensor '" + input.name + "'");
  }
}

size_t bytesOf(const std::vector<int64_t> &shape, DType type) {
  int64_t bytes = static_cast<int64_t>(sizeOf(type));
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw Error(ErrorKind::Request, "a tensor of shape " + shapeText(shape) + " is too large");
  return static_cast<size_t>(bytes);
}

std::vector<ScalarArg> scalarsFor(const Kernel &kernel, const Signature &signature,
                                  const std::map<std::string, double> &values) {
  std::vector<ScalarArg> scalars;
  for (const std::string &name : kernel.scalarNames()) {
    auto given = values.find(name);
    auto scalar = std::ranges::find(signature.scalars, name, &Signature::Scalar::name);
    scalars.emplace_back(given != values.end() ? given->second
                                               : static_cast<double>(scalar->value));
  }
  return scalars;
}

/// Runs the kernel on copies of `inputs` and gives its outputs, in-outs among them, in the kernel's
/// order.
std::vector<HostTensor> launch(const Device &device, const Kernel &kernel,
                               const Signature &signature, const Dims &dims,
                               const std::vector<HostTensor> &inputs,
                               const std::map<std::string, double> &scalars) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<TensorArg> arguments;
  for (const std::string &name : kernel.tensorNames()) {
    const Signature::Tensor &tensor = tensorOf(signature, name);
    size_t bytes = bytesOf(kernel.shapeOf(name, dims), tensor.dtype);
    auto &buffer = buffers.emplace_back(std::make_unique<Buffer>(device, bytes));
    auto input = std::ranges::find(inputs, name, &HostTensor::name);
    if (input != inputs.end())
      buffer->upload(input->data);
    else
      buffer->poison();
    arguments.push_back({buffer->pointer()});
  }
  Call call = kernel.prepare(dims, arguments);
  Buffer workspace(device, call.workspace_bytes());
  call.launch({}, arguments, scalarsFor(kernel, signature, scalars), workspace.pointer());
  device.synchronize();

  std::vector<HostTensor> outputs;
  size_t position = 0;
  for (const std::string &name : kernel.tensorNames()) {
    const Buffer &buffer = *buffers[position++];
    const Signature::Tensor &tensor = tensorOf(signature, name);
    if (tensor.role != Signature::Role::Input)
      outputs.push_back({name, tensor.dtype, kernel.shapeOf(name, dims), buffer.download()});
  }
  return outputs;
}

void writeOutputs(const std::string &path, const std::vector<HostTensor> &outputs) {
  std::vector<safetensors::Tensor> tensors;
  for (const HostTensor &output : outputs)
    tensors.push_back({output.name, output.dtype, output.shape, output.data});
  safetensors::write(path, tensors);
  for (const HostTensor &output : outputs)
    print(padded(output.name, 16) + padded(safetensors::dtypeName(output.dtype), 9) +
          shapeText(output.shape) + "\n");
}

std::string resultOf(const Comparison &c) {
  char text[200];
  if (c.exact)
    std::snprintf(text, sizeof(text), "largest error %.3g, %lld of %lld differ, none may",
                  c.largestError, static_cast<long long>(c.different),
                  static_cast<long long>(c.elements));
  else
    std::snprintf(text, sizeof(text),
                  "largest error %.3g, %lld of %lld differ, %lld outside their bound",
                  c.largestError, static_cast<long long>(c.different),
                  static_cast<long long>(c.elements), static_cast<long long>(c.wrong));
  return text;
}

/// Prints a line an output; gives the exit status.
int report(const std::vector<Comparison> &comparisons) {
  int status = 0;
  for (const Comparison &comparison : comparisons) {
    print("check " + padded(comparison.name, 10) + resultOf(comparison) + "\n");
    if (comparison.wrong == 0)
      continue;
    status = 1;
    std::fprintf(stderr, "eider: check failed: %s\n", comparison.firstWrong.c_str());
  }
  return status;
}

} // namespace

int carryOut(const RunRequest &request) {
  ProgramSource source = makeProgram(request.program);
  const Signature &signature = source.program.signature();
  DeviceOptions deviceOptions;
  deviceOptions.cache.enabled = request.cache;
  deviceOptions.checked = true;
  deviceOptions.seed = request.seed;
  const Device device = Device::open(request.device, deviceOptions);

  CompileOptions options = optionsFor(request.program, source.program, device.target());
  const safetensors::File file(request.input);
  const std::vector<HostTensor> inputs = readInputs(signature, file);
  const Dims dims = inferDims(signature, inputs, request.program.dims, request.input);
  options.dims.merge(staticDims(signature, dims));

  const Kernel kernel = device.load(compile(source.program, options));
  checkShapes(kernel, signature, dims, inputs, request.input);
  const auto outputs = launch(device, kernel, signature, dims, inputs, source.scalars);
  writeOutputs(request.output, outputs);
  return request.check ? report(compare(source.program, inputs, outputs, source.scalars)) : 0;
}

} // namespace eider::cli
