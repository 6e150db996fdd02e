//===- tools/eider/Launch.h - A kernel on tensors of the host ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_LAUNCH_H
#define EIDER_TOOLS_EIDER_LAUNCH_H

#include "eider/compile.h"

namespace eider::cli {

/// Runs a kernel on copies of `inputs` in the device's memory and gives its outputs, in-outs among
/// them, in the kernel's order. Outputs are poisoned before. `scalars`: those that are not to have
/// their defaults. Throws Error.
std::vector<HostTensor> launchOnCopies(const Device &device, const Kernel &kernel,
                                       const Signature &signature, const Dims &dims,
                                       const std::vector<HostTensor> &inputs,
                                       const std::map<std::string, double> &scalars);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_LAUNCH_H
