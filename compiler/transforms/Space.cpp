//===- Space.cpp - The schedules worth measuring --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Space.h"

#include "compiler/transforms/Heuristic.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;
using eider::simt::TileAttr;
using eider::simt::TileKind;

namespace {
/// The knobs of a family and the values worth trying; what is illegal for a program falls out.
struct FamilySpace {
  Family family;
  std::vector<int64_t> threads, vector;
  std::vector<int64_t> rows;  ///< Of tile: `shapesOf`.
  std::vector<int64_t> loads; ///< 0: what a row needs.
  std::vector<int64_t> tiles;
  std::vector<int64_t> residentThreads; ///< That `resident` blocks have together; 0: no bound.
  std::vector<int64_t> prefetch;        ///< Only where a block has several tiles.
  std::vector<int64_t> cluster;         ///< More than 1 only where all before are at their least.
};

/// What the model holds schedules to.
constexpr int64_t registersOfMultiprocessor = 65536, threadsOfMultiprocessor = 2048,
                  fixedRegisters = 24, mostElements = 72, narrowestStoreBytes = 8,
                  bytesInFlight = 32 * 1024, widestForOneBlock = 32 * 1024;
constexpr double mostWaste = 1.25, mostIdle = 1.35;
/// The first so many cuts of a row come before the secondary knobs, turned on so many of them.
constexpr size_t cutsBeforeVariations = 11, variedCuts = 2, mostCooperative = 6;
} // namespace

/// The primary knobs; `variations` has the others.
static const FamilySpace spaces[] = {
    {Family::map,
     {1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 256, 384, 512},
     {4, 8, 16},
     {1, 2, 4, 8, 16, 32, 64},
     {1, 2, 4},
     {1, 2},
     {0, 1536, 2048},
     {0},
     {1}},
    {Family::row,
     {1,   2,   4,   8,   16,  32,  64,  96,  128, 160, 192, 224, 256,
      320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024},
     {4, 8, 16},
     {1, 2, 4, 8, 16, 32, 64},
     {0},
     {1, 2, 3, 4},
     {0, 512, 768, 1024, 1280, 1536},
     {0, 1},
     {1, 2, 4, 8}},
    {Family::tile,
     {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
     {4, 8, 16},
     {1},
     {0},
     {1, 2, 4},
     {0, 1024, 1536, 2048},
     {0, 1},
     {1}},
};

namespace {
/// What the model computes of a schedule.
struct Estimate {
  double waste = 1;           ///< Elements that the threads cover over those that there are.
  int64_t block = 0;          ///< threads
  int64_t elements = 0;       ///< a thread
  int64_t registers = 0;      ///< a thread, at least
  int64_t store = 0;          ///< bytes of a thread's narrowest store
  int64_t blocks = 0;         ///< of the grid; 0: unknown
  int64_t blocksResident = 0; ///< that a multiprocessor holds
};
} // namespace

static Estimate estimate(ScheduleAttr schedule, TileAttr tile, const Domain &domain,
                         const SpaceFacts &facts) {
  Estimate e;
  const ScheduleKnobs &k = schedule.getKnobs();
  const int64_t width = std::max<int64_t>(domain.width, 1);
  const bool isRow = tile.spansRows();
  e.block = tile.blockThreads();
  e.elements = tile.getLoads() * k.vector;
  // What is loaded ahead or stays over tiles is still as narrow as in memory.
  e.registers = fixedRegisters + e.elements + k.prefetch * e.elements * domain.bitsRead / 32 +
                k.hoist * e.elements / 2;
  const bool comes = domain.stacksRows && k.prefetch > 1; // rows, through shared memory
  if (comes)
    e.elements = 2 * tile.columnsHeld();
  if (domain.contracts) // codes as they are, and the vector's 16 bits
    e.registers = 2 * fixedRegisters +
                  (comes ? 1 : 1 + k.prefetch) * e.elements * domain.bitsRead / 32 +
                  tile.columnsHeld() / 2;
  e.store = k.vector * domain.narrowestStore / 8;
  const int64_t covered = isRow ? k.threads * tile.columnsHeld() * k.cluster : k.columns;
  const int64_t segments = ceilDiv(width, covered);
  e.waste = double(segments) * double(covered) / double(width);
  if (facts.rows)
    e.blocks = ceilDiv(ceilDiv(facts.rows, k.rows) * segments, k.tiles) * k.cluster;
  const int64_t stay = comes ? k.resident * facts.multiprocessors : k.blocks;
  if (stay)
    e.blocks = e.blocks ? std::min(e.blocks, stay) : stay;
  e.blocksResident = k.resident ? k.resident
                                : std::min(threadsOfMultiprocessor / e.block,
                                           registersOfMultiprocessor / (e.registers * e.block));
  e.blocksResident = std::max<int64_t>(1, e.blocksResident);
  return e;
}

static bool attends(const Domain &domain) { return domain.attends || domain.prefills; }

/// Why a schedule is not worth measuring; empty: it is.
static std::string pruning(ScheduleAttr schedule, TileAttr tile, const Estimate &e,
                           const Domain &domain, const SpaceFacts &facts) {
  const ScheduleKnobs &k = schedule.getKnobs();
  if (domain.products || attends(domain))
    return ""; // `tileOf` has refused what cannot be; no model knows the rest
  if (e.elements > mostElements && !domain.contracts)
    return "more than " + std::to_string(mostElements) + " elements a thread: long text, spills";
  if (e.store < std::min<int64_t>(narrowestStoreBytes, domain.width * domain.narrowestStore / 8) &&
      domain.rowAligned() && !domain.contracts)
    return "stores of less than " + std::to_string(narrowestStoreBytes) + " bytes a thread";
  if (k.resident && registersOfMultiprocessor / (k.resident * e.block) < e.registers)
    return "as many resident blocks leave too few registers for a thread's elements";
  if (e.waste > mostWaste && k.threads > 1)
    return "more than a fifth of the threads' work lies past the row's end";
  if (e.block < 64 && facts.rows * domain.width > 4096)
    return "blocks of less than two warps";
  if (k.tiles > 1 && facts.multiprocessors && e.blocks < 2 * facts.multiprocessors)
    return "several tiles a block leave less than two blocks a multiprocessor";
  if (k.resident && facts.multiprocessors && e.blocks < k.resident * facts.multiprocessors)
    return "fewer blocks than would be resident: nothing to bound registers for";
  if (k.cluster > 1 && domain.width <= widestForOneBlock &&
      (!facts.multiprocessors || !facts.rows || facts.rows >= facts.multiprocessors))
    return "a cluster to a row that one block holds, where there are rows for every multiprocessor";
  if (k.rows > 1 && e.block > 256 && tile.getKind() == TileKind::row)
    return "several rows in blocks of more than 256 threads";
  return "";
}

/// Predicted time over a perfect stream's.
static double costOf(const Estimate &e, const Domain &domain, const SpaceFacts &facts) {
  double cost = e.waste;
  // Small blocks cost their start, large ones wait for their slowest warp.
  if (e.block < 128 || e.block > 512)
    cost *= 1.03;
  if (e.store < 16)
    cost *= 1.05;
  int64_t resident = e.blocksResident;
  if (e.blocks && facts.multiprocessors) {
    const double waves = double(e.blocks) / double(facts.multiprocessors * e.blocksResident);
    resident = std::min(resident, ceilDiv(e.blocks, facts.multiprocessors));
    // The last wave's idle multiprocessors; many waves even out.
    if (waves > 1 && waves < 4)
      cost *=
          1 +
          0.25 * (double(ceilDiv(e.blocks, facts.multiprocessors * e.blocksResident)) / waves - 1);
    // Idle multiprocessors; what is left to win is that each thread has little to do.
    if (e.blocks < facts.multiprocessors)
      cost *= (1 + 0.5 * (double(facts.multiprocessors) / double(e.blocks) - 1)) *
              (1 + double(e.elements) / 128);
  }
  const double flight = double(resident) * double(e.block) * double(e.elements) *
                        double(std::max<int64_t>(8, domain.bitsRead)) / 8;
  if (flight < bytesInFlight)
    cost *= 1 + 0.2 * (bytesInFlight / flight - 1);
  return cost;
}

/// Orders the worthwhile so that unlike ones come early: each further schedule that shares a choice
/// with those before it waits as if it were some percent slower.
static void spreadOut(std::vector<ScheduleOption> &options, ScheduleAttr heuristic) {
  constexpr size_t most = 64; // nobody measures more; the rest stays by cost
  constexpr double sameCut = 0.04, sameLoop = 0.02, sameResidence = 0.01;
  llvm::stable_sort(
      options, [](const ScheduleOption &a, const ScheduleOption &b) { return a.cost < b.cost; });
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> cuts;
  std::map<std::pair<int64_t, int64_t>, int64_t> loops;
  std::map<bool, int64_t> residences;
  auto cut = [](ScheduleAttr s) {
    return std::tuple(s.getKnobs().threads, s.getKnobs().vector, s.getKnobs().columns);
  };
  auto loop = [](ScheduleAttr s) { return std::pair(s.getKnobs().loads, s.getKnobs().tiles); };
  auto note = [&](ScheduleAttr s) {
    ++cuts[cut(s)];
    ++loops[loop(s)];
    ++residences[s.getKnobs().resident != 0];
  };
  note(heuristic);
  for (auto next = options.begin(); next != options.end() && next - options.begin() < int64_t(most);
       ++next) {
    auto handicapped = [&](const ScheduleOption &option) {
      ScheduleAttr s = option.schedule;
      return option.cost * (1 + sameCut * double(cuts[cut(s)]) + sameLoop * double(loops[loop(s)]) +
                            sameResidence * double(residences[s.getKnobs().resident != 0]));
    };
    auto best = next;
    double least = handicapped(*next);
    for (auto it = next + 1; it != options.end(); ++it)
      if (double value = handicapped(*it); value < least)
        std::tie(best, least) = std::pair(it, value);
    std::rotate(next, best, best + 1);
    note(next->schedule);
  }
}

/// Whether a combination can be worth a second look; the rest is what `tileOf` and the model say.
static bool plausible(const ScheduleKnobs &k, const Domain &domain) {
  const bool isTile = k.columns != 0 || domain.stacksRows; // its threads have all of its rows
  if (k.threads * (isTile ? 1 : k.rows) > 1024)
    return false;
  if (k.prefetch && k.tiles == 1) // there is no next tile to load ahead
    return false;
  if (k.cluster > 1 && (k.cluster > domain.largestCluster || k.threads < 64 || k.rows != 1 ||
                        k.tiles != 1 || k.resident))
    return false;
  return k.threads == 1 || k.threads * k.vector * k.cluster < 2 * domain.width || isTile;
}

/// Rows and columns of a CUDA block (tile) that are worth a look; elsewhere rows alone.
static std::vector<std::pair<int64_t, int64_t>> shapesOf(const FamilySpace &space,
                                                         const Domain &domain) {
  if (domain.block.isBlock())
    return {{domain.block.blockRows, domain.block.blockColumns}};
  if (space.family == Family::tile && domain.mostRows)
    return {{domain.mostRows, 128}, {domain.mostRows, 64}, {domain.mostRows, 256}};
  if (space.family == Family::tile)
    return {{128, 128}, {64, 128}, {128, 64}, {64, 64}, {256, 128}, {128, 256}, {256, 256}};
  std::vector<std::pair<int64_t, int64_t>> shapes;
  for (int64_t rows : space.rows)
    shapes.emplace_back(rows, 0);
  return shapes;
}

/// Calls `visit` with each schedule of a family that can be worth a look, its secondary knobs left.
template <class Visit>
static void forEach(MLIRContext *context, const FamilySpace &space, const Domain &domain,
                    Visit visit) {
  for (int64_t vector : llvm::reverse(space.vector))
    for (int64_t threads : llvm::reverse(space.threads))
      for (auto [rows, columns] : shapesOf(space, domain))
        for (int64_t loads : space.loads)
          for (int64_t tiles : space.tiles)
            for (int64_t bound : space.residentThreads)
              for (int64_t prefetch : space.prefetch)
                for (int64_t cluster : space.cluster) {
                  ScheduleKnobs k{.threads = threads,
                                  .vector = vector,
                                  .rows = rows,
                                  .loads = loads,
                                  .columns = columns,
                                  .tiles = tiles,
                                  .resident =
                                      bound / (threads * (columns || domain.stacksRows ? 1 : rows)),
                                  .prefetch = prefetch,
                                  .cluster = cluster,
                                  .mma = threads % 32 == 0 && domain.prefersPairs(vector)};
                  if (plausible(k, domain) && (bound == 0 || k.resident >= 2))
                    visit(ScheduleAttr::get(context, space.family, k));
                }
}

/// A schedule with one of the secondary knobs turned: each that can do something there.
static std::vector<ScheduleAttr> variations(ScheduleAttr schedule, const Estimate &e,
                                            const Domain &domain, const SpaceFacts &facts) {
  std::vector<ScheduleAttr> varied;
  auto vary = [&](auto turn) {
    ScheduleKnobs k = schedule.getKnobs();
    turn(k);
    varied.push_back(ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k));
  };
  const ScheduleKnobs &k = schedule.getKnobs();
  if (domain.convertsByHardware)
    vary([](ScheduleKnobs &k) { k.software = 1; });
  if (attends(domain))
    return varied;
  vary([](ScheduleKnobs &k) { k.streaming = 1; });
  vary([](ScheduleKnobs &k) { k.bulk = !k.bulk; });
  // A warp's chunks after each other, which one copy stores in bulk.
  if (k.threads > 32) {
    vary([](ScheduleKnobs &k) { k.lanes = k.lanes == 32 ? 0 : 32; });
    vary([](ScheduleKnobs &k) {
      const bool isOne = k.bulk && k.lanes == 32;
      k.lanes = isOne ? 0 : 32, k.bulk = !isOne;
    });
  }
  // Half the lanes of a group with twice its chunks each: half as many scales a thread.
  if (domain.group >= 4 * k.vector)
    vary([&](ScheduleKnobs &k) { k.lanes = k.lanes ? 0 : domain.group / k.vector / 2; });
  if (domain.givesWhole)
    vary([](ScheduleKnobs &k) { k.combine = !k.combine; });
  if (domain.mayMeetPairs(k.vector))
    vary([](ScheduleKnobs &k) { k.mma = !k.mma; });
  if (domain.comesAhead && k.rows > 1 && !k.prefetch) // rows two by two, through shared memory
    for (int64_t rows : {2, 4, 8})
      vary([&](ScheduleKnobs &k) {
        k.resident = std::max<int64_t>(1, k.resident ? k.resident : 768 / k.threads);
        k.rows = rows, k.tiles = 1, k.prefetch = 3, k.hoist = k.mma = 1;
      });
  // A grid that stays: as many blocks as the GPU holds at once.
  const int64_t held = e.blocksResident * facts.multiprocessors;
  const bool persists = held > 0 && e.blocks > held && k.tiles == 1;
  if (persists)
    vary([&](ScheduleKnobs &k) { k.blocks = held; });
  if (schedule.getFamily() != Family::row || !domain.readsColumns)
    return varied;
  if (k.tiles > 1)
    vary([](ScheduleKnobs &k) { k.hoist = 1; });
  if (persists)
    vary([&](ScheduleKnobs &k) { k.blocks = held, k.hoist = 1; });
  return varied;
}

static int64_t blocksOf(ScheduleAttr schedule, const Domain &domain, const SpaceFacts &facts) {
  std::string message;
  return ceilDiv(facts.rows, schedule.getKnobs().rows) *
         tileOf(schedule, domain, message).segments();
}

bool eider::transforms::holds(ScheduleAttr cooperative, const Domain &domain,
                              const SpaceFacts &facts) {
  return facts.rows > 0 && facts.multiprocessors > 0 &&
         blocksOf(cooperative, domain, facts) <=
             cooperative.getKnobs().resident * facts.multiprocessors;
}

/// Cooperative kernels that hold a matrix of so many rows, those with the most blocks first: each
/// cut of it once.
static std::vector<ScheduleAttr> cooperativeSchedules(MLIRContext *context, const Domain &domain,
                                                      const SpaceFacts &facts) {
  std::vector<std::pair<int64_t, ScheduleAttr>> found;
  for (int64_t held : {8, 16, 32, 64, 128})
    for (int64_t block : {256, 512, 1024}) {
      ScheduleAttr schedule = cooperativeSchedule(context, domain, held, block);
      if (schedule && holds(schedule, domain, facts))
        found.emplace_back(blocksOf(schedule, domain, facts), schedule);
    }
  llvm::stable_sort(found, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<ScheduleAttr> schedules;
  for (auto [blocks, schedule] : found)
    if (!llvm::is_contained(schedules, schedule))
      schedules.push_back(schedule);
  return schedules;
}

/// Schedules of a product of matrices: how many warps share a sum, and how much they load at a
/// time; or how many warpgroups, in what clusters, alone or with as many more as fill a GPU.
static std::vector<ScheduleAttr> productSchedules(ScheduleAttr first, const Domain &domain,
                                                  const SpaceFacts &facts) {
  constexpr int64_t multiprocessors = 132, mostOfOne = 64, mostSplit = 16, usual = 4;
  std::vector<ScheduleAttr> schedules;
  // Of codes alone more are on their way.
  constexpr std::pair<int64_t, int64_t> ofCodes[] = {{0, 6}, {2, 4}, {2, 6}, {0, 4}, {0, 8}},
                                        decoded[] = {{0, 4}, {2, 3}, {0, 5}};
  const auto residences = domain.meetsCodes ? ArrayRef<std::pair<int64_t, int64_t>>(ofCodes)
                                            : ArrayRef<std::pair<int64_t, int64_t>>(decoded);
  const int64_t least =
      static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(first.getKnobs().rows)));
  auto byWarpgroups = [&](Warpgroups cut) {
    if (domain.byWarpgroups && cut.resident * cut.threads <= 512)
      schedules.push_back(warpgroupsOfProduct(first.getContext(), domain, cut));
  };
  for (int64_t threads : {512, 256, 128})
    for (int64_t cluster : {1, 2, 4, 8})
      for (auto [resident, prefetch] : residences) {
        byWarpgroups({threads, least, cluster, 1, resident, prefetch, domain.takesF16});
        if (domain.takesF16 && resident == 0 && prefetch == usual)
          byWarpgroups({threads, least, cluster, 1, resident, prefetch, false});
        const int64_t places = multiprocessors * std::max<int64_t>(1, resident),
                      blocks = tilesOfProduct(domain, threads / 2) * cluster,
                      split = std::min(mostSplit, places / std::max<int64_t>(1, blocks));
        if (facts.rows <= mostOfOne && cluster <= 2 && split > 1 && prefetch <= usual)
          byWarpgroups({threads, least, cluster, split, resident, prefetch, domain.takesF16});
      }
  const int64_t rows = first.getKnobs().rows;
  constexpr std::pair<int64_t, int64_t> stages[] = {{2, 4}, {2, 3}, {1, 4}, {2, 2}, {1, 3}, {4, 2}};
  for (int64_t split : {4, 8, 2, 1, 16})
    for (int64_t strips : {1, 2, 4, 8})
      for (int64_t each : {16, 32}) // columns of a warp
        for (auto [loads, prefetch] : stages) {
          ScheduleKnobs k{.threads = 32 * split * strips,
                          .vector = 1,
                          .rows = rows,
                          .loads = loads,
                          .columns = each * strips,
                          .split = split,
                          .prefetch = prefetch};
          while (k.vector < 8 && k.rows * k.columns % (2 * k.vector * k.threads) == 0)
            k.vector *= 2;
          if (k.threads >= 64 && k.threads <= 512)
            schedules.push_back(ScheduleAttr::get(first.getContext(), Family::contract, k));
        }
  return schedules;
}

/// Schedules of attention over a cache: how many warps share a multiprocessor, in which blocks, and
/// how much each has on its way. Where warps of a block share tokens, all of them do.
static std::vector<ScheduleAttr> decodeSchedules(ScheduleAttr first, const Domain &domain,
                                                 const SpaceFacts &facts) {
  std::vector<ScheduleAttr> schedules;
  const Attention &it = *domain.attends;
  // One number of blocks for each number of parts that a sequence's tokens are dealt to.
  const int64_t all = facts.rows * it.kvHeads * it.tiles();
  llvm::MapVector<int64_t, int64_t> blocksOfParts;
  for (int64_t blocks :
       {first.getKnobs().blocks, int64_t(128), int64_t(256), int64_t(512), int64_t(1024)})
    blocksOfParts.insert({all ? std::max<int64_t>(1, blocks / all) : blocks, blocks});
  for (int64_t threads : {64, 128, 256})
    for (int64_t resident : {1, 2, 4, 8})
      for (int64_t prefetch : {2, 3, 4, 6})
        for (auto [parts, blocks] : blocksOfParts)
          for (int64_t combine : {0, 1}) {
            const int64_t split = first.getKnobs().split > 1 ? threads / 32 : 1;
            const bool hasRegisters = // of a quarter of a head's sums, and as much of a query
                resident == 1 || split > 1 || resident * threads * it.headDim <= 4 * 128 * 128;
            if (combine <= it.isAlone && hasRegisters)
              schedules.push_back(ScheduleAttr::get(first.getContext(), Family::attention,
                                                    {.threads = threads,
                                                     .vector = 1,
                                                     .split = split,
                                                     .blocks = blocks,
                                                     .resident = resident,
                                                     .prefetch = prefetch,
                                                     .combine = combine}));
          }
  return schedules;
}

/// Schedules of attention of a sequence over itself: rows and tokens of a block, by warps or
/// warpgroups, with keys as codes or decoded.
static std::vector<ScheduleAttr> prefillSchedules(ScheduleAttr first, const Domain &domain) {
  std::vector<ScheduleAttr> schedules;
  for (int64_t threads : {128, 256, 384, 512})
    for (int64_t split : {1, 2})
      if (domain.prefills->byWarpgroups)
        schedules.push_back(warpgroupsOfPrefill(first.getContext(), threads, split));
  for (int64_t codes : {0, 1})
    for (int64_t threads : {64, 128, 256})
      for (int64_t split : {1, 2})
        for (int64_t ofWarp : {16, 32})
          for (int64_t columns : {32, 64, 128})
            for (int64_t resident : {1, 2})
              for (int64_t prefetch : {0, 1})
                schedules.push_back(ScheduleAttr::get(first.getContext(), Family::attention,
                                                      {.threads = threads,
                                                       .vector = 1,
                                                       .rows = threads / 32 / split * ofWarp,
                                                       .columns = columns,
                                                       .split = split,
                                                       .resident = resident,
                                                       .prefetch = prefetch,
                                                       .codes = codes}));
  return schedules;
}

/// All of those families whose spaces are no tables.
static std::vector<ScheduleAttr> listedSchedules(ScheduleAttr first, const Domain &domain,
                                                 const SpaceFacts &facts) {
  if (domain.products)
    return productSchedules(first, domain, facts);
  if (domain.attends)
    return decodeSchedules(first, domain, facts);
  return domain.prefills ? prefillSchedules(first, domain) : std::vector<ScheduleAttr>();
}

/// What the heuristic takes of more rows that are held or of fewer, where they are not few: which
/// of the two is faster from how many rows on differs by GPU.
static std::vector<ScheduleAttr> ofOtherRows(ScheduleAttr first, const Domain &domain,
                                             const SpaceFacts &facts) {
  const bool isFew = facts.rows > 0 && facts.rows <= fewRowsOf(domain);
  if (isFew || domain.contracts || someRowsOf(domain) == 0)
    return {};
  std::vector<ScheduleAttr> schedules;
  for (int64_t mostRows : {someRowsOf(domain), int64_t(0)}) {
    std::string message;
    if (ScheduleAttr other = heuristicSchedule(first.getContext(), domain, mostRows, message))
      schedules.push_back(other);
  }
  return schedules;
}

/// How many knobs are others than the heuristic's: what no model knows is tried near that.
static double distance(const ScheduleKnobs &a, const ScheduleKnobs &b) {
  return static_cast<double>(llvm::count_if(
      scheduleKnobs, [&](const ScheduleKnob &knob) { return a.*knob.value != b.*knob.value; }));
}

std::vector<ScheduleOption> eider::transforms::scheduleSpace(ScheduleAttr first,
                                                             const Domain &domain,
                                                             const SpaceFacts &facts) {
  std::string message;
  std::vector<ScheduleOption> worthwhile, pruned;
  llvm::DenseSet<Attribute> seen = {first};
  // Of warpgroups, beside the best of them; of warps' products no model knows the rest.
  double least = 0;
  const std::vector<ScheduleAttr> listed = listedSchedules(first, domain, facts);
  for (ScheduleAttr schedule : listed)
    if (domain.products && schedule.getKnobs().warpgroups && tileOf(schedule, domain, message))
      if (double stages = stagesOfProduct(schedule.getKnobs(), domain); !least || stages < least)
        least = stages;
  auto costFor = [&](ScheduleAttr schedule, const Estimate &e) {
    if (attends(domain))
      return 1 + 0.1 * distance(schedule.getKnobs(), first.getKnobs());
    return schedule.getKnobs().warpgroups && domain.products
               ? stagesOfProduct(schedule.getKnobs(), domain) / least
               : costOf(e, domain, facts);
  };
  auto option = [&](ScheduleAttr schedule) -> std::optional<ScheduleOption> {
    TileAttr tile = tileOf(schedule, domain, message);
    if (!tile || !seen.insert(schedule).second)
      return std::nullopt;
    Estimate e = estimate(schedule, tile, domain, facts);
    const double cost = costFor(schedule, e);
    const bool idles = domain.products && schedule.getKnobs().warpgroups && cost > mostIdle;
    return ScheduleOption{schedule, false, cost,
                          idles ? "clusters that leave multiprocessors idle"
                                : pruning(schedule, tile, e, domain, facts)};
  };
  auto note = [&](ScheduleAttr schedule) {
    if (auto one = option(schedule))
      (one->pruned.empty() ? worthwhile : pruned).push_back(std::move(*one));
  };
  const Estimate ofFirst = estimate(first, tileOf(first, domain, message), domain, facts);
  std::vector<ScheduleOption> all = {{first, true, costFor(first, ofFirst), ""}};
  // By name first: what is tried near the front is not left to its place among the rest.
  for (ScheduleAttr schedule : cooperativeSchedules(first.getContext(), domain, facts))
    if (auto one = option(schedule); one && all.size() <= mostCooperative) {
      one->pruned.clear(); // by rules for tiles that come and go
      all.push_back(std::move(*one));
    }
  for (ScheduleAttr schedule : ofOtherRows(first, domain, facts))
    if (auto one = option(schedule)) {
      one->pruned.clear(); // its rules know more than the model's
      all.push_back(std::move(*one));
    }
  const FamilySpace *space = llvm::find_if(
      spaces, [&](const FamilySpace &space) { return space.family == first.getFamily(); });
  if (space != std::end(spaces))
    forEach(first.getContext(), *space, domain, note);
  else
    llvm::for_each(listed, note);
  spreadOut(worthwhile, first);
  auto take = [&](size_t count) {
    const auto end = worthwhile.begin() + std::min(count, worthwhile.size());
    std::move(worthwhile.begin(), end, std::back_inserter(all));
    worthwhile.erase(worthwhile.begin(), end);
  };
  take(cutsBeforeVariations - (all.size() - 1));
  for (size_t i = 0; i < std::min<size_t>(all.size(), variedCuts); ++i) {
    ScheduleAttr schedule = all[i].schedule;
    const Estimate e = estimate(schedule, tileOf(schedule, domain, message), domain, facts);
    for (ScheduleAttr varied : variations(schedule, e, domain, facts))
      if (auto one = option(varied); one && one->pruned.empty())
        all.push_back(std::move(*one));
  }
  take(worthwhile.size());
  llvm::append_range(all, pruned);
  return all;
}
