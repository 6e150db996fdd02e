//===- Heuristic.h - A good schedule at once --------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_HEURISTIC_H
#define EIDER_TRANSFORMS_HEURISTIC_H

#include "compiler/ir/Simt.h"
#include "compiler/transforms/Domain.h"

#include <string>

namespace eider::transforms {

/// The family that a program needs, and why, in words.
struct FamilyChoice {
  ir::Family family;
  std::string reason;
};
FamilyChoice familyOf(const Domain &domain);

/// The schedule that is taken without a tuning record; null and a message where none is legal.
ir::ScheduleAttr heuristicSchedule(mlir::MLIRContext *context, const Domain &domain,
                                   std::string &message);

/// The tile of a schedule; null and a message where the schedule is illegal for the program.
simt::TileAttr tileOf(ir::ScheduleAttr schedule, const Domain &domain, std::string &message);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_HEURISTIC_H
