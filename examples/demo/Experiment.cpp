//===- examples/demo/Experiment.cpp - One op, compiled and run ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "examples/demo/Experiment.h"

#include "tools/eider/Launch.h"

#include <algorithm>

using namespace eider;

namespace demo {

Outcome runExperiment(const Program &program, const Device &device, const Dims &dims,
                      const std::vector<HostTensor> &inputs) {
  CompileReport report;
  JitOptions options;
  options.report = &report;
  Kernel kernel = jit(program, device, {{"hidden", dims.at("hidden")}}, options);
  Outcome outcome{kernel, {}, {}, "", report.milliseconds, 0, 0};
  outcome.outputs = cli::launchOnCopies(device, kernel, program.signature(), dims, inputs, {});
  for (const VariantReport &variant : kernel.variants())
    if (variant.loaded) {
      outcome.text = variant.source;
      outcome.compilerMilliseconds += variant.compileMilliseconds;
      outcome.loadMilliseconds += variant.loadMilliseconds;
    }
  outcome.comparisons = compare(program, inputs, outcome.outputs);
  return outcome;
}

const HostTensor &find(const std::vector<HostTensor> &tensors, const std::string &name) {
  auto found = std::ranges::find(tensors, name, &HostTensor::name);
  if (found == tensors.end())
    throw Error(ErrorKind::Request, "no tensor '" + name + "'");
  return *found;
}

} // namespace demo
