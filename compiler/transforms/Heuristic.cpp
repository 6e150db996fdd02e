//===- Heuristic.cpp - A good schedule at once ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"

#include "compiler/transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// A row longer than this does not fit the registers of one block.
static int64_t longestOfBlock(const Domain &domain) {
  return domain.longestHeld() / domain.largestCluster;
}

FamilyChoice eider::transforms::familyOf(const Domain &domain) {
  if (domain.attends)
    return {Family::attention, "attention over a cache: warps take 16 tokens at a time"};
  if (domain.prefills)
    return {Family::attention, "attention of a sequence over itself: a block has rows of one head"};
  if (domain.products)
    return {Family::contract, "a product of matrices: warps multiply 16 rows of weights at a time"};
  if (domain.block.isBlock())
    return {Family::tile, "a reduction over two-dimensional blocks"};
  if (domain.transposes)
    return {Family::tile, "a transpose: a block of the matrix goes through shared memory"};
  if (domain.reducesRows)
    return {Family::row, "a reduction along whole rows: the row stays in registers"};
  return {Family::map,
          domain.group ? "reductions over neighbours in a row only" : "elementwise: no reduction"};
}

int64_t eider::transforms::legalThreads(int64_t wanted) {
  return wanted <= 32 ? static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(wanted, 1)))
                      : ceilDiv(wanted, 32) * 32;
}

std::pair<int64_t, int64_t> eider::transforms::spreadRow(int64_t chunks, int64_t most) {
  const int64_t fewest = ceilDiv(chunks, most);
  std::pair<int64_t, int64_t> best = {legalThreads(ceilDiv(chunks, fewest)), fewest};
  for (int64_t loads = fewest + 1; loads <= fewest + 2; ++loads)
    if (int64_t threads = legalThreads(ceilDiv(chunks, loads));
        threads * loads < best.first * best.second)
      best = {threads, loads};
  return best;
}

bool eider::transforms::isPlain(const Domain &domain) {
  return !domain.readsColumns && domain.matricesWritten == 1;
}

/// The blocks that hold a row together: one, or for wide rows so many that few registers of a
/// thread hold a block's part, while several blocks share a multiprocessor. 0 and a message where
/// the target has too few.
static int64_t clusterOf(const Domain &domain, bool isFew, std::string &message) {
  // Few rows leave multiprocessors idle: their blocks take a quarter as much.
  const int64_t part = isFew ? 2048 : 8192;
  const bool isNarrow = isPlain(domain) && domain.narrowestStore <= 8;
  const int64_t widest = isFew       ? 4096
                         : !isNarrow ? part * 2
                                     : part * (domain.rowReductions > 1 ? 5 : 6) / 4;
  if (domain.width <= widest || domain.largestCluster == 1) {
    if (domain.width <= longestOfBlock(domain))
      return 1;
  } else if (domain.width <= domain.longestHeld()) {
    // Whole warps of two blocks have the codes of one matrix, or what is reduced twice.
    constexpr int64_t widestOfTwo = 32768, ofWarps = 2048;
    const bool byTwo = !isFew && !isPlain(domain) && domain.matricesRead == 1 &&
                       domain.bitsRead == 16 && domain.width < widestOfTwo &&
                       domain.width % ofWarps == 0 && !domain.draws &&
                       (domain.narrowestStore <= 8 || domain.rowReductions > 1);
    if (byTwo)
      return 2;
    return std::min<int64_t>(domain.largestCluster,
                             llvm::PowerOf2Ceil(ceilDiv(domain.width, part)));
  }
  message = "rows of " + std::to_string(domain.width) +
            " elements: a reduction along a row holds the row in registers, at most " +
            std::to_string(domain.longestHeld());
  if (domain.largestCluster == 1)
    message += " on " + domain.target +
               ", which has no clusters of blocks; from sm_90 on rows have up to " +
               std::to_string(Domain().longestHeld());
  return 0;
}

bool eider::transforms::isShifted(const Domain &domain) {
  constexpr int64_t lanes = 32, widest = 16, fewAligned = 4;
  return domain.alignedElements < fewAligned && domain.width >= lanes * widest;
}

bool eider::transforms::isMisaligned(const Domain &domain) {
  constexpr int64_t narrow = 2048, bits = 128; // of an access
  return !domain.rowAligned() && domain.width > narrow && domain.matricesWritten > 0 &&
         domain.alignedElements * domain.narrowestStore < bits;
}

bool eider::transforms::hasShortChunks(const Domain &domain) {
  return !domain.rowAligned() && !isShifted(domain);
}

int64_t eider::transforms::vectorFor(const Domain &domain) {
  int64_t wanted = std::min<int64_t>(16, 128 / domain.narrowestStore);
  // Of short chunks, neighbouring ones should be near each other.
  if (hasShortChunks(domain) && familyOf(domain).family == Family::map)
    wanted = domain.width % 8 == 0 && domain.narrowestStore <= 8 ? 16 : 8;
  else if (hasShortChunks(domain))
    wanted = std::max<int64_t>(4, domain.alignedElements);
  return std::max<int64_t>(domain.group / 32, wanted);
}

int64_t eider::transforms::foldedLanes(const Domain &domain, int64_t vector) {
  constexpr int64_t fewest = 8; // of a group, in chunks
  const bool isFolded = domain.group >= fewest * vector && domain.group <= 32 * vector;
  return isFolded && domain.rowAligned() ? domain.group / vector / 2 : 0;
}

bool eider::transforms::turnsNorm(const Domain &domain) {
  return domain.rotates && domain.sumsGroups;
}

bool eider::transforms::isTurnedNorm(const Domain &domain) {
  return turnsNorm(domain) && domain.matricesRead == 1;
}

bool eider::transforms::meetsColumns(const Domain &domain) {
  return domain.readsColumns && domain.matricesRead > 1;
}

/// What attention left in parts: a thread has few elements, each of which is in all of them.
static ScheduleAttr combiningSchedule(MLIRContext *context, const Domain &domain) {
  const int64_t vector = std::max<int64_t>(2, domain.group / 32);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  return ScheduleAttr::get(
      context, Family::map,
      {.threads = legalThreads(std::min(chunks, std::max<int64_t>(64, domain.group / vector))),
       .vector = vector,
       .loads = 1});
}

/// The schedule of one family for a program, as if it had no values of the whole matrix.
static ScheduleAttr familySchedule(MLIRContext *context, const Domain &domain, int64_t mostRows,
                                   std::string &message) {
  const bool isFew = mostRows > 0 && mostRows <= fewRowsOf(domain);
  const Family family = familyOf(domain).family;
  if (family == Family::attention)
    return attentionSchedule(context, domain, mostRows);
  if (family == Family::contract)
    return productSchedule(context, domain, mostRows, message);
  if (domain.headsOfAttention && family == Family::map)
    return combiningSchedule(context, domain);
  if (domain.forProducts)
    if (const ScheduleAttr schedule = forProductsSchedule(context, domain))
      return schedule;
  if (family == Family::tile)
    return tileSchedule(context, domain, message);
  const bool isSome = mostRows > 0 && !isFew && mostRows <= someRowsOf(domain);
  if (isSome && !isHeldAlone(domain) && !domain.contracts) {
    const ScheduleAttr some = someRowsSchedule(context, domain);
    if (std::string illegal; tileOf(some, domain, illegal))
      return some;
  }
  if (domain.contracts && !isFew && domain.width <= longestOfBlock(domain))
    return contractSchedule(context, domain, mostRows);
  const int64_t cluster = family == Family::row ? clusterOf(domain, isFew, message) : 1;
  if (cluster == 0)
    return {};
  if (isFew)
    return fewRowsSchedule(context, domain, cluster);
  if (cluster > 1 && (isSome || !isHeldAlone(domain)))
    return wideRowSchedule(context, domain, cluster);
  return family == Family::map ? mapSchedule(context, domain) : rowSchedule(context, domain);
}

int64_t eider::transforms::threadsOfBlock(Family family, const ScheduleKnobs &k,
                                          const Domain &domain) {
  const bool isBeside = family == Family::map || (family == Family::row && !domain.stacksRows);
  return k.threads * (isBeside ? k.rows : 1);
}

/// Of no more blocks than a multiprocessor of the target has threads for.
static ScheduleAttr withRoom(ScheduleAttr schedule, const Domain &domain) {
  ScheduleKnobs k = schedule.getKnobs();
  k.resident = std::min(k.resident,
                        domain.residentThreads / threadsOfBlock(schedule.getFamily(), k, domain));
  return ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k);
}

/// As many blocks as a large GPU holds at once, each with many tiles in turn: so few leave a part,
/// or read all of them, that it costs little.
static ScheduleAttr stayingSchedule(ScheduleAttr schedule, const Domain &domain, bool isFew) {
  constexpr int64_t multiprocessors = 132, mostResident = mostParts / multiprocessors;
  ScheduleKnobs k = schedule.getKnobs();
  const bool isMap = schedule.getFamily() == Family::map;
  if (isMap && k.threads * k.rows <= 128)
    k.rows *= 256 / (k.threads * k.rows);
  const int64_t block = threadsOfBlock(schedule.getFamily(), k, domain);
  const int64_t most = meetsColumns(domain) ? 768 : isShifted(domain) ? 1152 : 1536;
  const int64_t held = isMap && !domain.encodesBySoftware ? most : 1024;
  // A schedule of tiles, or that loads ahead, knows how many blocks have the registers for it.
  const bool knows = k.resident && (k.prefetch || schedule.getFamily() == Family::tile);
  const int64_t resident = std::clamp<int64_t>(knows ? k.resident : held / block, 1, mostResident);
  k.tiles = 1;
  k.blocks = multiprocessors * resident / k.cluster * k.cluster;
  if (!isFew && k.cluster == 1)
    k.resident = resident;
  return ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k);
}

static ScheduleAttr withLastCombining(ScheduleAttr schedule) {
  ScheduleKnobs k = schedule.getKnobs();
  k.combine = 1;
  return ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k);
}

ScheduleAttr eider::transforms::heuristicSchedule(MLIRContext *context, const Domain &domain,
                                                  int64_t mostRows, std::string &message) {
  const bool isFew = mostRows > 0 && mostRows <= fewRowsOf(domain);
  ScheduleAttr schedule = familySchedule(context, domain, mostRows, message);
  if (!schedule)
    return {};
  if (domain.reducesWhole || (domain.readsParts && !isFew))
    schedule = stayingSchedule(schedule, domain, isFew);
  if (domain.givesWhole && isFew) // a launch takes longer than the last block
    schedule = withLastCombining(schedule);
  return withRoom(schedule, domain);
}

/// Registers of a thread that holds so many elements until all blocks have met: as they are in
/// memory, or as the f32 that a row's reduction went into.
static int64_t registersToHold(const Domain &domain, int64_t elements) {
  const int64_t bits = std::max<int64_t>(domain.bitsRead, domain.reducesRows ? 32 : 0);
  constexpr int64_t others = 24, ofArithmetic = 16;
  const int64_t worked = domain.reducesRows ? domain.matricesRead : domain.encodesBySoftware;
  return others + worked * ofArithmetic + ceilDiv(elements * bits, 32);
}

ScheduleAttr eider::transforms::cooperativeSchedule(MLIRContext *context, const Domain &domain,
                                                    int64_t held, int64_t block) {
  constexpr int64_t registers = 65536, coalesced = 8;
  const Family family = familyOf(domain).family;
  if (!domain.readsParts || family == Family::tile || family == Family::contract ||
      domain.width == 0)
    return {};
  const int64_t vector = std::min(vectorFor(domain), std::max(held, domain.group / 32));
  const int64_t chunks = ceilDiv(domain.width, vector), most = std::max<int64_t>(1, held / vector);
  // Neighbouring threads have neighbouring chunks, also of rows that few threads would hold.
  const int64_t lanes = std::max<int64_t>(std::min(chunks, coalesced), domain.group / vector);
  int64_t threads = legalThreads(std::max(ceilDiv(chunks, most), lanes));
  if (family == Family::map)
    threads = std::min(threads, block);
  if (threads > 1024)
    return {};
  ScheduleKnobs k{.threads = threads, .vector = vector, .cooperative = 1};
  k.loads = family == Family::map ? std::min(most, ceilDiv(chunks, threads)) : 0;
  k.rows = family == Family::row && threads > 32 ? 1 : std::max<int64_t>(1, block / threads);
  const int64_t loads = k.loads ? k.loads : ceilDiv(chunks, threads);
  const int64_t fit =
      std::min(domain.residentThreads, registers / registersToHold(domain, loads * vector));
  k.resident = fit / (threads * k.rows);
  if (k.resident == 0)
    return {};
  auto schedule = ScheduleAttr::get(context, family, k);
  std::string message;
  return tileOf(schedule, domain, message) ? schedule : ScheduleAttr();
}
