//===- Space.cpp - The schedules worth measuring --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Space.h"

#include "compiler/transforms/Heuristic.h"
#include "llvm/ADT/DenseSet.h"
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
  std::vector<int64_t> rows;  ///< 0: the block's.
  std::vector<int64_t> loads; ///< 0: what a row needs.
  std::vector<int64_t> tiles;
  std::vector<int64_t> residentThreads; ///< That `resident` blocks have together; 0: no bound.
  std::vector<int64_t> prefetch;        ///< Only where a block has several tiles.
};

/// What the model holds schedules to.
constexpr int64_t registersOfMultiprocessor = 65536, threadsOfMultiprocessor = 2048,
                  fixedRegisters = 24, mostElements = 64, narrowestStoreBytes = 8,
                  bytesInFlight = 32 * 1024;
constexpr double mostWaste = 1.25;
} // namespace

static const FamilySpace spaces[] = {
    {Family::map,
     {1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 256, 384, 512},
     {4, 8, 16},
     {1, 2, 4, 8, 16, 32, 64},
     {1, 2, 4},
     {1, 2},
     {0, 1536, 2048},
     {0}},
    {Family::row,
     {1,   2,   4,   8,   16,  32,  64,  96,  128, 160, 192, 224, 256,
      320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024},
     {4, 8, 16},
     {1, 2, 4, 8, 16, 32, 64},
     {0},
     {1, 2, 3, 4},
     {0, 512, 768, 1024, 1280, 1536},
     {0, 1}},
    {Family::tile,
     {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
     {4, 8, 16},
     {0},
     {0},
     {1, 2},
     {0, 1024, 1536, 2048},
     {0}},
};

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t blockThreads(ScheduleAttr schedule, TileAttr tile) {
  return schedule.getThreads() * (tile.getKind() == TileKind::row ? schedule.getRows() : 1);
}

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
  const int64_t width = std::max<int64_t>(domain.width, 1);
  const bool isRow = tile.getKind() == TileKind::row;
  e.block = blockThreads(schedule, tile);
  e.elements = tile.getLoads() * schedule.getVector();
  // What is loaded ahead is still as narrow as in memory.
  e.registers = fixedRegisters + e.elements + schedule.getPrefetch() * e.elements / 2;
  e.store = schedule.getVector() * domain.narrowestStore;
  const int64_t covered = isRow ? schedule.getThreads() * e.elements : schedule.getColumns();
  const int64_t segments = ceilDiv(width, covered);
  e.waste = double(segments) * double(covered) / double(width);
  if (facts.rows)
    e.blocks = ceilDiv(ceilDiv(facts.rows, schedule.getRows()) * segments, schedule.getTiles());
  e.blocksResident = schedule.getResident()
                         ? schedule.getResident()
                         : std::min(threadsOfMultiprocessor / e.block,
                                    registersOfMultiprocessor / (e.registers * e.block));
  e.blocksResident = std::max<int64_t>(1, e.blocksResident);
  return e;
}

/// Why a schedule is not worth measuring; empty: it is.
static std::string pruning(ScheduleAttr schedule, const Estimate &e, const Domain &domain,
                           const SpaceFacts &facts) {
  if (e.elements > mostElements)
    return "more than " + std::to_string(mostElements) + " elements a thread: long text, spills";
  if (e.store < std::min<int64_t>(narrowestStoreBytes, domain.width * domain.narrowestStore) &&
      domain.rowAligned)
    return "stores of less than " + std::to_string(narrowestStoreBytes) + " bytes a thread";
  if (schedule.getResident() &&
      registersOfMultiprocessor / (schedule.getResident() * e.block) < e.registers)
    return "as many resident blocks leave too few registers for a thread's elements";
  if (e.waste > mostWaste && schedule.getThreads() > 1)
    return "more than a fifth of the threads' work lies past the row's end";
  if (e.block < 64 && facts.rows * domain.width > 4096)
    return "blocks of less than two warps";
  if (schedule.getTiles() > 1 && facts.multiprocessors && e.blocks < 2 * facts.multiprocessors)
    return "several tiles a block leave less than two blocks a multiprocessor";
  if (schedule.getResident() && facts.multiprocessors &&
      e.blocks < schedule.getResident() * facts.multiprocessors)
    return "fewer blocks than would be resident: nothing to bound registers for";
  if (schedule.getRows() > 1 && e.block > 256 && !domain.block.isBlock())
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
                        double(std::max<int64_t>(1, domain.bytesRead));
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
  std::map<std::pair<int64_t, int64_t>, int64_t> cuts, loops;
  std::map<bool, int64_t> residences;
  auto cut = [](ScheduleAttr s) { return std::pair(s.getThreads(), s.getVector()); };
  auto loop = [](ScheduleAttr s) { return std::pair(s.getLoads(), s.getTiles()); };
  auto note = [&](ScheduleAttr s) {
    ++cuts[cut(s)];
    ++loops[loop(s)];
    ++residences[s.getResident() != 0];
  };
  note(heuristic);
  for (auto next = options.begin(); next != options.end() && next - options.begin() < int64_t(most);
       ++next) {
    auto handicapped = [&](const ScheduleOption &option) {
      ScheduleAttr s = option.schedule;
      return option.cost * (1 + sameCut * double(cuts[cut(s)]) + sameLoop * double(loops[loop(s)]) +
                            sameResidence * double(residences[s.getResident() != 0]));
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

namespace {
/// One value for each knob.
struct Knobs {
  int64_t threads, vector, rows, loads, tiles, residentThreads, prefetch;
};
} // namespace

/// Whether a combination can be worth a second look; the rest is what `tileOf` and the model say.
static bool plausible(const Knobs &k, const Domain &domain) {
  const int64_t block = k.threads * std::max<int64_t>(k.rows, 1);
  if (block > 1024 || (k.residentThreads && k.residentThreads / block < 2))
    return false;
  if (k.prefetch && k.tiles == 1) // there is no next tile to load ahead
    return false;
  return k.threads == 1 || k.threads * k.vector < 2 * domain.width || domain.block.isBlock();
}

/// A combination as a schedule; null if it is none.
static ScheduleAttr scheduleOf(MLIRContext *context, Family family, const Knobs &k,
                               const Domain &domain) {
  const int64_t block = k.threads * std::max<int64_t>(k.rows, 1);
  std::string text = stringifyFamily(family).str() + "<threads = " + std::to_string(k.threads) +
                     ", vector = " + std::to_string(k.vector);
  auto add = [&](const char *name, int64_t value) {
    if (value)
      text += std::string(", ") + name + " = " + std::to_string(value);
  };
  add("rows", family == Family::tile ? domain.block.blockRows : k.rows);
  add("loads", k.loads);
  add("columns", family == Family::tile ? domain.block.blockColumns : 0);
  add("tiles", k.tiles);
  add("resident", k.residentThreads / block);
  add("prefetch", k.prefetch);
  std::string message;
  return ScheduleAttr::parse(context, text + ">", message);
}

/// Calls `visit` with each schedule of a family that can be worth a look.
template <class Visit>
static void forEach(MLIRContext *context, const FamilySpace &space, const Domain &domain,
                    Visit visit) {
  for (int64_t vector : llvm::reverse(space.vector))
    for (int64_t threads : llvm::reverse(space.threads))
      for (int64_t rows : space.rows)
        for (int64_t loads : space.loads)
          for (int64_t tiles : space.tiles)
            for (int64_t bound : space.residentThreads)
              for (int64_t prefetch : space.prefetch)
                if (Knobs k{threads, vector, rows, loads, tiles, bound, prefetch};
                    plausible(k, domain))
                  if (ScheduleAttr schedule = scheduleOf(context, space.family, k, domain))
                    visit(schedule, prefetch);
}

std::vector<ScheduleOption> eider::transforms::scheduleSpace(MLIRContext *context,
                                                             const Domain &domain,
                                                             const SpaceFacts &facts) {
  std::string message;
  ScheduleAttr first = heuristicSchedule(context, domain, message);
  if (!first)
    return {};
  std::vector<ScheduleOption> worthwhile, pruned;
  llvm::DenseSet<Attribute> seen = {first};
  auto add = [&](ScheduleAttr schedule, int64_t prefetch) {
    TileAttr tile = tileOf(schedule, domain, message);
    if (!tile || !seen.insert(schedule).second)
      return;
    Estimate e = estimate(schedule, tile, domain, facts);
    // What is loaded ahead waits in registers as it lies in memory.
    e.registers += prefetch * e.elements * domain.bytesRead / 4;
    ScheduleOption option{schedule, false, costOf(e, domain, facts),
                          pruning(schedule, e, domain, facts)};
    (option.pruned.empty() ? worthwhile : pruned).push_back(std::move(option));
  };
  const FamilySpace *space = llvm::find_if(
      spaces, [&](const FamilySpace &space) { return space.family == first.getFamily(); });
  if (space != std::end(spaces))
    forEach(context, *space, domain, add);
  spreadOut(worthwhile, first);
  std::vector<ScheduleOption> all;
  TileAttr tile = tileOf(first, domain, message);
  all.push_back({first, true, costOf(estimate(first, tile, domain, facts), domain, facts), ""});
  llvm::append_range(all, worthwhile);
  llvm::append_range(all, pruned);
  return all;
}
