//===- tools/eider/Launch.cpp - A kernel on tensors of the host -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Launch.h"

#include "tools/eider/Text.h"

#include <algorithm>

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
    scalars.emplace_back(given != values.end() ? given->second : scalar->value);
  }
  return scalars;
}

} // namespace

std::vector<HostTensor> launchOnCopies(const Device &device, const Kernel &kernel,
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

} // namespace eider::cli
