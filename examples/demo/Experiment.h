//===- examples/demo/Experiment.h - One op, compiled and run ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EXAMPLES_DEMO_EXPERIMENT_H
#define EIDER_EXAMPLES_DEMO_EXPERIMENT_H

#include "eider/jit.h"

#include <string>
#include <vector>

namespace demo {

/// What came of one op on one device.
struct Outcome {
  eider::Kernel kernel;
  std::vector<eider::HostTensor> outputs;
  std::vector<eider::Comparison> comparisons;
  std::string text;            ///< The CUDA text of the variant that ran.
  double irMilliseconds;       ///< From program to texts.
  double compilerMilliseconds; ///< NVRTC, or the C++ compiler on `host`.
  double loadMilliseconds;     ///< Of the machine code.
};

/// Compiles a program for the device, runs it on `inputs` and compares with the reference. Throws
/// eider::Error.
Outcome runExperiment(const eider::Program &program, const eider::Device &device,
                      const eider::Dims &dims, const std::vector<eider::HostTensor> &inputs);

/// The tensor of that name. Throws eider::Error if there is none.
const eider::HostTensor &find(const std::vector<eider::HostTensor> &tensors,
                              const std::string &name);

} // namespace demo

#endif // EIDER_EXAMPLES_DEMO_EXPERIMENT_H
