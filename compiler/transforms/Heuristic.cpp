//===- Heuristic.cpp - A good schedule at once ----------------------------===//
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
using eider::simt::TileAttr;
using eider::simt::TileKind;

/// A row longer than this does not fit the registers of one block (64 floats a thread).
static constexpr int64_t longestRow = 1024 * 64;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

FamilyChoice eider::transforms::familyOf(const Domain &domain) {
  if (domain.block.isBlock())
    return {Family::tile, "a reduction over two-dimensional blocks"};
  if (domain.reducesRows)
    return {Family::row, "a reduction along whole rows: the row stays in registers"};
  return {Family::map,
          domain.group ? "reductions over neighbours in a row only" : "elementwise: no reduction"};
}

/// Threads that a tile may have side by side: a power of two up to 32, then whole warps.
static int64_t legalThreads(int64_t wanted) {
  return wanted <= 32 ? static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(wanted, 1)))
                      : ceilDiv(wanted, 32) * 32;
}

/// Chunks of `vector` that cover a row, spread over at most `most` threads; exact covers preferred.
static std::pair<int64_t, int64_t> spreadRow(int64_t chunks, int64_t most) {
  int64_t loads = ceilDiv(chunks, most);
  int64_t threads = legalThreads(ceilDiv(chunks, loads));
  for (int64_t more = loads; more <= loads + 2; ++more)
    if (chunks % more == 0 && legalThreads(chunks / more) == chunks / more)
      return {chunks / more, more};
  return {threads, loads};
}

/// Threads of a segment of a row of `chunks`: few, and with little of the last segment empty.
static int64_t segmentThreads(int64_t chunks, int64_t lanes) {
  if (chunks <= 64)
    return legalThreads(std::max(chunks, lanes));
  int64_t best = 128;
  for (int64_t threads : {256, 64, 192, 224, 160, 96}) // powers of two share out evenly
    if (ceilDiv(chunks, threads) * threads < ceilDiv(chunks, best) * best)
      best = threads;
  return best;
}

static ScheduleAttr blockSchedule(MLIRContext *context, const Domain &domain,
                                  std::string &message) {
  int64_t rows = domain.block.blockRows, columns = domain.block.blockColumns;
  int64_t vector = std::min<int64_t>(16, columns & -columns);
  int64_t chunks = rows * columns / vector;
  for (int64_t threads = std::min<int64_t>(chunks > 2048 ? 1024 : 256, chunks); threads >= 1;
       --threads)
    if (chunks % threads == 0 && legalThreads(threads) == threads &&
        chunks / threads * vector <= 128 && threads % (columns / vector) == 0)
      return ScheduleAttr::get(context, Family::tile, threads, vector, rows, 0, columns, 1, 0, 0);
  message = "blocks of " + std::to_string(rows) + "x" + std::to_string(columns) +
            " cannot be dealt to a block's threads evenly; take extents that are powers of two, at "
            "most 16384 columns and 131072 elements together";
  return {};
}

/// Where registers have room for a row that is loaded ahead: one narrow matrix, in rows that a few
/// warps hold evenly, two or four chunks a thread. Null elsewhere.
static ScheduleAttr aheadSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                  int64_t chunks) {
  if (domain.bytesRead != 2 || vector != 16 || chunks * vector != domain.width ||
      !llvm::isPowerOf2_64(chunks) || chunks < 64 || chunks > 1024)
    return {};
  const int64_t threads = std::max<int64_t>(32, chunks / 4);
  const int64_t resident = (chunks / threads == 4 ? 512 : 768) / threads;
  return ScheduleAttr::get(context, Family::row, threads, vector, 1, 0, 0, /*tiles=*/4, resident,
                           /*prefetch=*/1);
}

ScheduleAttr eider::transforms::heuristicSchedule(MLIRContext *context, const Domain &domain,
                                                  std::string &message) {
  Family family = familyOf(domain).family;
  if (family == Family::tile)
    return blockSchedule(context, domain, message);
  if (family == Family::row && domain.width > longestRow) {
    message = "rows of " + std::to_string(domain.width) +
              " elements: a reduction along a row holds the row in registers, at most " +
              std::to_string(longestRow);
    return {};
  }
  // 16 bytes a store: 16 codes, 8 bf16. Where rows begin anywhere, elements move one by one, and
  // neighbouring threads should be near each other.
  const int64_t wanted = domain.rowAligned ? 16 / domain.narrowestStore
                         : family == Family::map && domain.width % 8 == 0 ? 16
                         : family == Family::map                          ? 8
                                                                          : 4;
  const int64_t vector = std::max<int64_t>(domain.group / 32, wanted);
  int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  int64_t lanes = domain.group ? std::max<int64_t>(1, domain.group / vector) : 1;
  if (family == Family::map) {
    // Short text, and many loads in flight by many small blocks. Arithmetic encoders want larger
    // ones, two tiles in turn.
    int64_t loads = vector >= 16 ? 1 : 2;
    int64_t threads = segmentThreads(ceilDiv(chunks, loads), lanes);
    int64_t tiles = domain.encodesBySoftware ? 2 : 1;
    if (domain.encodesBySoftware && chunks % 256 == 0)
      threads = 256;
    return ScheduleAttr::get(context, family, threads, vector, std::max<int64_t>(1, 128 / threads),
                             loads, 0, tiles, 0, 0);
  }
  if (ScheduleAttr ahead = aheadSchedule(context, domain, vector, chunks))
    return ahead;
  int64_t most = domain.width > 32768                                ? 1024
                 : domain.width > (domain.rowAligned ? 8192 : 16384) ? 512
                                                                     : 256;
  auto [threads, loads] = spreadRow(chunks, most);
  threads = std::max(threads, legalThreads(lanes));
  int64_t rows = threads <= 32 ? 256 / threads : 1;
  // One matrix to read leaves room for the registers of 1280 threads a multiprocessor (1024 where
  // codes are made by arithmetic), and some rows a block hide a block's start.
  bool light = domain.matricesRead == 1 && threads >= 64 && threads * vector * 2 >= domain.width;
  int64_t tiles = !light ? 1 : domain.encodesBySoftware ? 4 : 3;
  int64_t resident = !light ? 0 : (domain.encodesBySoftware ? 1024 : 1280) / threads;
  return ScheduleAttr::get(context, family, threads, vector, rows, 0, 0, tiles, resident, 0);
}

TileAttr eider::transforms::tileOf(ScheduleAttr schedule, const Domain &domain,
                                   std::string &message) {
  Family needed = familyOf(domain).family;
  MLIRContext *context = schedule.getContext();
  auto refuse = [&](const std::string &why) {
    message = "schedule " + schedule.str() + ": " + why;
    return TileAttr();
  };
  if (schedule.getFamily() != needed)
    return refuse("the program needs family " + stringifyFamily(needed).str() + " (" +
                  familyOf(domain).reason + ")");
  int64_t threads = schedule.getThreads(), vector = schedule.getVector(), rows = schedule.getRows();
  int64_t width = std::max<int64_t>(domain.width, 1);
  int64_t loads = schedule.getLoads() ? schedule.getLoads() : ceilDiv(width, threads * vector);
  int64_t columns = std::min(width, threads * vector * loads);
  TileKind kind = TileKind::row;
  if (needed == Family::tile) {
    kind = TileKind::block;
    columns = schedule.getColumns();
    if (rows != domain.block.blockRows || columns != domain.block.blockColumns)
      return refuse("rows and columns must be the block's, " +
                    std::to_string(domain.block.blockRows) + " and " +
                    std::to_string(domain.block.blockColumns));
    loads = rows * columns / std::max<int64_t>(1, threads * vector);
    if (columns % vector != 0 || threads % (columns / vector) != 0)
      return refuse("threads must be a multiple of the " + std::to_string(columns / vector) +
                    " vectors of a block's row");
  }
  if (needed == Family::row && columns < width)
    return refuse("a reduction along the row needs the whole row in a tile");
  if (needed == Family::row && rows > 1 && threads > 32)
    return refuse("several rows a block need at most 32 threads a row");
  if (schedule.getResident() * threads * (kind == TileKind::row ? rows : 1) > 2048)
    return refuse("a multiprocessor holds at most 2048 threads");
  if (schedule.getPrefetch() > 1)
    return refuse("at most one tile is loaded ahead");
  if (schedule.getPrefetch() && (needed != Family::row || rows != 1))
    return refuse("a tile is loaded ahead where it is one whole row that is reduced");
  if (loads * vector > 128)
    return refuse("a thread would hold " + std::to_string(loads * vector) +
                  " elements; at most 128");
  if (domain.group && (domain.group > vector * 32 || (threads * vector) % domain.group != 0))
    return refuse("a group of " + std::to_string(domain.group) +
                  " must divide threads × vector and fit a warp");
  std::string reason;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reason = diagnostic.str();
    return success();
  });
  auto tile = TileAttr::getChecked([&] { return emitError(UnknownLoc::get(context)); }, context,
                                   kind, threads, vector, rows, columns, loads, width);
  return tile ? tile : refuse(reason);
}
