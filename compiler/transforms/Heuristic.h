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

/// Threads of a CUDA block, whose rows are side by side or share them.
int64_t threadsOfBlock(ir::Family family, const ir::ScheduleKnobs &knobs, const Domain &domain);

/// Launches of at most as many rows may be few: they leave multiprocessors idle unless each row has
/// many threads with little to do. Products of matrices have bounds of their own (mostRowsOf).
inline constexpr int64_t fewRows = 256;

/// So many rows of a program are few: of long ones fewer.
int64_t fewRowsOf(const Domain &domain);

/// So many more are some, whose blocks run at once, or in few turns, and fill the GPU; 0 where
/// these have the schedule of many.
int64_t someRowsOf(const Domain &domain);

/// A schedule of tiles twice as tall, for a transpose whose rows begin anywhere: half as many tiles
/// share lines with the next. Null where that was not timed, or is not legal.
ir::ScheduleAttr tallerSchedule(ir::ScheduleAttr schedule, const Domain &domain);

/// From how many rows on it pays.
int64_t largeRowsOf(const Domain &domain);

/// The schedule that is taken without a tuning record, for launches of at most `mostRows` rows (0:
/// of any number); null and a message where none is legal.
ir::ScheduleAttr heuristicSchedule(mlir::MLIRContext *context, const Domain &domain,
                                   int64_t mostRows, std::string &message);

/// Few rows, each by `cluster` blocks: what counts is how soon one is done, and each multiprocessor
/// has a block or two. Many threads, each with one short chunk; two to four where a block of a
/// cluster loads columns as well, whose latency they share. Where none are loaded, data used once
/// was the faster hint, but for what makes codes of bytes in chunks: they are shorter still where
/// all are held at once.
ir::ScheduleAttr fewRowsSchedule(mlir::MLIRContext *context, const Domain &domain, int64_t cluster);

/// Some rows, of a program that has someRowsOf: as many threads as hide each other's loads, where
/// of many rows few would load ahead. Legal or not, as of heads of few elements.
ir::ScheduleAttr someRowsSchedule(mlir::MLIRContext *context, const Domain &domain);

/// Elementwise, and of groups in a row. Short text, and many loads in flight by many small blocks.
/// Arithmetic encoders want larger ones, two tiles in turn; a thread that loads column vectors has
/// two chunks, but of what is like a copy.
ir::ScheduleAttr mapSchedule(mlir::MLIRContext *context, const Domain &domain);

/// Whole rows that one block holds.
ir::ScheduleAttr rowSchedule(mlir::MLIRContext *context, const Domain &domain);

/// The first of the ways to hold aligned rows that were timed, by what is done with them and their
/// width, that is legal. Null where there is none.
ir::ScheduleAttr heldSchedule(mlir::MLIRContext *context, const Domain &domain);

/// Whether a block holds rows by rowSchedule that are so wide that blocks of a cluster would else:
/// where there are many.
bool isHeldAlone(const Domain &domain);

/// Rows that several blocks hold together. Several blocks of a multiprocessor take turns while one
/// waits for its cluster: 64 elements a thread where only the row is held or one is loaded ahead,
/// else 32. One block has those of up to 16384 columns that were faster so.
ir::ScheduleAttr wideRowSchedule(mlir::MLIRContext *context, const Domain &domain, int64_t cluster);

/// Rows of weights that meet a vector. Two rows a thread, for which it is loaded and widened once;
/// the next ones loaded ahead where rows are long and whole chunks, else many blocks at a time.
/// What is decoded by arithmetic has registers for few of both; tensor cores multiply it where they
/// can, whose pairs take less of it. A vector that is reduced first is computed once a block, of
/// many rows, whose first are loaded meanwhile. Of many rows some come through shared memory.
ir::ScheduleAttr contractSchedule(mlir::MLIRContext *context, const Domain &domain,
                                  int64_t mostRows);

/// Rows from which on each of a GPU's blocks has so many tiles that it pays to let them come so; 0:
/// never.
int64_t rowsThatCome(const Domain &domain);

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

/// The same of rows that a kernel before such a product leaves it, whatever their number: many
/// threads, for the product waits for them.
ir::ScheduleAttr forProductsSchedule(mlir::MLIRContext *context, const Domain &domain);

/// The same of a sequence's attention over itself, by warps alone, whatever else the target has;
/// and of a product of matrices.
ir::ScheduleAttr warpsOfPrefill(mlir::MLIRContext *context, const Domain &domain);
ir::ScheduleAttr warpsOfProduct(mlir::MLIRContext *context, const Domain &domain, int64_t mostRows,
                                std::string &message);

/// The first by warpgroups, of which `split` share rows, in blocks of so many threads; legal or
/// not.
ir::ScheduleAttr warpgroupsOfPrefill(mlir::MLIRContext *context, int64_t threads, int64_t split);

/// Tiles of a product of so many columns side by side, of each group that has rows: about half of
/// them, or all of such as are as large.
int64_t tilesOfProduct(const Domain &domain, int64_t columns);

/// How warpgroups share a product: the knobs of those names.
struct Warpgroups {
  int64_t threads, rows, cluster, split, resident, prefetch;
  bool f16;
};

/// A schedule by warpgroups; legal or not.
ir::ScheduleAttr warpgroupsOfProduct(mlir::MLIRContext *context, const Domain &domain,
                                     const Warpgroups &cut);

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

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Threads that a tile may have side by side: a power of two up to 32, then whole warps.
int64_t legalThreads(int64_t wanted);

/// Threads of a segment of a row of `chunks`, of which `lanes` share a scale: few, and with little
/// of the last segment empty.
int64_t segmentThreads(int64_t chunks, int64_t lanes);

/// Chunks of `vector` that cover a row, spread over at most `most` threads so that little of the
/// last load lies past the row's end: threads and loads of each.
std::pair<int64_t, int64_t> spreadRow(int64_t chunks, int64_t most);

/// Where only the row is held: no column vectors, and no second matrix is written.
bool isPlain(const Domain &domain);

/// Whether rows begin anywhere, and a whole warp can have neighbouring chunks of one: its threads
/// then store together (templates/memory/shifted.cuh).
bool isShifted(const Domain &domain);

/// Whether rows that several warps hold begin at fewer bytes than what is written has in one
/// access.
bool isMisaligned(const Domain &domain);

/// Whether rows begin at less than 16 bytes, and chunks are short: of aligned ones, or of rows that
/// no warp fills.
bool hasShortChunks(const Domain &domain);

/// Neighbouring elements that a thread moves together: 16 bytes a store, but 16 codes at most, and
/// what a group's 32 lanes need.
int64_t vectorFor(const Domain &domain);

/// The lanes that hold groups in two chunks each, half of those that would in one: half as many
/// values a thread, and both of what change places of a head as long. 0 where groups are a few
/// chunks, or their rows begin anywhere.
int64_t foldedLanes(const Domain &domain, int64_t vector);

/// A norm of heads that are turned by angles.
bool turnsNorm(const Domain &domain);

/// The same of one matrix: the angles are what many rows read again.
bool isTurnedNorm(const Domain &domain);

/// Whether several matrices meet values of columns, which have registers of their own.
bool meetsColumns(const Domain &domain);

/// The tile of a schedule; null and a message where the schedule is illegal for the program.
simt::TileAttr tileOf(ir::ScheduleAttr schedule, const Domain &domain, std::string &message);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_HEURISTIC_H
