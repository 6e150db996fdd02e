//===- tools/eider/BenchCells.h - What a benchmark measures -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_BENCHCELLS_H
#define EIDER_TOOLS_EIDER_BENCHCELLS_H

#include "tools/eider/Requests.h"

namespace eider::cli {

/// One program at one shape.
struct BenchCell {
  ProgramRequest program; ///< With all of its dims.
  double target = 0;      ///< The most times a memcpy of the same bytes, cold; 0: none stated.
  int64_t padding = 0;    ///< Elements between the rows of matrices that are read.
};

/// `op/dtype/format/block/…/codec/tokensxhidden`, of what is given alone: what --only matches.
std::string nameOf(const BenchCell &cell);

/// The cells of a request: its ops with its params at its dims, or all that are measured for
/// bench/results/. Throws Error.
std::vector<BenchCell> cellsFor(const BenchRequest &request);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_BENCHCELLS_H
