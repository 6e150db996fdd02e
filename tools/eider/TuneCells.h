//===- tools/eider/TuneCells.h - What a sweep measures ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_TUNECELLS_H
#define EIDER_TOOLS_EIDER_TUNECELLS_H

#include "tools/eider/Requests.h"

namespace eider::cli {

/// One program at one shape.
struct TuneCell {
  ProgramRequest request; ///< With all of its dims.
  Program program;
  std::string name; ///< `quantize/bf16/e4m3/1x128/auto 16384x8192`
};

/// Ops × dtypes × formats × blocks × … × shapes, of which `request.shard` takes its part. A
/// parameter that an op does not have is not varied for it. Throws Error.
std::vector<TuneCell> cellsFor(const TuneRequest &request);

/// Shard I of N: what the request says, else what a scheduler's rank variables say (SLURM, Open
/// MPI, PMI), else all of it. Throws Error.
struct Shard {
  int64_t index = 0; ///< from 0
  int64_t count = 1;
};
Shard shardFor(const TuneRequest &request);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_TUNECELLS_H
