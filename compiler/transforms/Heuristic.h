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

/// Launches of at most as many rows are few: they leave multiprocessors idle unless each row has
/// many threads with little to do. Products of matrices have bounds of their own (mostRowsOf).
inline constexpr int64_t fewRows = 256;

/// The schedule that is taken without a tuning record, for launches of at most `mostRows` rows (0:
/// of any number); null and a message where none is legal.
ir::ScheduleAttr heuristicSchedule(mlir::MLIRContext *context, const Domain &domain,
                                   int64_t mostRows, std::string &message);

/// The same of two-dimensional blocks and transposes, of any number of rows.
ir::ScheduleAttr tileSchedule(mlir::MLIRContext *context, const Domain &domain,
                              std::string &message);

/// The same of attention: of queries over a cache, for launches of at most so many sequences, or of
/// a sequence over itself.
ir::ScheduleAttr attentionSchedule(mlir::MLIRContext *context, const Domain &domain,
                                   int64_t mostSequences);

/// The same of a product of matrices.
ir::ScheduleAttr productSchedule(mlir::MLIRContext *context, const Domain &domain, int64_t mostRows,
                                 std::string &message);

/// The same of a sequence's attention over itself, by warps alone, whatever else the target has;
/// and of a product of matrices.
ir::ScheduleAttr warpsOfPrefill(mlir::MLIRContext *context, const Domain &domain);
ir::ScheduleAttr warpsOfProduct(mlir::MLIRContext *context, const Domain &domain, int64_t mostRows,
                                std::string &message);

/// The first by warpgroups, of which `split` share rows, in blocks of so many threads; legal or
/// not.
ir::ScheduleAttr warpgroupsOfPrefill(mlir::MLIRContext *context, int64_t threads, int64_t split);

/// A schedule of so many rows by warpgroups, in blocks of so many threads; legal or not.
ir::ScheduleAttr warpgroupsOfProduct(mlir::MLIRContext *context, const Domain &domain, int64_t rows,
                                     int64_t threads, int64_t cluster, int64_t resident,
                                     int64_t prefetch);

/// The time of a product by warpgroups, about, in stages of its length.
double stagesOfProduct(const ir::ScheduleKnobs &knobs, const Domain &domain);

/// Elements that a thread of a cooperative kernel holds, at most: few leave room for many threads
/// and suit small matrices, many hold as much of a large one as the registers do.
inline constexpr int64_t fewHeld = 16, manyHeld = 64;

/// The schedule of one cooperative kernel, in place of one that leaves parts and one that reads
/// them: blocks of about `block` threads, each of which holds `held` elements. Null where the
/// program has no such kernel.
ir::ScheduleAttr cooperativeSchedule(mlir::MLIRContext *context, const Domain &domain, int64_t held,
                                     int64_t block = 512);

/// Threads that a tile may have side by side: a power of two up to 32, then whole warps.
int64_t legalThreads(int64_t wanted);

/// The tile of a schedule; null and a message where the schedule is illegal for the program.
simt::TileAttr tileOf(ir::ScheduleAttr schedule, const Domain &domain, std::string &message);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_HEURISTIC_H
