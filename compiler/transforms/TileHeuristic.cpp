//===- TileHeuristic.cpp - Blocks and transposes, at once -----------------===//
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

static std::string tooSmallFor(const Domain &domain, const std::string &blocks) {
  return blocks + " are too small for the " + std::to_string(domain.group) +
         " neighbours that share a scale of what is read; take blocks of more columns";
}

static ScheduleAttr blockSchedule(MLIRContext *context, const Domain &domain,
                                  std::string &message) {
  int64_t rows = domain.block.blockRows, columns = domain.block.blockColumns;
  int64_t vector = std::min<int64_t>(16, columns & -columns);
  int64_t chunks = rows * columns / vector;
  if (domain.reducedGroup > columns) {
    message = "groups of " + std::to_string(domain.reducedGroup) +
              " neighbours reach over blocks of " + std::to_string(rows) + "x" +
              std::to_string(columns) +
              ", which one kernel reduces beside them; take blocks of at least as many columns";
    return {};
  }
  if (domain.packs && vector % 2 != 0) {
    message = "blocks of " + std::to_string(rows) + "x" + std::to_string(columns) +
              " end within a byte of two codes; take blocks of an even number of columns";
    return {};
  }
  // After arithmetic more threads have shorter chunks each, of a square in two blocks.
  constexpr int64_t side = 128, shorter = 8, many = 512, works = 4;
  if (rows == side && columns == side && domain.arithmetic >= works && domain.matricesRead == 1 &&
      domain.bitsRead == 16 && domain.narrowestStore == 8 && domain.matricesWritten == 1 &&
      !domain.combinesParts() && !domain.draws && !domain.group && domain.width % shorter == 0)
    return ScheduleAttr::get(
        context, Family::tile,
        {.threads = many, .vector = shorter, .rows = rows, .columns = columns, .resident = 2});
  for (int64_t threads = std::min<int64_t>(chunks > 2048 ? 1024 : 256, chunks); threads >= 1;
       --threads)
    if (chunks % threads == 0 && legalThreads(threads) == threads &&
        chunks / threads * vector <= 128 && threads % (columns / vector) == 0 &&
        (!domain.group || (domain.group <= 32 * vector && threads * vector % domain.group == 0)))
      return ScheduleAttr::get(
          context, Family::tile,
          {.threads = threads, .vector = vector, .rows = rows, .columns = columns});
  const std::string blocks = "blocks of " + std::to_string(rows) + "x" + std::to_string(columns);
  if (domain.group > std::min(rows * columns, 32 * vector)) {
    message = tooSmallFor(domain, blocks);
    return {};
  }
  message = blocks +
            " cannot be dealt to a block's threads evenly; take extents that are powers of two, at "
            "most 16384 columns and 131072 elements together";
  return {};
}

/// A block that is transposed: in rows and columns it has whole lines of memory and whole groups;
/// many threads have few elements each, so that many loads are in flight; more of codes, which need
/// few registers in both orders.
static ScheduleAttr transposeSchedule(MLIRContext *context, const Domain &domain,
                                      std::string &message) {
  constexpr int64_t side = 128, largestGroup = 256;
  // What is computed of wide elements is turned as floats, or their registers are as many.
  const bool isWide = domain.bytesTurned == 4 || domain.bitsRead > 16;
  if (domain.group > largestGroup) {
    message = "blocks of 1x" + std::to_string(domain.group) +
              " of a matrix and its transpose: a square of both does not fit the registers of a "
              "block of threads; take at most 1x" +
              std::to_string(largestGroup);
    return {};
  }
  const int64_t vector = std::max<int64_t>(4, 128 / domain.narrowestStore);
  // Of blocks whose chunks the width would cut, chunks are half as long, and not carried.
  const Level &block = domain.block;
  const bool isCut = block.isBlock() && domain.width % vector != 0;
  const bool works = domain.arithmetic >= 4, copies = domain.matricesWritten > 2;
  // Codes of one scale in both orders, of 16-bit values and nothing beside them.
  const int64_t bits = domain.bitsRead / std::max<int64_t>(1, domain.matricesRead);
  const bool isOfCodes = domain.bytesTurned == 1 && bits == 16 && block.isBlock() && !isCut &&
                         !copies && (works || !domain.readsColumns);
  const bool isMuch = isWide || (works && copies);
  const int64_t elements = domain.bytesTurned == 1 && !isMuch && !isCut ? 64 : 32;
  const int64_t width = llvm::PowerOf2Ceil(std::max<int64_t>(domain.width, 1));
  const int64_t most = std::max(side, domain.group);
  constexpr int64_t ofWarp = 32 * 4; // elements: a block has no fewer
  int64_t rows = domain.mostRows ? domain.mostRows : most,
          columns = std::clamp(width, std::max({domain.group, vector, ofWarp / rows}), most);
  if (block.isBlock()) {
    rows = block.blockRows;
    columns = block.blockColumns;
  }
  const std::string blocks = "blocks of " + std::to_string(rows) + "x" + std::to_string(columns);
  if (domain.groupDown() > rows || domain.group > columns) {
    message = tooSmallFor(domain, blocks);
    return {};
  }
  if (!llvm::isPowerOf2_64(rows) || !llvm::isPowerOf2_64(columns) || rows < vector ||
      columns < vector || rows > 512 || rows * columns > 1024 * 64) {
    message = blocks + " cannot be transposed; take powers of two of at least " +
              std::to_string(vector) + ", at most 512 rows and 65536 elements together";
    return {};
  }
  // Few rows of the transpose begin anywhere and are short: each thread has as little as it may, or
  // a square that it turns by itself; a quarter of them meet for a block's value, too.
  if (domain.mostRows) {
    const bool isQuarter = block.isBlock() || domain.turnsSquares();
    const int64_t least = std::max<int64_t>(4, domain.group / 32), chunks = rows * columns / least;
    return ScheduleAttr::get(
        context, Family::tile,
        {.threads = std::clamp<int64_t>(isQuarter ? chunks / 4 : chunks, 32, 1024),
         .vector = least,
         .rows = rows,
         .columns = columns});
  }
  const int64_t threads = std::clamp(rows * columns / std::max(elements, vector),
                                     std::max(rows, columns) / vector, int64_t(1024));
  // While one block waits for its threads to meet, another loads; or the next tile is loaded
  // meanwhile, where that leaves registers.
  constexpr int64_t mostResident = 8;
  const int64_t held = isOfCodes && !isWide ? 768 : 1024;
  const int64_t carried = rows * columns / threads * domain.bitsRead / 32; // registers
  const bool fits = threads <= 512 && carried <= 32;
  // What is computed before it is turned needs the registers itself. Beside a copy, codes of it go
  // in short chunks, as wide elements do, and so do those of blocks that the width cuts, or of f32.
  const bool isShort = works && (copies || (block.isBlock() && !isOfCodes));
  const int64_t turned = isShort && block.isBlock() && copies ? 4
                         : isShort || isCut                   ? vector / 2
                                                              : vector;
  const bool ahead = fits && domain.reducesGroups &&
                     (block.isBlock() ? domain.bytesTurned == 1 && !works && !isCut && !isOfCodes
                                      : isWide && !works && domain.matricesRead > 1);
  return ScheduleAttr::get(
      context, Family::tile,
      {.threads = threads,
       .vector = std::max({std::min<int64_t>(4, vector), domain.group / 32, turned}),
       .rows = rows,
       .columns = columns,
       .tiles = ahead ? 2 : 1,
       .resident = !ahead && threads < held ? std::min(held / threads, mostResident) : 0,
       .prefetch = ahead});
}

ScheduleAttr eider::transforms::tileSchedule(MLIRContext *context, const Domain &domain,
                                             std::string &message) {
  return domain.transposes ? transposeSchedule(context, domain, message)
                           : blockSchedule(context, domain, message);
}

ScheduleAttr eider::transforms::tallerSchedule(ScheduleAttr schedule, const Domain &domain) {
  constexpr int64_t side = 128, sector = 32, bytes = 2, ofCodes = 8;
  ScheduleKnobs k = schedule.getKnobs();
  if (schedule.getFamily() != Family::tile || !domain.transposes || domain.block.isBlock() ||
      domain.bytesTurned != bytes || domain.matricesRead != 1 || domain.width % sector != 0 ||
      domain.group != side || domain.narrowestStore != ofCodes || domain.arithmetic > 0 ||
      k.rows != side || k.columns != side || k.prefetch)
    return {};
  k.rows *= 2;
  k.threads *= 2;
  k.resident = 0;
  auto taller = ScheduleAttr::get(schedule.getContext(), Family::tile, k);
  std::string message;
  return tileOf(taller, domain, message) ? taller : ScheduleAttr();
}

int64_t eider::transforms::largeRowsOf(const Domain &domain) {
  constexpr int64_t elements = 40'000'000; // timed: 49 million gain, 17 million lose
  return ceilDiv(elements, std::max<int64_t>(1, domain.width));
}
