//===- ScheduleKnobs.h - What a schedule can choose -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_IR_SCHEDULEKNOBS_H
#define EIDER_IR_SCHEDULEKNOBS_H

#include "llvm/ADT/Hashing.h"

#include <cstdint>

namespace eider::ir {

/// The knobs of a schedule. What each family makes of them, and which values a program takes, is
/// `tileOf`'s (compiler/transforms/Heuristic.h).
struct ScheduleKnobs {
  int64_t threads = 0; ///< of a row (row), of a segment of one (map), of a block (tile)
  int64_t vector = 0;  ///< neighbouring elements that a thread moves together
  int64_t rows = 1;    ///< that a CUDA block works on at once
  int64_t loads = 0;   ///< chunks of `vector` a thread (map); 0: what a row needs; steps (contract)
  int64_t lanes = 0;   ///< neighbouring threads that hold neighbouring chunks, before a thread's
                       ///< next chunk comes (map, row); 0: all of a row
  int64_t columns = 0; ///< of a two-dimensional block (tile, contract)
  int64_t split = 1;   ///< warps that share a sum, each its part of the products, or by warpgroups
                       ///< blocks and clusters, through memory (contract); warps that share tokens
                       ///< or rows, each its part of the columns (attention)
  int64_t tiles = 1;   ///< that a CUDA block takes in turn
  int64_t blocks = 0;  ///< of a persistent grid, which takes all tiles in turn; 0: no bound; about
                       ///< so many that sequences are cut for (attention)
  int64_t resident = 0; ///< blocks that a multiprocessor should hold: bounds registers; 0: no bound
  int64_t prefetch = 0; ///< tiles whose elements are loaded while the one before is worked on; from
                        ///< 2 on, of codes that mma multiplies, pairs of rows in shared memory; of
                        ///< products, stages on their way; of attention, steps (of a sequence over
                        ///< itself, 1: the next tokens)
  int64_t cluster = 1; ///< CUDA blocks that hold a row together, `threads` in each (row), or have a
                       ///< part each of the length of a product by warpgroups (contract)
  int64_t cooperative = 0; ///< 1: one kernel, all of whose blocks run at once and meet (map, row)
  int64_t combine = 0;   ///< 1: the block that comes last combines what all leave, of a sequence's
                         ///< heads (attention) or of what is only given of the whole matrix: no
                         ///< kernel of its own does, after it or before
  int64_t hoist = 0;     ///< 1: column vectors (a norm's weight) stay in registers over all tiles
  int64_t streaming = 0; ///< 1: elements pass the caches as data used once
  int64_t bulk = 0; ///< 1: warps store through shared memory, in bulk (map, row; from sm_90 on)
  int64_t warpgroups =
      0;             ///< 1: four warps multiply together, 64 rows (attention, contract; sm_90a)
  int64_t mma = 0;   ///< 1: tensor cores multiply a row of codes and a vector (row)
  int64_t codes = 0; ///< 1: queries meet keys as codes, by warps (attention; from sm_89 on)
  int64_t f16 = 0; ///< 1: rows of bf16 that meet codes by warpgroups become f16 in a kernel before
                   ///< (contract)
  int64_t software = 0; ///< 1: FP8 by arithmetic, even where there are instructions; same bits

  bool operator==(const ScheduleKnobs &) const = default;
};

/// A knob by its name, in the order in which they are written.
struct ScheduleKnob {
  const char *name;
  int64_t ScheduleKnobs::*value;
};
inline constexpr ScheduleKnob scheduleKnobs[] = {{"threads", &ScheduleKnobs::threads},
                                                 {"vector", &ScheduleKnobs::vector},
                                                 {"rows", &ScheduleKnobs::rows},
                                                 {"loads", &ScheduleKnobs::loads},
                                                 {"lanes", &ScheduleKnobs::lanes},
                                                 {"columns", &ScheduleKnobs::columns},
                                                 {"split", &ScheduleKnobs::split},
                                                 {"tiles", &ScheduleKnobs::tiles},
                                                 {"blocks", &ScheduleKnobs::blocks},
                                                 {"resident", &ScheduleKnobs::resident},
                                                 {"prefetch", &ScheduleKnobs::prefetch},
                                                 {"cluster", &ScheduleKnobs::cluster},
                                                 {"cooperative", &ScheduleKnobs::cooperative},
                                                 {"combine", &ScheduleKnobs::combine},
                                                 {"hoist", &ScheduleKnobs::hoist},
                                                 {"streaming", &ScheduleKnobs::streaming},
                                                 {"bulk", &ScheduleKnobs::bulk},
                                                 {"warpgroups", &ScheduleKnobs::warpgroups},
                                                 {"mma", &ScheduleKnobs::mma},
                                                 {"codes", &ScheduleKnobs::codes},
                                                 {"f16", &ScheduleKnobs::f16},
                                                 {"software", &ScheduleKnobs::software}};

inline llvm::hash_code hash_value(const ScheduleKnobs &knobs) {
  llvm::hash_code code = 0;
  for (const ScheduleKnob &knob : scheduleKnobs)
    code = llvm::hash_combine(code, knobs.*knob.value);
  return code;
}

} // namespace eider::ir

#endif // EIDER_IR_SCHEDULEKNOBS_H
