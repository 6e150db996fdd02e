//===- Defects.h - Kernels that a sanitizer must complain of ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_GPU_KERNELS_DEFECTS_H
#define EIDER_TESTS_GPU_KERNELS_DEFECTS_H

#include "eider/runtime.h"

#include <string>
#include <vector>

namespace eider::gpu {

/// `out-of-bounds`, `uninitialised`, `race`, `divergence`.
std::vector<std::string> defectNames();

/// Runs a small kernel with the defect: a sanitizer that is silent about it is not watching. Throws
/// Error.
void runDefect(const Device &device, const std::string &name);

} // namespace eider::gpu

#endif // EIDER_TESTS_GPU_KERNELS_DEFECTS_H
