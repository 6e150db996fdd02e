//===- tools/eider/Run.cpp - eider run ------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/store/Records.h"
#include "eider/jit.h"
#include "tools/eider/Inputs.h"
#include "tools/eider/Launch.h"
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"
#include "tools/safetensors/WholeFile.h"

#include <algorithm>
#include <cstdio>

namespace eider::cli {

namespace {

void checkShapes(const Kernel &kernel, const Signature &signature, const Dims &dims,
                 const std::vector<HostTensor> &inputs, const std::string &file) {
  for (const HostTensor &input : inputs) {
    const std::vector<int64_t> wanted = kernel.shapeOf(input.name, dims);
    if (input.shape != wanted)
      throw Error(
          ErrorKind::Request,
          "its shape is " + shapeText(input.shape) + " where " + shapeText(wanted) +
              " is wanted: [" +
              join(std::ranges::find(signature.tensors, input.name, &Signature::Tensor::name)
                       ->shape) +
              "]",
          file + ": tensor '" + input.name + "'");
  }
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
  std::vector<std::string> read = source.files;
  read.push_back(request.input);
  checkWritable(request.output, read);
  const Signature &signature = source.program.signature();
  DeviceOptions deviceOptions;
  deviceOptions.cache.enabled = request.cache;
  deviceOptions.cache.whyMiss = request.whyMiss;
  deviceOptions.checked = true;
  deviceOptions.seed = request.seed;
  const Device device = Device::open(request.device, deviceOptions);

  CompileOptions options = optionsFor(request.program, source.program, device.target());
  const safetensors::File file(request.input);
  const std::vector<HostTensor> inputs = readInputs(signature, file);
  const Dims dims = inferDims(signature, inputs, request.program.dims, request.input);
  options.dims.merge(tuning::fixedDims(signature, dims));
  checkCaches(source.program, inputs); // which launches trust

  JitOptions jitOptions;
  jitOptions.codec = options.codec;
  jitOptions.schedule = options.schedule;
  jitOptions.source = argumentsOf(request.program);
  const Kernel kernel = jit(source.program, device, options.dims, jitOptions);
  checkShapes(kernel, signature, dims, inputs, request.input);
  const auto outputs = launchOnCopies(device, kernel, signature, dims, inputs, source.scalars);
  writeOutputs(request.output, outputs);
  return request.check ? report(compare(source.program, inputs, outputs, source.scalars)) : 0;
}

} // namespace eider::cli
