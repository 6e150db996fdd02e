//===- tools/eider/CopyKernel.h - The best copy of a proportion -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_COPYKERNEL_H
#define EIDER_TOOLS_EIDER_COPYKERNEL_H

#include "bench/measure/Workload.h"

#include <map>
#include <string>

namespace eider::cli {

/// How many streams of one size a kernel reads and writes.
struct Proportion {
  int read, written;
  auto operator<=>(const Proportion &) const = default;
  std::string text() const { return std::to_string(read) + ":" + std::to_string(written); }
};

/// The simplest proportion within 5 % of that of the bytes, or the nearest.
Proportion proportionOf(size_t read, size_t written);

/// Kernels of ours that do nothing but read and write, or read and add up: what a kernel can reach
/// whose bytes are not half read and half written, as a memcpy's are.
class CopyKernels {
public:
  CopyKernels(const Device &device, const bench::Meter &meter) : device(device), meter(meter) {}

  /// How many times a memcpy of as many bytes the best of them takes, cold; measured once for each
  /// proportion and number of bytes, within 6 %. Throws Error.
  double timesMemcpy(Proportion proportion, size_t bytes);

private:
  double measure(Proportion proportion, size_t bytes) const;

  Device device;
  const bench::Meter &meter;
  std::map<std::pair<Proportion, size_t>, double> known;
};

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_COPYKERNEL_H
