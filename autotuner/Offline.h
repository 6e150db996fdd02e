//===- autotuner/Offline.h - A program for a target elsewhere ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_OFFLINE_H
#define EIDER_AUTOTUNER_OFFLINE_H

#include "autotuner/Lookup.h"
#include "eider/compile.h"

#include <string>
#include <vector>

namespace eider {

/// A program compiled for a target that need not be at hand.
struct OfflineBuild {
  Executable executable; ///< Its entries are those of `text`.
  std::string text;      ///< The kernels of every variant, as one self-standing text.
  std::vector<tuning::TunedRange> tuned; ///< The schedules that tuning records gave.
};

/// A program for a target as one text and its contract: a function of the program and the options
/// alone. Where `EIDER_TUNING` is `on` or `table-only`, it is what jit() would load on a device of
/// the target: with the tuned schedules, too, unless `options` name one. Throws Error.
OfflineBuild buildOffline(const Program &program, const CompileOptions &options,
                          const CacheOptions &cache);

} // namespace eider

#endif // EIDER_AUTOTUNER_OFFLINE_H
