//===- ProductHeuristic.cpp - Schedules of products of matrices -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"

#include <algorithm>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

int64_t eider::transforms::tilesOfProduct(const Domain &domain, int64_t columns) {
  const int64_t having =
      domain.endsOfGroups.empty() ? domain.rowGroups : (domain.rowGroups + 1) / 2;
  return ceilDiv(domain.width, columns) * std::max<int64_t>(1, having);
}

/// A product of matrices with few rows: all of them meet a block's weights. So many warps share a
/// sum that every multiprocessor has some to wait for others' loads with; a group that is reduced
/// is in one block.
ScheduleAttr eider::transforms::warpsOfProduct(MLIRContext *context, const Domain &domain,
                                               int64_t mostRows, std::string &message) {
  constexpr int64_t most = 64, multiprocessors = 132, warps = 16;
  auto tilesOf = [&](int64_t columns) { return tilesOfProduct(domain, columns); };
  const int64_t asked = mostRows ? mostRows : most;
  ScheduleKnobs knobs{.vector = 1,
                      .rows = std::clamp<int64_t>(ceilDiv(asked, 8) * 8, 8, most),
                      .columns = std::max<int64_t>(16, domain.group)};
  knobs.blocks = domain.reducesWhole; // some number, which stayingSchedule chooses
  // Rows that meet more weights are read less often.
  const int64_t widest = knobs.rows > 8 ? 64 : 32;
  while (knobs.columns < widest && tilesOf(2 * knobs.columns) * 3 >= 5 * multiprocessors)
    knobs.columns *= 2;
  // What lays few rows of x out for pairs that are folded serves 32 columns.
  const bool isWide =
      domain.foldsScales && domain.bitsOfVectors == 16 && knobs.rows == 8 && knobs.columns >= 32;
  const int64_t ofStrip = isWide ? 32 : 16;
  const int64_t strips = std::min<int64_t>(knobs.columns / ofStrip, 8);
  const int64_t blocks = ceilDiv(tilesOf(knobs.columns), multiprocessors);
  const int64_t mostWarps = knobs.rows > 32 ? 4 : 16; // of many rows, as many stages as fit
  // Parts of which each has two long stages.
  const bool isOfEight = knobs.rows == 8 && !domain.foldsScales;
  const int64_t longParts = isOfEight ? domain.lengthOfRows / 512 : 0;
  const int64_t mostParts = longParts >= 8 ? longParts : warps;
  while (strips * knobs.split < mostWarps && blocks * strips * knobs.split < warps &&
         2 * knobs.split <= mostParts)
    knobs.split *= 2;
  // What fits shared memory: rather many stages than long ones, rather long ones than split sums;
  // of eight rows whose sums are split two long ones are faster than more.
  using Stages = std::pair<int64_t, int64_t>;
  constexpr Stages ofMore[] = {{2, 4}, {2, 3}, {1, 4}, {1, 3}, {2, 2}, {1, 2}},
                   ofEight[] = {{2, 2}, {1, 4}, {1, 3}, {1, 2}};
  for (;; knobs.split /= 2) {
    const bool isSplit = knobs.split > 1 && knobs.split <= longParts;
    const ArrayRef<Stages> stages = isSplit ? ArrayRef<Stages>(ofEight) : ArrayRef<Stages>(ofMore);
    knobs.threads = 32 * strips * knobs.split;
    knobs.vector = 1;
    while (knobs.vector < std::max<int64_t>(4, domain.group / 32) &&
           knobs.rows * knobs.columns % (2 * knobs.vector * knobs.threads) == 0)
      knobs.vector *= 2;
    for (auto [loads, prefetch] : stages) {
      knobs.loads = loads;
      knobs.prefetch = prefetch;
      knobs.resident = isWide ? warps * 32 / knobs.threads : 0;
      auto schedule = ScheduleAttr::get(context, Family::contract, knobs);
      if (tileOf(schedule, domain, message))
        return schedule;
    }
    if (knobs.split == 1 && knobs.rows == 8) {
      message = "no block of a product fits its kernel; the least: " + message;
      return {};
    }
    if (knobs.split == 1) {
      knobs.rows = std::max<int64_t>(8, knobs.rows / 16 * 8);
      knobs.split = 2;
    }
  }
}

ScheduleAttr eider::transforms::warpgroupsOfProduct(MLIRContext *context, const Domain &domain,
                                                    const Warpgroups &cut) {
  return ScheduleAttr::get(context, Family::contract,
                           {.threads = cut.threads,
                            .vector = std::max<int64_t>(4, domain.group / 32),
                            .rows = cut.rows,
                            .loads = 2,
                            .columns = cut.threads / 2,
                            .split = cut.split,
                            .resident = cut.resident,
                            .prefetch = cut.prefetch,
                            .cluster = cut.cluster,
                            .warpgroups = 1,
                            .f16 = cut.f16});
}

ScheduleAttr eider::transforms::forProductsSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t vector = 8, loads = 2, most = 4; // blocks a row
  const int64_t warps = domain.width / (32 * vector * loads);
  const int64_t cluster = warps >= most ? most : warps >= 2 ? 2 : 1;
  const auto schedule =
      ScheduleAttr::get(context, Family::row,
                        {.threads = legalThreads(ceilDiv(domain.width, cluster * vector * loads)),
                         .vector = vector,
                         .cluster = cluster});
  std::string message;
  return tileOf(schedule, domain, message) ? schedule : ScheduleAttr();
}

/// Of codes by codes, which wait for memory alone: blocks of 64 columns hide more of that beside
/// another, 128 have the bandwidth by themselves. Clusters of four and more take longer where their
/// blocks share multiprocessors.
static double stagesOfCodes(const ScheduleKnobs &knobs, const Domain &domain) {
  constexpr double multiprocessors = 132, alone = 1.4, beside = 1, ofTwo = 1.95, uneven = 12,
                   ofMeeting = 20;
  constexpr int64_t stage = 128;
  const auto cluster = static_cast<double>(knobs.cluster);
  const int64_t sharing = knobs.cluster * knobs.split;
  double blocks =
      static_cast<double>(tilesOfProduct(domain, knobs.columns) * sharing) / multiprocessors;
  const bool isUneven = blocks > 1 || knobs.threads > 128;
  const double around = knobs.cluster <= 2 ? 4 * (1 + cluster)
                        : isUneven         ? uneven * cluster
                                           : 16 + cluster;
  if (blocks <= 2) // of many the tail is short
    blocks = std::ceil(blocks);
  const double ofBlock = knobs.threads == 128 ? (blocks > 1 ? beside : alone)
                                              : ofTwo * static_cast<double>(knobs.threads) / 256;
  const auto stages = static_cast<double>(ceilDiv(ceilDiv(domain.lengthOfRows, stage), sharing));
  return blocks * ofBlock * stages + around + (knobs.split > 1 ? ofMeeting : 0);
}

double eider::transforms::stagesOfProduct(const ScheduleKnobs &knobs, const Domain &domain) {
  if (domain.meetsCodes)
    return stagesOfCodes(knobs, domain);
  // A block of fewer columns has cheaper stages, but not as much cheaper beside others on a
  // multiprocessor, of many rows or in clusters of eight least; each block begins and ends, and
  // finds what others left, which the last adds up alone. By rows as f16, which come in bulk, and
  // of weights of four bits stages are shorter.
  constexpr double around[] = {3, 4, 5}, ofMeeting = 1.53, ofKilobyte = 0.004;
  constexpr int64_t stage = 128, multiprocessors = 132, ofFour = 120; // of an H200, and in clusters
  constexpr int64_t shared = 227 * 1024, threads = 512;
  const double ofMany = knobs.f16 || domain.foldsScales ? 1.1 : 1.3;
  const double ofMegabyte = knobs.f16 ? 0.4 : 0.2;
  const double ofPair = knobs.rows > 32 ? ofMany : knobs.cluster == 8 ? 1.1 : 1;
  const double ofFew = knobs.rows > 16 ? 1.2 : 1; // columns
  const double ofBlocks[][3] = {{0.6 * ofFew, 0.74 * ofFew, ofFew}, {0.62, ofPair}, {1}};
  const int64_t sharing = knobs.cluster * knobs.split;
  const int64_t blocks = tilesOfProduct(domain, knobs.columns) * sharing;
  auto atOnce = [&](int64_t beside) {
    const int64_t alone = knobs.cluster <= 2 ? multiprocessors : ofFour;
    return alone / knobs.cluster * knobs.cluster * beside;
  };
  // Of many rows threads have more than the 128 registers that leave room for 512, unless asked.
  const bool isAlone = knobs.rows > 32 && knobs.threads == 256 && knobs.resident == 0;
  const int64_t ofThreads = isAlone ? 1 : threads / knobs.threads;
  const int64_t room =
      std::clamp<int64_t>(std::min(shared / domain.sharedOfProduct(knobs), ofThreads), 1, 3);
  int64_t beside = 1;
  while (beside < room && blocks > atOnce(beside))
    ++beside;
  const auto waves = static_cast<double>(ceilDiv(blocks, atOnce(beside)));
  const auto stages = static_cast<double>(ceilDiv(ceilDiv(domain.lengthOfRows, stage), sharing));
  const auto bytes = static_cast<double>(knobs.rows / knobs.cluster * knobs.columns * 4);
  const double meeting = knobs.split > 1
                             ? ofMeeting + ofMegabyte * static_cast<double>(blocks) * bytes / 1e6 +
                                   ofKilobyte * static_cast<double>(knobs.split) * bytes / 1e3
                             : 0;
  const auto size = knobs.threads / 256;
  return waves * (stages * ofBlocks[size][beside - 1] + around[size]) + meeting;
}

/// Few rows of bf16 become f16 before where products gain more than that kernel takes. Of many its
/// workspace would be large.
static bool becomesF16(const Domain &domain, int64_t rows) {
  constexpr double leastWeights = 1 << 23, leastOfFew = 5 << 25, leastOfMany = 1 << 29;
  const double weights =
      static_cast<double>(domain.width) * static_cast<double>(domain.lengthOfRows);
  return domain.takesF16 && domain.convertsToF16 && weights >= leastWeights &&
         weights * static_cast<double>(rows) > (rows > 16 ? leastOfMany : leastOfFew);
}

/// By warpgroups from so many rows on that warps would read them too often, or scales of blocks;
/// codes that meet as they are, always.
ScheduleAttr eider::transforms::productSchedule(MLIRContext *context, const Domain &domain,
                                                int64_t mostRows, std::string &message) {
  constexpr int64_t most = 64, multiprocessors = 132;
  const int64_t few = domain.blockOfWeights ? 8 : 16;
  const int64_t asked = mostRows ? std::min(mostRows, most) : most;
  if (!domain.byWarpgroups || (asked <= few && !domain.meetsCodes))
    return warpsOfProduct(context, domain, mostRows, message);
  int64_t rows = 8;
  while (rows < asked)
    rows *= 2;
  // Of rows that are one tile's, whose number is known: what is left for the others grows with it.
  // Codes by codes are split of many rows alone, to as many blocks as multiprocessors.
  const bool isOneTile = mostRows > 0 && mostRows <= most;
  const bool maySplit = isOneTile && (!domain.meetsCodes || rows > 32);
  const bool asF16 = isOneTile && becomesF16(domain, rows);
  ScheduleAttr best;
  double least = 0;
  for (int64_t threads : {512, 256, 128})
    for (int64_t cluster : {1, 2, 4, 8})
      for (int64_t split = 1; split <= (maySplit && cluster <= 2 ? 16 : 1); ++split) {
        if (domain.meetsCodes && threads == 512)
          continue;
        // Of codes alone more are on their way than of those that are decoded.
        const bool isShared =
            tilesOfProduct(domain, threads / 2) * cluster * split > multiprocessors;
        if (domain.meetsCodes && isShared && split > 1)
          continue;
        const bool isPair = isShared && (domain.meetsCodes || (split > 1 && threads == 256));
        const int64_t turns = ceilDiv(domain.lengthOfRows, 128 * cluster * split);
        const int64_t prefetch = !domain.meetsCodes          ? (isPair ? 3 : 4)
                                 : threads > 128 && isShared ? 4
                                 : threads > 128 || isShared ? 6
                                                             : std::clamp<int64_t>(turns, 4, 8);
        const ScheduleAttr schedule = warpgroupsOfProduct(
            context, domain, {threads, rows, cluster, split, isPair ? 2 : 0, prefetch, asF16});
        const double cost = stagesOfProduct(schedule.getKnobs(), domain);
        if (std::string why; (!best || cost < least) && tileOf(schedule, domain, why)) {
          best = schedule;
          least = cost;
        }
      }
  return best ? best : warpsOfProduct(context, domain, mostRows, message);
}
