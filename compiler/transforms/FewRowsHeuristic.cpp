//===- FewRowsHeuristic.cpp - Few rows, and some more --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

static constexpr int64_t million = 1 << 20; // elements
static constexpr int64_t wide = 8192;       // columns

/// Whether rows, or segments of them, are all that the kernel's blocks take, of values as narrow as
/// bf16: what is few of them depends on how long they are.
static bool takesRows(const Domain &domain) {
  const Family family = familyOf(domain).family;
  return (family == Family::map || family == Family::row) && domain.width > 0 &&
         !domain.contracts && !domain.headsOfAttention && !domain.combinesParts() &&
         !domain.writesWhole && domain.bitsRead <= 16 * domain.matricesRead;
}

/// Whether some rows have a schedule of their own: of segments codes and what is turned; and one
/// narrow matrix whose rows are powers of two, of which many have more elements a thread.
static bool mayBeSome(const Domain &domain) {
  constexpr int64_t shortest = 1024, longestGroup = 512;
  if (!takesRows(domain) || !domain.rowAligned() || domain.choosesRows || domain.draws ||
      domain.matricesWritten != 1 || domain.width < shortest || domain.group > longestGroup)
    return false;
  if (familyOf(domain).family == Family::map)
    return (domain.narrowestStore <= 8 || domain.rotates) && !domain.sumsGroups;
  return domain.matricesRead == 1 && domain.bitsRead == 16 && domain.width <= 2 * wide &&
         llvm::isPowerOf2_64(domain.width);
}

int64_t eider::transforms::fewRowsOf(const Domain &domain) {
  constexpr int64_t least = 16;
  if (!takesRows(domain))
    return fewRows;
  int64_t elements = million;
  if (familyOf(domain).family == Family::row) {
    const bool isWide = domain.width > wide;
    if (domain.largestCluster == 1 && !mayBeSome(domain)) // no block waits for another
      elements = 2 * million;
    else if (domain.rowAligned() && domain.matricesRead == 1 && (!isWide || isPlain(domain)))
      elements = million * 3 / 4;
    else if (domain.rowAligned() &&
             (domain.width > 2 * wide || (isWide && domain.matricesRead > 1)))
      elements = 2 * million;
  }
  return std::clamp<int64_t>(elements / domain.width, least, fewRows);
}

ScheduleAttr eider::transforms::fewRowsSchedule(MLIRContext *context, const Domain &domain,
                                                int64_t cluster) {
  constexpr int64_t widestOfShorter = 8192;
  const bool isMap = familyOf(domain).family == Family::map;
  const bool isShorter =
      isMap && domain.narrowestStore == 8 && domain.width <= widestOfShorter && !domain.givesWhole;
  const int64_t vector =
      std::max(domain.group / 32, std::min<int64_t>(isShorter ? 4 : 8, vectorFor(domain)));
  const int64_t lanes = legalThreads(std::max<int64_t>(1, domain.group / vector));
  const int64_t chunks = ceilDiv(ceilDiv(std::max<int64_t>(domain.width, 1), vector), cluster);
  const int64_t most = cluster > 1 && domain.readsColumns
                           ? std::clamp<int64_t>(chunks / 4, 128, 1024)
                           : (isMap ? 256 : 1024);
  const int64_t fewest = domain.contracts ? 32 : 1; // rows side by side meet the vector apart
  // A bound of one block, without which the assembler sinks the loads of column vectors.
  const bool keepsLoads = cluster > 1 && domain.readsColumns && !domain.givesWhole &&
                          !domain.reducesWhole && !domain.writesWhole;
  const int64_t threads = std::max({lanes, fewest, spreadRow(chunks, most).first});
  return ScheduleAttr::get(context, isMap ? Family::map : Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .rows = threads <= 32 && !domain.contracts ? 64 / threads : 1,
                            .loads = isMap ? 1 : 0,
                            .tiles = domain.givesWhole ? 8 : 1, // each block counts itself
                            .resident = keepsLoads,
                            .cluster = cluster,
                            .streaming = cluster == 1 && !domain.readsColumns && !isShorter,
                            .mma = threads % 32 == 0 && domain.prefersPairs(vector)});
}

int64_t eider::transforms::someRowsOf(const Domain &domain) {
  const bool isWide = familyOf(domain).family == Family::row && domain.width > wide;
  return mayBeSome(domain) ? (isWide ? 2 * million : 5 * million / 2) / domain.width : 0;
}

/// Segments of some rows: short chunks, one a thread; of what is turned two, whose partners a warp
/// has. A cast memory bounds, and codes of four bits come of two bytes at once: longer ones.
static ScheduleAttr someSegments(MLIRContext *context, const Domain &domain) {
  constexpr int64_t little = 4;
  const bool bySoftware = domain.encodesBySoftware, packs = domain.packs && bySoftware;
  const bool isCast = domain.matricesRead == 1 && domain.arithmetic < little && !bySoftware;
  const int64_t wanted = domain.rotates    ? (domain.narrowestStore > 8 ? 4 : 8)
                         : isCast || packs ? 16
                                           : 8;
  const int64_t vector = std::max(domain.group / 32, wanted), loads = domain.rotates ? 2 : 1;
  const int64_t chunks = ceilDiv(domain.width, vector);
  int64_t threads =
      segmentThreads(ceilDiv(chunks, loads), std::max<int64_t>(1, domain.group / vector));
  if ((packs || vector == 4) && chunks % (256 * loads) == 0)
    threads = 256;
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads, .vector = vector, .loads = loads});
}

ScheduleAttr eider::transforms::someRowsSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t each = 32, fewest = 64; // elements of a thread; threads
  const bool makesCodes = domain.narrowestStore <= 8, bySoftware = domain.encodesBySoftware;
  if (familyOf(domain).family == Family::map)
    return someSegments(context, domain);
  const int64_t vector = std::max<int64_t>(domain.group / 32, makesCodes ? 16 : 8);
  const int64_t threads = std::max(fewest, domain.width / each);
  constexpr int64_t held = 768 * each; // elements of a multiprocessor, so that all rows run at once
  const bool isHalved = makesCodes && !bySoftware && threads * 2 * vector == domain.width;
  return ScheduleAttr::get(context, Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .lanes = isHalved ? foldedLanes(domain, vector) : 0,
                            .resident = held / domain.width});
}
