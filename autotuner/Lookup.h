//===- autotuner/Lookup.h - What the records say of a program ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_LOOKUP_H
#define EIDER_AUTOTUNER_LOOKUP_H

#include "autotuner/store/Records.h"
#include "eider/compile.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace eider::tuning {

/// The schedule for launches whose dims lie in the ranges.
struct TunedRange {
  DimsBucket ranges; ///< Of the dims that are not fixed; none: every launch.
  std::string schedule;
};

/// The records of a program (digestOf()) for a target, else of `sm_90a` those for `sm_90`, of all
/// devices in the order of their identities; best first in each cell. `EIDER_TUNING=off`: none.
/// `EIDER_TUNING=table-only`: those of EIDER_TUNING_TABLE, a file of `eider cache export`, alone.
/// Throws Error (Request) when such a table cannot be read: other ranks may have read it.
std::vector<Record> recordsOf(const std::string &digest, const std::string &target,
                              const CacheOptions &cache);

/// The best schedules of a program on a device, specialised as `options` say, with neighbouring
/// ranges of one schedule as one. `device`: identityOf() it; empty, or with a pinned table: of all
/// devices of the target, the first that has a record of a range, so that every rank chooses
/// alike. Throws as recordsOf() does.
std::vector<TunedRange> tunedRanges(const Program &program, const CompileOptions &options,
                                    const std::string &device, const CacheOptions &cache);

using TunedExecutable = std::pair<TunedRange, Executable>;

/// The executables of tunedRanges(), by `compileOne`; none if `options` name a schedule. What this
/// compiler does not take (the record is another version's) is left out, with a warning. Throws
/// Error.
std::vector<TunedExecutable>
tunedExecutables(const Program &program, const CompileOptions &options, const std::string &device,
                 const CacheOptions &cache,
                 const std::function<Executable(const CompileOptions &)> &compileOne);

/// `base` with each tuned executable's preferred variant before its own, for its range.
Executable merge(const Executable &base, const std::vector<TunedExecutable> &tuned);

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_LOOKUP_H
