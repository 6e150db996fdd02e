//===- LongTensor.h - Device memory that repeats itself ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_GPU_LARGE_LONGTENSOR_H
#define EIDER_TESTS_GPU_LARGE_LONGTENSOR_H

#include "eider/runtime.h"

#include <cstddef>
#include <string>
#include <vector>

namespace eider::large {

/// What lies around tensors and between their rows, and in outputs before they are written.
inline constexpr std::byte poison{0xa5};

/// How a tensor lies in memory whose extent along one axis is a number of equal units: `outer` runs
/// of `units`, each of `unitBytes` and a gap.
struct Runs {
  int64_t outer = 1, units = 1;
  size_t unitBytes = 0, gap = 0;

  size_t pitch() const { return unitBytes + gap; }
  size_t runBytes() const { return static_cast<size_t>(units) * pitch(); }
  size_t bytes() const { return static_cast<size_t>(outer) * runBytes(); }
};

/// A tensor too large for the host. All its units but the last repeat the first `period` ones, so
/// that what is wrong anywhere can be seen without a second tensor of that size.
class LongTensor {
public:
  /// All poison. Throws Error.
  LongTensor(const Device &device, Runs runs, std::vector<int64_t> strides);
  ~LongTensor() { device.free(memory); }
  LongTensor(const LongTensor &) = delete;
  LongTensor &operator=(const LongTensor &) = delete;

  TensorArg argument() const { return {begin, strides}; }
  const Runs &layout() const { return runs; }

  /// `pattern`: without gaps, `period` units and the last one, of each run.
  void repeat(const std::vector<std::byte> &pattern, int64_t period);
  void upload(const std::vector<std::byte> &data) const;
  /// These units of each run, without gaps.
  std::vector<std::byte> gather(const std::vector<int64_t> &units) const;

  /// What is wrong with the poison before and after the tensor; empty: nothing.
  std::string writtenOutside() const;
  /// That, or where the tensor does not repeat itself, or what is wrong between its rows.
  std::string deviation(int64_t period) const;

  /// Changes a byte of a unit of the last run, or of the gap after it; in the unit past the last,
  /// of the poison.
  void spoil(int64_t unit, bool inGap) const;

private:
  std::string deviationInRun(int64_t run, int64_t first, int64_t count, int64_t period,
                             const std::byte *expected) const;

  Device device;
  Runs runs;
  std::vector<int64_t> strides;
  std::byte *memory, *begin;
};

} // namespace eider::large

#endif // EIDER_TESTS_GPU_LARGE_LONGTENSOR_H
