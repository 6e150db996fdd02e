//===- Space.h - The schedules worth measuring ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_SPACE_H
#define EIDER_TRANSFORMS_SPACE_H

#include "compiler/ir/Eider.h"
#include "compiler/transforms/Domain.h"

#include <string>
#include <vector>

namespace eider::transforms {

/// What the model is told of the launch. Zero: unknown, and nothing is pruned for it.
struct SpaceFacts {
  int64_t rows = 0; ///< Rows of the program's matrix.
  int64_t multiprocessors = 0;
};

/// A legal schedule, and what the model says of it.
struct ScheduleOption {
  ir::ScheduleAttr schedule;
  bool heuristic = false;
  double cost = 1;    ///< Predicted time over that of a perfect stream; only the order counts.
  std::string pruned; ///< Why it is not worth measuring; empty: it is.
};

/// Whether the GPU runs all blocks of a cooperative schedule at once, for as many rows; false where
/// rows or multiprocessors are not known.
bool holds(ir::ScheduleAttr cooperative, const Domain &domain, const SpaceFacts &facts);

/// The legal schedules of the program's family: `heuristic`, then what it takes of other numbers of
/// rows, then those worth measuring, the most promising first and unlike ones early, then the
/// pruned. The first knobs (threads … prefetch) are combined with each other, the rest is varied on
/// the most promising.
std::vector<ScheduleOption> scheduleSpace(ir::ScheduleAttr heuristic, const Domain &domain,
                                          const SpaceFacts &facts);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_SPACE_H
