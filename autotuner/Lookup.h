//===- autotuner/Lookup.h - What the records say of a program ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_LOOKUP_H
#define EIDER_AUTOTUNER_LOOKUP_H

#include "autotuner/store/Records.h"

#include <string>
#include <vector>

namespace eider::tuning {

/// The schedule for launches whose dims lie in the ranges.
struct TunedRange {
  DimsBucket ranges; ///< Of the dims that are not fixed; none: every launch.
  std::string schedule;
};

/// The best schedules of a program on a device, specialised for `fixed`, with neighbouring ranges
/// of one schedule as one. `EIDER_TUNING=off`: none. `EIDER_TUNING=table-only`: those of the file
/// EIDER_TUNING_TABLE alone, whatever the device of the same target, so that every rank chooses
/// alike. Throws Error (Request) when such a table cannot be read: other ranks may have read it.
std::vector<TunedRange> tunedRanges(const Program &program, const std::string &codec,
                                    const DeviceInfo &device, const Dims &fixed,
                                    const CacheOptions &cache);

/// `base` with each tuned executable's preferred variant before its own, for its range.
Executable merge(const Executable &base,
                 const std::vector<std::pair<TunedRange, Executable>> &tuned);

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_LOOKUP_H
