//===- bench/measure/Workload.h - Tensors to launch a kernel on -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_WORKLOAD_H
#define EIDER_BENCH_MEASURE_WORKLOAD_H

#include "bench/measure/Meter.h"
#include "eider/dsl.h"
#include "eider/runtime.h"

#include <memory>

namespace eider::bench {

/// Device memory for a program's tensors, filled with data, in as many equal sets as the meter
/// wants. Kernels of the program under any schedule can be launched on it.
class Workload {
public:
  /// `kernel`: any of the program's, for the shapes. Rows of matrices that are read, but for packed
  /// codes, have `padding` elements between them. Throws Error.
  Workload(const Device &device, const Meter &meter, const Kernel &kernel,
           const Signature &signature, const Dims &dims, int64_t padding = 0);
  ~Workload();
  Workload(const Workload &) = delete;
  Workload &operator=(const Workload &) = delete;

  /// Bytes that a launch reads and writes: inputs and outputs once, in-outs twice.
  size_t traffic() const { return read_ + written_; }
  /// What of it is read.
  size_t read() const { return read_; }

  /// A launch of `call`, which must be prepared for the same dims. It must not outlive this.
  Enqueue launchOf(const Call &call);

private:
  void *allocate(size_t bytes);

  Device device;
  std::vector<void *> memory;
  std::vector<std::vector<TensorArg>> sets;
  std::vector<std::vector<int64_t>> strides; ///< Of each tensor; none: its rows are contiguous.
  size_t read_ = 0, written_ = 0;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
};

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_WORKLOAD_H
