//===- examples/demo/Timing.h - Speed beside a memcpy -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EXAMPLES_DEMO_TIMING_H
#define EIDER_EXAMPLES_DEMO_TIMING_H

#include "eider/runtime.h"

#include <vector>

namespace demo {

/// One tensor of a timed launch; its data repeats `data`.
struct TimedTensor {
  std::vector<std::byte> data; ///< Empty: an output.
  size_t bytes;                ///< Of the whole tensor.
  bool isRead, isWritten;
};

struct Speed {
  double microseconds;       ///< Median of the launches.
  double memcpyMicroseconds; ///< Median of copies that read and write as many bytes in all.
  size_t bytes;              ///< Read and written by a launch.
};

/// Times a GPU's launches, each beside a device-to-device copy of the same bytes. `tensors` stand
/// in the kernel's order. Throws eider::Error.
Speed timeLaunches(const eider::Device &device, const eider::Kernel &kernel,
                   const eider::Dims &dims, const std::vector<TimedTensor> &tensors);

} // namespace demo

#endif // EIDER_EXAMPLES_DEMO_TIMING_H
