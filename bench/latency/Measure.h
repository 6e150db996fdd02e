//===- bench/latency/Measure.h - What one process can measure ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_LATENCY_MEASURE_H
#define EIDER_BENCH_LATENCY_MEASURE_H

#include <cstdint>
#include <string>

namespace eider::bench {

/// What is compiled: bf16 to e4m3 with 1x128 scales.
struct Subject {
  std::string op;
  int64_t hidden;
};

/// From the DSL to a loaded kernel, in milliseconds, once in a process whose device is already
/// open.
struct Split {
  double program = 0; ///< The DSL.
  double compile = 0; ///< IR to texts, or to find them in the cache.
  double open = 0;    ///< Opening NVRTC's library; nothing if the cache has all.
  double nvrtc = 0;   ///< In NVRTC; nothing from the cache.
  double load = 0;    ///< By the driver; nothing without a GPU.
  double total = 0;
  bool fromCache = false;
};

/// `device`: `cuda:N`, or `none`: to a cubin for sm_90.
Split measureSplit(const Subject &subject, const std::string &device, const std::string &cache);

/// The cost of a launch to the calling thread, in microseconds: medians of interleaved rounds.
struct LaunchCost {
  double prepared = 0; ///< Call::launch
  double raw = 0;      ///< cuLaunchKernel of the same function with the same parameters
  double byName = 0;   ///< Kernel::launch
};

LaunchCost measureLaunch(const Subject &subject, const std::string &device,
                         const std::string &cache);

} // namespace eider::bench

#endif // EIDER_BENCH_LATENCY_MEASURE_H
