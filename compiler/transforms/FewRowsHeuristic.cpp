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

static constexpr int64_t million = 1 << 20;            // elements
static constexpr int64_t wide = 8192, shortRow = 2048; // columns

/// Whether rows, or segments of them, are all that the kernel's blocks take, of values as narrow as
/// bf16: what is few of them depends on how long they are.
static bool takesRows(const Domain &domain) {
  const Family family = familyOf(domain).family;
  return (family == Family::map || family == Family::row) && domain.width > 0 &&
         !domain.contracts && !domain.headsOfAttention && !domain.combinesParts() &&
         !domain.writesWhole && domain.bitsRead <= 16 * domain.matricesRead;
}

/// Codes that become values, of rows in order: a thread of many has two chunks, whose stores are
/// twice as long.
static bool isExpanded(const Domain &domain) {
  return domain.bitsRead <= 8 * domain.matricesRead && domain.narrowestStore == 16 &&
         !domain.choosesCodes;
}

/// What is turned and becomes codes, in two chunks of 16 a lane: of a head of as many elements as a
/// group, no lane needs another's half.
static bool turnsCodes(const Domain &domain) {
  constexpr int64_t vector = 16;
  return domain.rotates && domain.narrowestStore <= 8 && foldedLanes(domain, vector) > 0;
}

/// Columns of which a multiprocessor holds rows by 28 warps, so that each thread has 72 registers;
/// of others with as many, none was faster or timed.
static bool leavesRegisters(const Domain &domain) {
  constexpr int64_t columns = 7168;
  return domain.width % columns == 0;
}

/// Whether rows have 1024 threads a multiprocessor: those that are summed. Their 64 registers are
/// too few for masked codes, wide rows with nothing beside them are no faster so, and neither
/// turned heads nor rows that are not summed were timed.
static bool isFull(const Domain &domain) {
  const bool makesCodes = domain.narrowestStore <= 8;
  return domain.rowSums > 0 && !domain.rotates &&
         !(makesCodes && (domain.usesPositions || (domain.width > wide && isPlain(domain))));
}

/// Where rows end to be some that have the schedule of many soon: powers of two, of which many have
/// more elements a thread.
static int64_t someOfPowers(const Domain &domain) {
  if (!llvm::isPowerOf2_64(domain.width))
    return 0;
  return domain.width > wide ? 2 * million : 5 * million / 2;
}

/// The same of rows stored as they were read: more of the twice reduced and masked ones that have
/// registers for it.
static int64_t someValuesOf(const Domain &domain) {
  const bool isTwice = domain.rowSums > 1, isMasked = isPlain(domain) && domain.usesPositions;
  if ((isTwice && domain.width == shortRow) || ((isTwice || isMasked) && leavesRegisters(domain)))
    return 32 * million;
  return someOfPowers(domain);
}

/// The same of rows that become codes: more after two sums, where lengths between powers of two
/// gain, too.
static int64_t someCodesOf(const Domain &domain) {
  constexpr int64_t shortest = 5120; // between powers of two
  const bool isTwice = domain.rowSums > 1;
  if (!isFull(domain) || domain.width < shortRow)
    return someOfPowers(domain);
  if (domain.width > wide)
    return domain.width % shortRow == 0 ? 16 * million : 0; // others were not timed
  if (llvm::isPowerOf2_64(domain.width) || (isTwice && domain.width >= shortest))
    return (isTwice ? 32 : 16) * million;
  return 0;
}

/// Elements of some rows at most; 0 where they have the schedule of many.
static int64_t someElementsOf(const Domain &domain) {
  constexpr int64_t shortest = 1024, longestGroup = 512;
  if (!takesRows(domain) || !domain.rowAligned() || domain.choosesRows ||
      (domain.draws && !isHeldAlone(domain)) || domain.matricesWritten != 1 ||
      domain.width < shortest || domain.group > longestGroup)
    return 0;
  const bool makesCodes = domain.narrowestStore <= 8;
  if (familyOf(domain).family == Family::map) {
    if (domain.sumsGroups)
      return 0;
    if (isExpanded(domain) || turnsCodes(domain))
      return (isExpanded(domain) ? 16 : 32) * million;
    return makesCodes || domain.rotates ? 5 * million / 2 : 0;
  }
  if (isHeldAlone(domain)) // in clusters as ever: no fewer were timed by one block
    return domain.largestCluster > 1 ? 32 * million : 0;
  if (domain.matricesRead != 1 || domain.bitsRead != 16 || domain.width > 2 * wide ||
      domain.width % shortest != 0)
    return 0;
  return makesCodes ? someCodesOf(domain) : someValuesOf(domain);
}

int64_t eider::transforms::fewRowsOf(const Domain &domain) {
  constexpr int64_t least = 16;
  if (!takesRows(domain))
    return fewRows;
  int64_t elements = million;
  if (familyOf(domain).family == Family::row) {
    const bool isWide = domain.width > wide;
    if (domain.largestCluster == 1 && someElementsOf(domain) == 0) // no block waits for another
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
                            .resident = keepsLoads,
                            .cluster = cluster,
                            .streaming = cluster == 1 && !domain.readsColumns && !isShorter,
                            .mma = threads % 32 == 0 && domain.prefersPairs(vector)});
}

int64_t eider::transforms::someRowsOf(const Domain &domain) {
  if (domain.contracts)
    return std::max<int64_t>(0, rowsThatCome(domain) - 1);
  return domain.width > 0 ? someElementsOf(domain) / domain.width : 0;
}

/// Segments of some rows: short chunks, one a thread; of what is turned two. A cast memory bounds,
/// and codes of four bits come of two bytes at once: longer ones. Codes that become values are
/// loaded four chunks at a time.
static ScheduleAttr someSegments(MLIRContext *context, const Domain &domain) {
  constexpr int64_t little = 4;
  const bool bySoftware = domain.encodesBySoftware, packs = domain.packs && bySoftware;
  const bool isCast =
      domain.matricesRead == 1 && domain.arithmetic < little && !bySoftware && !isExpanded(domain);
  const bool isTurned = turnsCodes(domain);
  const int64_t wanted = isTurned || packs ? 16
                         : domain.rotates  ? (domain.narrowestStore > 8 ? 4 : 8)
                         : isCast          ? 16
                                           : 8;
  const int64_t vector = std::max(domain.group / 32, wanted);
  const int64_t loads = isExpanded(domain) ? 4 : domain.rotates ? 2 : 1;
  const int64_t chunks = ceilDiv(domain.width, vector);
  int64_t threads =
      segmentThreads(ceilDiv(chunks, loads), std::max<int64_t>(1, domain.group / vector));
  if ((packs || vector == 4) && chunks % (256 * loads) == 0)
    threads = 256;
  if (isTurned && llvm::isPowerOf2_64(chunks))
    threads = std::clamp<int64_t>(chunks / 4, 32, 64);
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads,
                            .vector = vector,
                            .loads = loads,
                            .lanes = isTurned ? foldedLanes(domain, vector) : 0});
}

ScheduleAttr eider::transforms::someRowsSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t each = 32, fewest = 64; // elements of a thread; threads
  // Of a multiprocessor: elements where each thread may have 85 registers, threads where 64.
  constexpr int64_t held = 768 * each, most = 1024;
  if (familyOf(domain).family == Family::map)
    return someSegments(context, domain);
  const bool makesCodes = domain.narrowestStore <= 8, isTwice = domain.rowSums > 1;
  // Of short rows that are reduced twice and stored as they were read, half as many.
  const bool isLight = !makesCodes && isTwice && domain.width == shortRow;
  const int64_t vector = std::max<int64_t>(domain.group / 32, makesCodes ? 16 : 8);
  const int64_t threads = std::max(fewest, domain.width / (isLight ? each / 2 : each));
  const bool isHalved = makesCodes && threads * 2 * vector == domain.width;
  // Two rows in turn, which also keeps the assembler from loading columns ahead, into registers
  // that are not there.
  const bool inTurn = isFull(domain) && domain.width >= shortRow &&
                      (makesCodes ? isTwice || !leavesRegisters(domain)
                                  : isTwice && !isLight && llvm::isPowerOf2_64(domain.width));
  return ScheduleAttr::get(context, Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .lanes = isHalved ? foldedLanes(domain, vector) : 0,
                            .tiles = inTurn ? 2 : 1,
                            .resident = isFull(domain) ? most / threads : held / domain.width});
}
