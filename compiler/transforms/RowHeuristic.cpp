//===- RowHeuristic.cpp - Rows that are held whole, at once --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>
#include <tuple>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// Where a row that is loaded ahead hides what is done with the one before, and registers have
/// room for it: one narrow matrix, in rows that a few warps hold evenly, two or four chunks a
/// thread. Null elsewhere.
static ScheduleAttr aheadSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                  int64_t chunks) {
  const bool hasWork = domain.readsColumns || domain.encodesBySoftware;
  if (!hasWork || domain.bitsRead != 16 || domain.matricesWritten > 1 || domain.draws ||
      isShifted(domain) || vector != 16 || chunks * vector != domain.width ||
      !llvm::isPowerOf2_64(chunks) || chunks < 64 || chunks > 1024)
    return {};
  const int64_t threads = std::max<int64_t>(32, chunks / 4);
  const int64_t resident = (chunks / threads == 4 ? 512 : 768) / threads;
  // After one sum memory bounds what instructions encode.
  const bool isBound = domain.rowSums > 1 || domain.encodesBySoftware;
  return ScheduleAttr::get(context, Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .lanes = isBound ? foldedLanes(domain, vector) : 0,
                            .tiles = 4,
                            .resident = resident,
                            .prefetch = 1});
}

/// Rows that become codes by random bits, whose arithmetic bounds them: two chunks a thread, of one
/// scale where lanes can be folded, and nearly as many threads as have their registers. Short rows,
/// of which whole blocks of fewer fit, have room for the next row, too; so have those of 5120
/// columns that are reduced twice, and wide ones by four chunks a thread. Null elsewhere.
static ScheduleAttr drawnSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                  int64_t chunks) {
  constexpr int64_t held = 784, wide = 512, few = 128, some = 160; // threads, chunks, threads
  if (!domain.draws || domain.narrowestStore > 8 || domain.bitsRead != 16 ||
      domain.matricesRead != 1 || domain.matricesWritten != 1 || isShifted(domain))
    return {};
  const bool isLong = chunks == wide;
  const int64_t threads = isLong ? few : chunks / 2;
  if (threads < 64 || threads > wide || threads % 32 != 0 || chunks % threads != 0 ||
      chunks * vector != domain.width)
    return {};
  const bool isAhead = threads == few || (domain.rowReductions > 1 && threads == some);
  int64_t resident = isLong ? 3 : isAhead ? 4 : (held + threads / 2) / threads;
  if (domain.packs && threads > few) // codes of four bits want some more registers
    resident = std::min<int64_t>(resident, 4);
  return ScheduleAttr::get(context, Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .lanes = foldedLanes(domain, vector),
                            .tiles = 4,
                            .resident = resident,
                            .prefetch = isAhead});
}

/// Rows that are so wide that few of them are held at once, and are reduced twice (a mean and a
/// variance, a maximum and a sum): small blocks, two rows in turn, whose reductions wait for few
/// warps; two matrices, those without column vectors, and 16-bit values that are stored as such,
/// reduced once as well, are loaded ahead instead. Null elsewhere, and where random bits need the
/// registers.
static ScheduleAttr fewHeldSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                    int64_t chunks) {
  const int64_t width = chunks * vector;
  constexpr int64_t each = 64, lanes = 32; // elements a thread, threads a warp
  const bool isAsRead = domain.narrowestStore > 8 && domain.readsColumns && domain.bitsRead == 16 &&
                        domain.matricesRead == 1;
  if (domain.rowReductions < (isAsRead && domain.matricesWritten == 1 ? 1 : 2) ||
      isShifted(domain) || domain.bitsRead > 16 * domain.matricesRead || domain.draws ||
      width != domain.width || width <= 4096 || width > 8192 || width % (each * lanes) != 0 ||
      (domain.narrowestStore > 8 && (!domain.readsColumns || domain.matricesRead > 1)))
    return {};
  if (!domain.readsColumns && !llvm::isPowerOf2_64(width))
    return {}; // bounded registers spill
  ScheduleKnobs knobs{.threads = width / each, .vector = vector, .tiles = 2};
  if (domain.matricesRead > 1)
    knobs.threads = width / 16, knobs.resident = 1024 / knobs.threads, knobs.prefetch = 1;
  else if (isAsRead)
    knobs.threads = width / 32, knobs.resident = 768 / knobs.threads, knobs.prefetch = 1;
  else
    knobs.resident = 512 / knobs.threads;
  if (!domain.readsColumns)
    knobs.lanes = domain.matricesRead > 1 ? 0 : foldedLanes(domain, vector), knobs.tiles = 4,
    knobs.prefetch = 1;
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// Rows of codes that come two by two to blocks that stay: chunks of 16 that warps hold evenly, two
/// or four a thread. What the hardware converts is as fast loaded otherwise, but for some of whole
/// rows with a scale, on tensor cores. Nothing elsewhere.
static std::optional<ScheduleKnobs> comingKnobs(const Domain &domain) {
  constexpr int64_t vector = 16, isLong = 512, warp = 32; // chunks, threads
  const int64_t chunks = domain.width / vector, loads = chunks > isLong ? 4 : 2,
                threads = chunks / loads;
  if (!domain.comesAhead || !domain.stacksRows || domain.packs || domain.reducesColumns ||
      !domain.mayMeetPairs(vector) || !domain.rowAligned() || chunks * vector != domain.width ||
      threads * loads != chunks || threads % warp != 0 || threads < 128 || threads > 256)
    return {};
  const bool isPower = llvm::isPowerOf2_64(threads), isWhole = domain.group == 0;
  if (!domain.decodesBySoftware && (!isWhole || !isPower || loads > 2))
    return {};
  ScheduleKnobs knobs{.threads = threads,
                      .vector = vector,
                      .rows = loads == 4 && !isWhole && !isPower && threads > 192 ? 2 : 4,
                      .resident = (loads == 4 || threads == 128 ? 512 : 768) / threads,
                      .prefetch = 3,
                      .hoist = 1,
                      .mma = 1};
  // Of a multiprocessor's shared memory each block has 1 KiB more than its own, and one can have
  // all but that.
  const auto places = [&] {
    return (domain.sharedOfBlock + 1024) / (domain.sharedOfAhead(knobs) + 1024);
  };
  if (places() < knobs.resident)
    knobs.prefetch = 2;
  knobs.resident = std::min(knobs.resident, places());
  return knobs.resident > 1 ? std::optional(knobs) : std::nullopt;
}

int64_t eider::transforms::rowsThatCome(const Domain &domain) {
  constexpr int64_t busy = 128; // multiprocessors
  const std::optional<ScheduleKnobs> knobs = comingKnobs(domain);
  if (!knobs)
    return 0;
  const int64_t atOnce = busy * knobs->resident * knobs->rows;
  return !domain.decodesBySoftware ? 4 * atOnce : domain.group == 0 ? atOnce * 4 / 3 : 3 * atOnce;
}

ScheduleAttr eider::transforms::contractSchedule(MLIRContext *context, const Domain &domain,
                                                 int64_t mostRows) {
  if (auto coming = comingKnobs(domain);
      coming && (mostRows == 0 || mostRows >= rowsThatCome(domain)))
    return ScheduleAttr::get(context, Family::row, *coming);
  constexpr int64_t isLong = 512; // chunks
  constexpr int64_t held = 1024, heldOfLong = 896, heldOfSoftware = 512,
                    heldOfFolded = 768; // threads
  // Codes of 16 bytes that meet their scales beforehand: two chunks of each of two rows are what a
  // thread holds; the vector that is laid out for them stays.
  constexpr int64_t ofFolded = 32;
  const bool folds = domain.foldsPairs && domain.mayMeetPairs(ofFolded);
  const int64_t vector = folds ? ofFolded : vectorFor(domain);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  const int64_t lanes = legalThreads(std::max<int64_t>(1, domain.group / vector));
  const int64_t loads = chunks > isLong && !folds ? 4 : 2;
  ScheduleKnobs knobs{.threads = std::clamp<int64_t>(legalThreads(ceilDiv(chunks, loads)),
                                                     std::max<int64_t>(lanes, 32), 1024),
                      .vector = vector,
                      .mma = domain.prefersPairs(vector)};
  const bool isFew = ceilDiv(chunks, knobs.threads) <= (folds ? 2 : 4); // chunks a thread
  if (domain.stacksRows && isFew)
    knobs.rows = 2;
  if ((domain.decodesBySoftware || folds) && isFew) {
    knobs.tiles = 4;
    knobs.hoist = folds;
    // The nearest: a block alone leaves a multiprocessor half empty.
    const int64_t wanted = folds ? heldOfFolded : heldOfSoftware;
    knobs.resident = std::clamp<int64_t>((wanted + knobs.threads / 2) / knobs.threads, 1, 16);
  }
  if (domain.reducesColumns)
    knobs.hoist = 1;
  if (domain.decodesBySoftware || folds || !isFew)
    return ScheduleAttr::get(context, Family::row, knobs);
  if (domain.reducesColumns) {
    knobs.tiles = domain.stacksRows ? 8 : 4;
    knobs.prefetch = 1;
  } else if (chunks > isLong && llvm::isPowerOf2_64(chunks)) {
    knobs.tiles = 4;
    knobs.prefetch = 1;
  } else if (chunks > isLong) {
    knobs.rows = 1;
    // Without scales of groups, and of so few blocks, there are registers to load ahead.
    if (domain.group == 0 || 2 * knobs.threads >= heldOfLong) {
      knobs.tiles = 8;
      knobs.prefetch = 1;
    } else {
      knobs.resident = std::clamp<int64_t>(heldOfLong / knobs.threads, 1, 16);
    }
  } else {
    knobs.resident = std::clamp<int64_t>(held / knobs.threads, 1, 16);
  }
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// Rows that whole warps hold evenly, but no power of two of them: of one matrix of 16-bit values,
/// with column vectors, or reduced twice before codes are made. As many blocks a multiprocessor as
/// its registers hold, or little more, of 73 to 79 a thread where codes are made after a mean and a
/// variance and the next row is loaded ahead, 68 after a sum, 48 where values are stored as they
/// were read. Null elsewhere.
static ScheduleAttr betweenSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                    int64_t chunks) {
  constexpr int64_t warp = 32, loads = 2;
  const bool makesCodes = domain.narrowestStore <= 8, isTwice = domain.rowSums > 1;
  if (isShifted(domain) || domain.matricesRead > 1 || domain.bitsRead != 16 ||
      domain.encodesBySoftware || chunks * vector != domain.width || chunks % (loads * warp) != 0 ||
      llvm::isPowerOf2_64(chunks))
    return {};
  constexpr int64_t most = 224, mostOfTwice = 448, ofTwice = 832, held = 960; // threads
  ScheduleKnobs knobs{.threads = chunks / loads, .vector = vector};
  const int64_t lanes = foldedLanes(domain, vector);
  const bool isFolded = lanes && makesCodes && domain.matricesWritten == 1 &&
                        knobs.threads <= (isTwice ? mostOfTwice : most);
  if (isPlain(domain) && (!isFolded || domain.rowReductions < 2 || knobs.threads < 128))
    return {};
  if (isFolded) {
    knobs.lanes = lanes;
    knobs.prefetch = domain.rowReductions > 1;
    knobs.tiles = knobs.prefetch ? 4 : 3;
    knobs.resident = (isTwice && knobs.threads < most ? ofTwice : held) / knobs.threads;
  } else if (makesCodes && knobs.threads < 128) // Two chunks a thread: fewer warps meet.
    knobs.tiles = 3, knobs.resident = 768 / knobs.threads;
  else if (makesCodes && isTwice && knobs.threads <= 192) // Registers for the next row.
    knobs.tiles = 4, knobs.resident = 768 / knobs.threads, knobs.prefetch = 1;
  else if (!makesCodes && isTwice && knobs.threads > 256 && knobs.threads < 512)
    knobs.tiles = 2, knobs.resident = 1344 / knobs.threads;
  else
    return {};
  return ScheduleAttr::get(context, Family::row, knobs);
}

namespace {
/// A way to cut an uneven row whose next is loaded ahead: `most` threads of a block, `held` of all
/// resident ones.
struct Cut {
  int64_t vector, loads, most, held;
};
} // namespace

/// Rows of 16-bit values that become codes, and whose chunks of 16 are no even number of warps'.
/// What is done after two sums, or by much arithmetic after one, hides the next row's way, by the
/// cut that leaves the fewest lanes past the row's end; so it does in blocks of more than 384
/// threads. Others have few warps with much each, of two matrices up to 56 elements a thread. Null
/// elsewhere.
static ScheduleAttr unevenSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t copied = 16, pairOfWarps = 64, shortest = 2048, wide = 8192, widest = 16384;
  constexpr Cut ofTwice[] = {{16, 2, 448, 768}, {8, 3, 448, 896}, {8, 2, 448, 1120}},
                ofMuch[] = {{16, 3, 256, 512}, {16, 2, 384, 768}, {16, 1, 256, 1120}};
  if (domain.width <= shortest || domain.width > widest || domain.width % copied != 0 ||
      domain.width / copied % pairOfWarps == 0 || isShifted(domain) || domain.narrowestStore > 8 ||
      domain.combinesParts() || domain.usesPositions || domain.group > 256 ||
      domain.bitsRead != 16 * domain.matricesRead || domain.matricesWritten != domain.matricesRead)
    return {};
  auto threadsOf = [&](int64_t vector, int64_t loads) {
    return legalThreads(ceilDiv(domain.width, vector * loads));
  };
  auto covered = [&](int64_t vector, int64_t loads) {
    return threadsOf(vector, loads) * vector * loads;
  };
  auto schedule = [&](ScheduleKnobs knobs) {
    return ScheduleAttr::get(context, Family::row, knobs);
  };
  auto ahead = [&](ArrayRef<Cut> cuts, int64_t mostCovered) -> ScheduleAttr {
    const Cut *best = nullptr;
    for (const Cut &cut : cuts)
      if (threadsOf(cut.vector, cut.loads) <= cut.most &&
          covered(cut.vector, cut.loads) <=
              (best ? covered(best->vector, best->loads) - 1 : mostCovered))
        best = &cut;
    if (!best)
      return {};
    const int64_t threads = threadsOf(best->vector, best->loads);
    return schedule({.threads = threads,
                     .vector = best->vector,
                     .tiles = 4,
                     .resident = std::max<int64_t>(2, best->held / threads),
                     .prefetch = 1});
  };
  const bool isMuch = !domain.draws && (domain.encodesBySoftware || domain.packs);
  if (domain.matricesRead == 2 && domain.readsColumns && domain.rowReductions == 1 &&
      domain.width > wide / 2 && !isMuch && !domain.draws)
    return schedule({.threads = threadsOf(8, 7), .vector = 8});
  if (domain.matricesRead > 1 || (isPlain(domain) && domain.rowReductions < 2) ||
      (domain.packs && domain.draws))
    return {};
  if (domain.rowSums > 1)
    return isMuch || domain.draws ? ScheduleAttr() : ahead(ofTwice, domain.width * 15 / 14);
  if (isMuch)
    return isPlain(domain) || domain.width < 2816 ? ScheduleAttr()
                                                  : ahead(ofMuch, domain.width * 8 / 7);
  const int64_t half = threadsOf(copied, 2);
  if (domain.width > wide && domain.draws)
    return {};
  if (domain.width > wide && half > 384)
    return schedule({.threads = half, .vector = copied, .tiles = 2, .resident = 2, .prefetch = 1});
  if (domain.width > wide && isPlain(domain))
    return schedule({.threads = half, .vector = copied});
  const int64_t loads = covered(copied, 3) <= covered(copied, 2) ? 3 : 2;
  const int64_t threads = threadsOf(copied, loads);
  const bool isHalved = covered(copied, 2) * 10 <= domain.width * 11; // well enough, by others
  // What random bits ask hides the way of more lanes that are past the end.
  const int64_t mostCovered = domain.draws ? domain.width * 6 / 5 : domain.width * 8 / 7;
  if (domain.width > wide || isPlain(domain) || isHalved || covered(copied, loads) > mostCovered)
    return {};
  if (domain.draws && loads == 3)
    return ahead({{copied, loads, threads, 512}}, mostCovered);
  return schedule({.threads = threads, .vector = copied, .tiles = 3});
}

/// Codes of one matrix that is f32, or is written beside them as it is, after one sum: more
/// registers than those of bytes alone, for which bounds are chosen.
static bool isHeavy(const Domain &domain) {
  const bool copies = domain.matricesWritten > 1 && domain.rowSums < 2;
  return !isPlain(domain) && domain.narrowestStore <= 8 && domain.matricesRead == 1 &&
         (domain.bitsRead > 16 || copies);
}

/// Neighbouring elements of a whole row that a thread moves together: of f32, of long rows with a
/// copy, and where a third matrix is written beside codes, those of one access; of what is shifted,
/// as many as windows of 16 bytes are little for.
static int64_t vectorOfRow(const Domain &domain) {
  constexpr int64_t longest = 7168; // with a copy, of chunks of 16
  int64_t wanted = 0;
  if (domain.matricesWritten > 2 && domain.narrowestStore <= 8 && !isPlain(domain))
    wanted = 8;
  else if (isHeavy(domain) && (domain.bitsRead > 16 || domain.width > longest))
    wanted = 8;
  else if (!isPlain(domain) && domain.narrowestStore == 16 && isShifted(domain))
    wanted = 16;
  return wanted ? std::max<int64_t>(domain.group / 32, wanted) : vectorFor(domain);
}

/// Norms of groups whose rows begin at 8 elements, a little over 4096 of them, and that the GPU
/// makes codes of a byte of: after one sum two chunks a thread of one scale, with the next row
/// ahead, after two by three with fewer rows in turn. Null elsewhere: 4104 was timed, and these
/// have its threads.
static ScheduleAttr alignedNorm(MLIRContext *context, const Domain &domain) {
  constexpr int64_t vector = 8, shortest = 4096, longest = 4608; // columns
  constexpr int64_t fewest = 8, warp = 32, held = 1152;          // chunks of a group, threads
  if (domain.alignedElements < vector || !domain.readsColumns || domain.narrowestStore != 8 ||
      domain.encodesBySoftware || domain.scalesByPowers || domain.combinesParts() ||
      domain.group < fewest * vector || domain.group > warp * vector || domain.rowSums == 0 ||
      domain.width <= shortest || domain.width > longest)
    return {};
  const bool isTwice = domain.rowSums > 1;
  const int64_t threads = legalThreads(ceilDiv(domain.width, vector * (isTwice ? 3 : 2)));
  return ScheduleAttr::get(context, Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .lanes = isTwice ? 0 : domain.group / vector / 2,
                            .tiles = isTwice ? 2 : 4,
                            .resident = held / threads,
                            .prefetch = !isTwice});
}

/// Rows that begin anywhere, of one matrix of 16-bit values that becomes one other: long chunks,
/// for each has a piece around it and each warp two ends, and as many warps as their registers
/// leave; chunks of 8 where those are aligned, five of long rows that are only held and are reduced
/// twice, and half as long ones where two lanes of seven would be past a row's end. Null elsewhere.
static ScheduleAttr shiftedSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t most = 576, copied = 16, held = 32, mostHeld = 64; // threads, elements
  constexpr int64_t ofThree = 6144, fewest = 64, longest = 256;        // columns, of a group
  if (!isMisaligned(domain) || domain.matricesRead > 1 || domain.matricesWritten > 1 ||
      domain.bitsRead != 16 || domain.draws)
    return {};
  if (ScheduleAttr aligned = alignedNorm(context, domain))
    return aligned;
  const bool isTwice = domain.rowSums > 1, isOnlyHeld = isPlain(domain);
  const bool ofGroups = domain.group >= fewest && domain.group <= longest;
  const bool isAligned = domain.alignedElements >= 8 &&
                         (!isOnlyHeld || (domain.narrowestStore == 8 && !domain.encodesBySoftware &&
                                          (ofGroups || domain.group == 0)));
  const bool isLong = isAligned && isOnlyHeld && domain.rowReductions > 1 && domain.width > ofThree;
  const int64_t wanted = isAligned                                ? 8
                         : domain.narrowestStore <= 8 && !isTwice ? 2 * copied
                                                                  : copied;
  const int64_t shortest = std::max<int64_t>(domain.group / 32, 8);
  int64_t vector = std::max(shortest, wanted), threads = 0, loads = 0;
  for (;; vector /= 2) {
    const int64_t chunks = ceilDiv(domain.width, vector);
    const int64_t each = isLong ? 5 : std::clamp<int64_t>(held / vector, 1, 3); // of a thread
    std::tie(threads, loads) = spreadRow(chunks, std::min(ceilDiv(chunks, each), most));
    if (threads * loads * vector * 5 <= domain.width * 7 || vector <= shortest)
      break;
  }
  if (loads * vector > mostHeld)
    return {};
  const bool isMuch = domain.encodesBySoftware || domain.shiftsColumns || (isTwice && !isAligned);
  const bool isMore = isTwice && domain.narrowestStore > 8 && loads * vector > held;
  const int64_t together = (isMore   ? 768
                            : isMuch ? 896
                                     : 1152) *
                           held / std::max(held, loads * vector);
  return ScheduleAttr::get(context, Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .tiles = 3,
                            .resident = std::max<int64_t>(1, together / threads)});
}

ScheduleAttr eider::transforms::rowSchedule(MLIRContext *context, const Domain &domain) {
  const int64_t vector = vectorOfRow(domain);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  if (ScheduleAttr held = heldSchedule(context, domain))
    return held;
  if (ScheduleAttr shifted = shiftedSchedule(context, domain))
    return shifted;
  if (ScheduleAttr drawn = drawnSchedule(context, domain, vector, chunks))
    return drawn;
  if (ScheduleAttr ahead = aheadSchedule(context, domain, vector, chunks))
    return ahead;
  if (ScheduleAttr uneven = unevenSchedule(context, domain))
    return uneven;
  if (ScheduleAttr between = betweenSchedule(context, domain, vector, chunks))
    return between;
  if (ScheduleAttr few = fewHeldSchedule(context, domain, vector, chunks))
    return few;
  const bool isWide = domain.width > 8192;
  const int64_t half = hasShortChunks(domain) ? 16384 : 8192;
  int64_t most = domain.width > 32768 ? 1024 : domain.width > half ? 512 : 256;
  // Where only the row is held, a thread has room for 32 of its elements or 64, and small blocks
  // for several rows in turn.
  const bool plain = isPlain(domain);
  const bool isCut = isShifted(domain) && domain.width % vector != 0; // most have a third chunk
  if (plain)
    most = std::clamp<int64_t>(chunks * vector / (isCut ? 36 : isWide ? 64 : 32), 64, most);
  constexpr int64_t shiftedThreads = 544; // two such blocks hold rows of a little over 8192
  if (!plain && domain.matricesRead > 1 && isShifted(domain) && chunks <= shiftedThreads)
    most = shiftedThreads;
  // Two matrices and a wide store, reduced once: one chunk a thread. Beside codes only of rows that
  // few threads hold or a power of two: by blocks of 448 it was slower.
  const bool areFew = domain.rowAligned() && domain.matricesWritten > 0 &&
                      !domain.combinesParts() && !domain.encodesBySoftware &&
                      (chunks <= 320 || llvm::isPowerOf2_64(chunks));
  if (!plain && domain.matricesRead > 1 && domain.width > 4096 &&
      (domain.narrowestStore > 8
           ? domain.rowReductions == 1
           : domain.matricesWritten > 2 || (domain.rowReductions == 1 && areFew)))
    most = std::max<int64_t>(most, 512);
  if (isHeavy(domain) && vector == 16) // two chunks a thread
    most = std::min(most, std::max<int64_t>(64, ceilDiv(chunks, 2)));
  auto [threads, loads] = spreadRow(chunks, most);
  // Codes of one chunk a thread by so many warps as half of them hold in two.
  const bool areHalved = !plain && domain.matricesRead == 1 && domain.narrowestStore <= 8 &&
                         domain.rowAligned() && loads == 1 && threads > 128 && threads % 64 == 0;
  if (areHalved)
    threads /= 2, loads = 2;
  threads = std::max(threads, legalThreads(std::max<int64_t>(1, domain.group / vector)));
  if (isShifted(domain))
    threads = std::max<int64_t>(threads, 32);
  ScheduleKnobs knobs{
      .threads = threads, .vector = vector, .rows = threads <= 32 ? 256 / threads : 1};
  if (plain && domain.matricesRead > 1 && threads > 32 && threads <= 128)
    knobs.tiles = 4;
  if (plain && isWide && domain.narrowestStore > 8)
    knobs.tiles = 2;
  // Two reductions of f32 want no more than 64 registers, or few rows are held at a time.
  if (plain && domain.rowReductions > 1 && threads >= 128 && threads <= 512 &&
      loads * vector <= 32 && llvm::isPowerOf2_64(threads))
    knobs.resident = 1024 / threads;
  if (!plain && domain.matricesRead > 1 && isShifted(domain) && loads <= 2)
    knobs.tiles = 3,
    knobs.resident = std::max<int64_t>(1, (loads == 1 ? 2 * shiftedThreads : 640) / threads);
  else if (!plain && domain.matricesRead > 1 && threads == 512 && domain.narrowestStore <= 8 &&
           (loads > 1 || domain.matricesWritten > 2))
    knobs.resident = 1024 / threads;
  else if (!plain && domain.matricesRead > 1 && domain.rowReductions > 1 && threads >= 64 &&
           domain.narrowestStore <= 8 && loads * vector <= 32)
    knobs.resident = std::max<int64_t>(1, 512 * 32 / (threads * loads * vector));
  else if (!plain && domain.matricesRead == 2 && domain.bitsRead == 32 && threads == 224 &&
           loads == 2 && domain.narrowestStore <= 8 && !domain.encodesBySoftware &&
           !isShifted(domain)) // four: a thousand rows in two turns
    knobs.resident = 4;
  // One matrix to read leaves room for the registers of 1280 threads a multiprocessor (1152 of much
  // a thread, 768 of codes after two sums, 896 of those that shift what they load, 768 of wide
  // stores after two sums, 1024 where codes are made by arithmetic, 1280 of few such of four bits,
  // 768 with random bits, 512 of rows that are reduced twice or shifted as well), and some rows a
  // block hide a block's start.
  const bool isShort = hasShortChunks(domain) && domain.narrowestStore <= 8 && loads * vector <= 32;
  const bool light = domain.matricesRead == 1 && threads >= 64 && (loads <= 2 || isShort);
  if (isHeavy(domain)) { // Of much a thread: the registers of 512 threads, of 768 at 32 elements.
    const bool isMore = loads > 2, fits = isMore && loads <= 4 && 2 * threads <= 768 &&
                                          domain.bitsRead <= 16 && domain.rowAligned() &&
                                          !domain.draws;
    knobs.tiles = fits ? 1 : domain.bitsRead > 16 || isMore ? 3 : threads > 128 ? 2 : 1;
    knobs.resident = isMore ? (fits ? 768 : 512) / threads : 0;
  } else if (light && (!plain || domain.encodesBySoftware)) {
    const bool sumsTwice = domain.rowSums > 1, makesCodes = domain.narrowestStore <= 8;
    const int64_t held = loads * vector <= 16      ? 1280
                         : sumsTwice && makesCodes ? 768
                         : areHalved               ? 864
                                                   : 1152,
                  shifted = sumsTwice && !makesCodes ? 768 : 896;
    knobs.tiles = domain.encodesBySoftware ? 4 : 3;
    const bool isTwice = domain.rowReductions > 1;
    knobs.resident = (domain.draws               ? (isTwice || isShifted(domain) ? 512 : 768)
                      : isShifted(domain)        ? shifted
                      : domain.encodesBySoftware ? (sumsTwice                              ? 768
                                                    : domain.packs && loads * vector <= 16 ? 1280
                                                                                           : 1024)
                                                 : held) /
                     threads;
    // A multiprocessor with one block waits for it.
    if (makesCodes && sumsTwice && threads <= 512 && !domain.draws && !isShifted(domain) &&
        !domain.encodesBySoftware)
      knobs.resident = std::max<int64_t>(knobs.resident, 2);
  } else if (!plain && domain.matricesRead == 1 && domain.bitsRead == 16 && threads >= 64 &&
             !isShifted(domain)) {
    // Of more than 32 elements a thread the nearest to the registers of 576 threads, 512 after two
    // sums, of 32 in short chunks of 896: a multiprocessor with one block waits for it.
    const int64_t each = loads * vector, held = domain.rowSums > 1 ? 512 : 576;
    if (each > 32 && each <= 48)
      knobs.tiles = 3, knobs.resident = std::max<int64_t>(1, (held + threads / 2) / threads);
    else if (each == 32 && threads > 256 && domain.rowReductions > 1)
      knobs.tiles = 2, knobs.resident = (896 + threads / 2) / threads;
  }
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// Rows of 16-bit values that are reduced twice, become codes and need nothing beside them: the
/// next is loaded ahead, by threads over which a block's part spreads evenly. Null elsewhere.
static ScheduleAttr wideCodesSchedule(MLIRContext *context, const Domain &domain, int64_t cluster,
                                      int64_t vector, int64_t chunks) {
  constexpr int64_t held = 512 * 64; // elements of a multiprocessor
  if (!isPlain(domain) || domain.rowReductions < 2 || domain.narrowestStore > 8 ||
      domain.bitsRead != 16 || domain.encodesBySoftware || domain.alignedElements < 8)
    return {};
  for (int64_t loads = 4; loads >= 2; --loads) {
    const int64_t threads = legalThreads(ceilDiv(chunks, loads));
    if (threads < 128 || threads > 256 || threads * loads - chunks > chunks / 32)
      continue;
    return ScheduleAttr::get(context, Family::row,
                             {.threads = threads,
                              .vector = vector,
                              .lanes = loads % 2 == 0 ? foldedLanes(domain, vector) : 0,
                              .tiles = 4,
                              .resident = held / (threads * loads * vector),
                              .prefetch = 1,
                              .cluster = cluster});
  }
  return {};
}

ScheduleAttr eider::transforms::wideRowSchedule(MLIRContext *context, const Domain &domain,
                                                int64_t cluster) {
  constexpr int64_t widest = 16384; // of those that one block holds well
  if (ScheduleAttr held = domain.width <= widest ? heldSchedule(context, domain) : ScheduleAttr())
    return held;
  if (ScheduleAttr uneven = unevenSchedule(context, domain))
    return uneven;
  const int64_t vector = vectorFor(domain);
  const int64_t chunks = ceilDiv(ceilDiv(domain.width, vector), cluster), part = chunks * vector;
  if (ScheduleAttr ahead = wideCodesSchedule(context, domain, cluster, vector, chunks))
    return ahead;
  const bool isEven = part * cluster == domain.width && llvm::isPowerOf2_64(chunks);
  const bool keepsBoth = cluster == 2 && domain.narrowestStore > 8;
  const bool ahead = !isPlain(domain) && domain.bitsRead == 16 && (isEven || keepsBoth);
  const int64_t each = isPlain(domain) || (ahead && isEven) ? 64 : 32;
  // Of 512 threads two blocks have their registers, of more each is alone.
  constexpr int64_t half = 512;
  const bool isAlone = part > half * each;
  auto [threads, loads] =
      spreadRow(chunks, isAlone             ? 2 * half
                        : part / each > 256 ? half
                                            : std::max<int64_t>(part / each, 32));
  const int64_t most = isPlain(domain) ? each : each * 5 / 4; // little more than it was chosen for
  if (!isAlone && loads * vector > most) {
    threads = legalThreads(ceilDiv(chunks, std::max<int64_t>(1, each / vector)));
    loads = ceilDiv(chunks, threads);
  }
  ScheduleKnobs knobs{.threads = threads, .vector = vector, .cluster = cluster};
  if (!isAlone) {
    const bool isMore = domain.draws || (domain.matricesRead > 1 && domain.narrowestStore <= 8);
    const int64_t narrow = keepsBoth ? 640 : isShifted(domain) ? 768 : isMore ? 896 : 1024;
    // The nearest: six blocks of 128 threads spill, two of 256 leave a multiprocessor half empty.
    const int64_t plain = (domain.draws                ? 448
                           : domain.narrowestStore > 8 ? 672
                                                       : 608) *
                          64,
                  own = threads * loads * vector;
    const int64_t held = isPlain(domain) ? (plain + own / 2) / own : narrow * 32 / own;
    knobs.tiles = !isPlain(domain) ? 4 : domain.narrowestStore > 8 ? 1 : 2;
    knobs.resident = std::clamp<int64_t>(held, 1, 2048 / threads);
    knobs.prefetch = ahead;
  }
  return ScheduleAttr::get(context, Family::row, knobs);
}
