//===- HeldRows.cpp - Rows that one block holds, by a table --------------===//
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

namespace {
/// Programs whose rows are reduced, by what they read, give and reduce.
enum class Reduced {
  plain,        ///< One matrix and no vector of columns; values.
  masked,       ///< The same, some of it hidden by where it lies;
  maskedCodes,  ///< codes.
  plainCodes,   ///< Codes of a byte with scales of groups, after a maximum and a sum.
  norm,         ///< With such vectors, reduced once;
  normTwice,    ///< more often.
  codes,        ///< Norms that become codes of a byte, with scales of groups, after one sum,
  codesTwice,   ///< two,
  rowCodes,     ///< or one, with a scale of the row;
  wideCodes,    ///< any of these in wide rows;
  drawnCodes,   ///< by random bits, of groups of 128, after one sum;
  packedCodes,  ///< others after one sum, two to a byte,
  muchCodes,    ///< and of groups by arithmetic,
  muchTwice,    ///< or after two.
  copied,       ///< Codes and a copy of what they are made of.
  copiedPowers, ///< By scales that are powers of two, where some are clamped: 64 registers spill.
  copiedTwice,  ///< After two sums.
  added,        ///< A norm of two matrices.
  addedTwice,
  addedCodes, ///< The same, codes, after one sum;
  addedRows,  ///< with a scale of the row, whose maximum is a reduction more.
  other
};
enum class Width { power, between, anyWidth }; ///< Whether it is a power of two.
enum class Bits { narrow, wide };              ///< 16 an element that is read, or more.
enum class Lanes { block, warp, folded };      ///< Whose chunks lie side by side.

/// How rows of some widths are held. `each`: elements of a thread; 0: as 256 threads have them; of
/// a single width the last threads may have none. `held`: threads of all resident blocks; 0:
/// `resident` blocks, of which 0 is no bound.
struct HeldRow {
  Reduced what;
  Width width;
  int64_t from, to;
  Bits bits;
  int64_t each, vector;
  Lanes lanes;
  int64_t tiles, held, resident, prefetch, bulk;
};

using enum Reduced;
using enum Width;
using enum Bits;
using enum Lanes;

/// As they were measured on an H200, or, where the comment says so, on an H100
/// (docs/design/schedules.md); the first that is legal counts.
constexpr HeldRow heldRows[] = {
    // what, width, from, to, bits, each, vector, lanes, tiles, held, resident, prefetch, bulk
    {plain, between, 2880, 2880, narrow, 24, 8, block, 2, 0, 10, 0, 0},
    {plain, between, 5376, 5376, narrow, 24, 8, warp, 2, 0, 4, 0, 1},
    {plain, power, 4096, 8192, narrow, 32, 8, warp, 1, 1024, 0, 0, 1},
    {plain, power, 16384, 16384, narrow, 0, 8, warp, 2, 0, 0, 0, 1},
    {plain, power, 4096, 8192, wide, 32, 8, block, 1, 1024, 0, 0, 1},
    {plain, between, 5120, 7168, narrow, 32, 8, warp, 1, 960, 0, 0, 1},
    {masked, power, 4096, 8192, narrow, 32, 8, warp, 2, 1024, 0, 0, 1},
    {masked, power, 4096, 8192, wide, 32, 8, block, 2, 1024, 0, 0, 1},
    {masked, between, 5120, 5120, narrow, 32, 8, warp, 2, 960, 0, 0, 1},
    {masked, between, 7168, 7168, narrow, 32, 8, warp, 2, 960, 0, 0, 1},
    {masked, power, 16384, 16384, narrow, 32, 8, warp, 2, 1024, 0, 0, 0},
    {maskedCodes, power, 4096, 8192, narrow, 64, 16, warp, 2, 512, 0, 1, 0},
    {maskedCodes, power, 4096, 8192, narrow, 32, 16, folded, 2, 1024, 0, 1, 0},
    {maskedCodes, between, 7168, 7168, narrow, 32, 16, warp, 2, 960, 0, 1, 0},
    {plainCodes, between, 2560, 2560, narrow, 40, 8, block, 4, 0, 12, 1, 0},
    {plainCodes, between, 3584, 3584, narrow, 56, 8, block, 3, 0, 14, 0, 0},
    {plainCodes, power, 4096, 4096, narrow, 32, 16, block, 4, 0, 8, 1, 0},
    {plainCodes, between, 5376, 5376, narrow, 24, 8, block, 4, 0, 5, 1, 0},
    {plainCodes, between, 10240, 10240, narrow, 40, 8, block, 4, 0, 3, 1, 0},
    {plainCodes, between, 13824, 13824, narrow, 48, 16, block, 3, 0, 3, 0, 0},
    {plainCodes, between, 18432, 18432, narrow, 96, 16, folded, 4, 0, 2, 1, 0},
    {norm, between, 2880, 2880, narrow, 16, 8, block, 2, 0, 8, 0, 0},
    {norm, between, 3584, 3584, narrow, 24, 8, block, 2, 0, 8, 0, 0},
    {norm, between, 4608, 4608, narrow, 24, 8, warp, 1, 0, 5, 0, 1},
    {norm, between, 11008, 11008, narrow, 32, 8, block, 2, 0, 3, 0, 0},
    {norm, between, 13824, 13824, narrow, 48, 8, warp, 1, 0, 3, 0, 1},
    {norm, between, 18432, 18432, narrow, 48, 8, warp, 2, 0, 2, 0, 1},
    {norm, between, 24576, 24576, narrow, 48, 8, block, 4, 0, 1, 1, 0},
    {norm, between, 28672, 28672, narrow, 56, 8, block, 4, 0, 1, 1, 0},
    {norm, power, 4096, 4096, narrow, 32, 8, block, 1, 1024, 0, 0, 0},
    {norm, between, 5120, 7168, narrow, 32, 8, warp, 1, 960, 0, 0, 1},
    {norm, power, 8192, 8192, narrow, 32, 8, warp, 1, 1024, 0, 0, 1},
    {norm, power, 8192, 8192, wide, 32, 8, warp, 1, 768, 0, 0, 1},
    {norm, anyWidth, 9216, 16384, narrow, 32, 8, warp, 2, 1024, 0, 0, 1},
    {norm, anyWidth, 9216, 16384, narrow, 32, 8, block, 2, 1024, 0, 0, 0},
    {normTwice, power, 2048, 2048, narrow, 16, 8, block, 2, 0, 12, 0, 0},
    {normTwice, between, 2880, 2880, narrow, 16, 8, block, 2, 0, 8, 0, 0},
    {normTwice, between, 3072, 3072, narrow, 16, 8, block, 2, 0, 8, 0, 0},
    {normTwice, between, 3584, 3584, narrow, 16, 8, block, 4, 0, 5, 1, 0},
    {normTwice, between, 4608, 4608, narrow, 16, 8, block, 4, 0, 4, 1, 0},
    {normTwice, between, 5376, 5376, narrow, 24, 8, block, 4, 0, 4, 1, 0},
    {normTwice, between, 9216, 9216, narrow, 48, 8, warp, 2, 0, 4, 0, 1},
    {normTwice, between, 10240, 10240, narrow, 40, 8, warp, 2, 0, 3, 0, 1},
    {normTwice, between, 12288, 12288, narrow, 48, 8, warp, 2, 0, 3, 0, 1},
    {normTwice, between, 13824, 13824, narrow, 48, 8, block, 4, 0, 2, 1, 0},
    {normTwice, between, 14336, 14336, narrow, 56, 8, block, 4, 0, 2, 1, 0},
    {normTwice, between, 18432, 18432, narrow, 48, 8, warp, 2, 0, 2, 0, 1},
    {normTwice, between, 24576, 24576, narrow, 48, 8, block, 4, 0, 1, 1, 0},
    {normTwice, between, 28672, 28672, narrow, 56, 8, block, 4, 0, 1, 1, 0},
    {normTwice, power, 4096, 4096, narrow, 32, 8, block, 1, 1024, 0, 0, 0},
    {normTwice, between, 5120, 7168, narrow, 32, 8, warp, 2, 960, 0, 0, 1},
    {normTwice, power, 8192, 8192, narrow, 32, 8, warp, 2, 1024, 0, 0, 1},
    {normTwice, power, 16384, 16384, narrow, 32, 8, block, 2, 1024, 0, 0, 0},
    {normTwice, between, 9216, 10240, narrow, 0, 8, block, 4, 0, 2, 1, 0},
    {normTwice, between, 11008, 11008, narrow, 32, 8, block, 2, 0, 3, 0, 0},
    {normTwice, between, 11264, 15360, narrow, 32, 8, block, 2, 1152, 0, 0, 0},
    {codes, power, 2048, 2048, narrow, 32, 16, block, 4, 0, 14, 1, 0},
    {codes, between, 2560, 2560, narrow, 16, 16, block, 4, 0, 8, 1, 0},
    {codes, between, 2880, 2880, narrow, 32, 16, block, 4, 0, 10, 1, 0},
    {codes, between, 3584, 3584, narrow, 40, 8, block, 4, 0, 8, 1, 0},
    {codes, power, 4096, 4096, narrow, 32, 16, block, 4, 0, 7, 1, 0},
    {codes, between, 4608, 4608, narrow, 24, 8, block, 4, 0, 5, 1, 0},
    {codes, between, 5376, 5376, narrow, 24, 8, warp, 4, 0, 5, 1, 0},
    {codes, between, 7168, 7168, narrow, 32, 16, block, 4, 0, 4, 1, 0},
    {codes, between, 10240, 10240, narrow, 48, 16, block, 3, 0, 4, 0, 0},
    {codes, between, 13824, 13824, narrow, 48, 16, block, 3, 0, 3, 0, 0},
    {codes, between, 14336, 14336, narrow, 32, 16, block, 4, 0, 2, 1, 0},
    {codesTwice, power, 2048, 2048, narrow, 32, 16, block, 4, 0, 14, 1, 0},
    {codesTwice, between, 2560, 2560, narrow, 40, 8, block, 4, 0, 12, 1, 0},
    {codesTwice, between, 2880, 2880, narrow, 32, 16, block, 4, 0, 9, 1, 0},
    {codesTwice, between, 3072, 3072, narrow, 32, 16, block, 4, 0, 9, 1, 0},
    {codesTwice, between, 3584, 3584, narrow, 40, 8, block, 3, 0, 10, 0, 0},
    {codesTwice, power, 4096, 4096, narrow, 32, 16, block, 4, 0, 7, 1, 0},
    {codesTwice, between, 4608, 4608, narrow, 24, 8, block, 4, 0, 5, 1, 0},
    {codesTwice, between, 5120, 5120, narrow, 40, 8, block, 4, 0, 6, 1, 0},
    {codesTwice, between, 5376, 5376, narrow, 24, 8, warp, 4, 0, 4, 1, 0},
    {codesTwice, between, 6144, 6144, narrow, 48, 16, block, 4, 0, 5, 1, 0},
    {codesTwice, power, 8192, 8192, narrow, 64, 16, block, 4, 0, 4, 1, 0},
    {codesTwice, between, 9216, 9216, narrow, 32, 16, block, 3, 0, 4, 0, 0},
    {codesTwice, between, 10240, 10240, narrow, 64, 16, folded, 4, 0, 3, 1, 0},
    {codesTwice, between, 12288, 13824, narrow, 48, 16, block, 3, 0, 3, 0, 0},
    {codesTwice, between, 14336, 14336, narrow, 64, 16, folded, 4, 0, 2, 1, 0},
    {codesTwice, power, 16384, 16384, narrow, 64, 16, block, 4, 0, 2, 1, 0},
    {rowCodes, between, 2560, 2560, narrow, 40, 8, block, 3, 0, 16, 0, 0},
    {rowCodes, between, 3584, 3584, narrow, 40, 8, block, 3, 0, 10, 0, 0},
    {rowCodes, between, 4608, 4608, narrow, 24, 8, block, 4, 0, 5, 1, 0},
    {rowCodes, between, 5376, 5376, narrow, 24, 8, block, 4, 0, 4, 1, 0},
    {rowCodes, between, 12288, 13824, narrow, 48, 16, block, 3, 0, 3, 0, 0},
    {rowCodes, between, 14336, 14336, narrow, 56, 8, block, 4, 0, 2, 1, 0},
    {wideCodes, between, 24576, 24576, narrow, 96, 16, folded, 3, 0, 2, 0, 0},
    {drawnCodes, between, 5120, 5120, narrow, 32, 16, folded, 4, 0, 4, 1, 0},
    {packedCodes, between, 5120, 5120, narrow, 32, 16, block, 3, 0, 7, 0, 0},
    {packedCodes, between, 7168, 7168, narrow, 32, 16, block, 3, 0, 5, 0, 0},
    {muchCodes, between, 5120, 5120, narrow, 32, 16, folded, 4, 0, 5, 1, 0},
    {muchCodes, between, 7168, 7168, narrow, 32, 16, folded, 4, 0, 4, 1, 0},
    // On an H100, down to those of packed codes and much arithmetic:
    {normTwice, between, 18432, 28672, narrow, 32, 8, block, 4, 0, 1, 1, 0},
    {normTwice, anyWidth, 30720, 32768, narrow, 32, 8, block, 1, 0, 1, 0, 0},
    {wideCodes, between, 18432, 20480, narrow, 64, 16, folded, 2, 0, 2, 0, 0},
    {wideCodes, between, 22528, 28672, narrow, 32, 16, folded, 4, 0, 1, 1, 0},
    {wideCodes, between, 30720, 30720, narrow, 32, 16, folded, 1, 0, 1, 0, 0},
    {wideCodes, power, 32768, 32768, narrow, 64, 16, folded, 4, 0, 1, 1, 0},
    {drawnCodes, between, 18432, 24576, narrow, 32, 16, folded, 4, 0, 1, 1, 0},
    {packedCodes, between, 3072, 3072, narrow, 48, 16, block, 4, 512, 0, 1, 0},
    {packedCodes, between, 6144, 6144, narrow, 48, 16, block, 4, 512, 0, 1, 0},
    {packedCodes, between, 12288, 14336, narrow, 32, 16, block, 4, 0, 2, 1, 0},
    {muchCodes, between, 2560, 2560, narrow, 16, 16, block, 3, 1280, 0, 1, 0},
    {muchCodes, between, 12288, 14336, narrow, 32, 16, block, 4, 0, 2, 1, 0},
    {muchTwice, between, 3072, 3072, narrow, 32, 16, folded, 4, 768, 0, 1, 0},
    {muchTwice, between, 5120, 5120, narrow, 32, 16, folded, 4, 0, 5, 1, 0},
    {muchTwice, between, 6144, 6144, narrow, 32, 16, folded, 4, 768, 0, 1, 0},
    {muchTwice, between, 7168, 7168, narrow, 32, 16, folded, 2, 1024, 0, 0, 0},
    {muchTwice, between, 12288, 14336, narrow, 32, 16, folded, 4, 0, 2, 1, 0},
    // On an H200:
    {copied, between, 5120, 7168, narrow, 32, 8, warp, 1, 960, 0, 0, 1},
    {copied, power, 8192, 8192, narrow, 32, 8, warp, 1, 1024, 0, 0, 1},
    {copied, anyWidth, 9216, 16384, narrow, 32, 8, block, 2, 1024, 0, 0, 0},
    {copiedPowers, between, 5120, 7168, narrow, 32, 8, warp, 1, 768, 0, 0, 1},
    {copiedPowers, power, 8192, 8192, narrow, 32, 8, warp, 1, 768, 0, 0, 1},
    {copiedPowers, anyWidth, 9216, 16384, narrow, 32, 8, block, 2, 1024, 0, 0, 0},
    {copiedTwice, between, 5120, 7168, narrow, 32, 8, warp, 2, 960, 0, 0, 1},
    {copiedTwice, power, 8192, 8192, narrow, 32, 8, warp, 2, 1024, 0, 0, 1},
    {added, power, 4096, 8192, narrow, 16, 8, warp, 1, 0, 0, 0, 1},
    {added, power, 4096, 8192, wide, 16, 8, block, 1, 0, 0, 0, 1},
    {added, between, 5120, 7168, narrow, 16, 8, warp, 1, 0, 0, 0, 1},
    {addedTwice, power, 4096, 8192, narrow, 16, 8, warp, 1, 0, 0, 0, 1},
    {addedTwice, power, 4096, 8192, wide, 16, 8, block, 1, 0, 0, 0, 1},
    {addedTwice, between, 7168, 7168, narrow, 32, 8, warp, 1, 960, 0, 0, 1},
    {addedTwice, power, 16384, 16384, narrow, 32, 8, block, 1, 1024, 0, 0, 0},
    {addedTwice, between, 11264, 15360, narrow, 32, 8, block, 3, 0, 0, 1, 0},
    {addedCodes, between, 2560, 2560, narrow, 16, 16, block, 3, 0, 6, 0, 0},
    {addedCodes, between, 2880, 2880, narrow, 16, 16, block, 3, 0, 5, 0, 0},
    {addedCodes, power, 4096, 8192, narrow, 16, 16, block, 1, 0, 0, 0, 1},
    {addedCodes, between, 7168, 7168, narrow, 32, 16, warp, 1, 960, 0, 0, 1},
    {addedCodes, anyWidth, 9216, 16384, narrow, 32, 16, block, 1, 0, 2, 0, 0},
    {addedRows, power, 4096, 8192, narrow, 16, 16, block, 1, 0, 0, 0, 1}};
} // namespace

static Reduced reducedAs(const Domain &domain) {
  const bool isTwice = domain.rowReductions > 1, makesCodes = domain.narrowestStore <= 8,
             hasMaximum = domain.rowReductions > domain.rowSums, sumsTwice = domain.rowSums > 1;
  if (domain.matricesRead == 1 && domain.matricesWritten == 1 && domain.readsColumns &&
      makesCodes && domain.rowSums > 0) {
    constexpr int64_t wide = 16384;
    const bool isOfGroups = domain.group > 0 && !hasMaximum, bySoftware = domain.encodesBySoftware,
               isOfRows = hasMaximum && !sumsTwice && !bySoftware;
    if (domain.draws)
      return isOfGroups && domain.group == 128 && !domain.packs && !sumsTwice ? drawnCodes : other;
    if (domain.packs)
      return isTwice ? other : packedCodes;
    const bool wasTimed =
        (isOfGroups && !bySoftware) || (domain.width < 2 * wide && (isOfGroups || isOfRows));
    if (domain.width > wide)
      return wasTimed ? wideCodes : other;
    if (bySoftware)
      return !isOfGroups ? other : sumsTwice ? muchTwice : muchCodes;
    return isOfGroups ? (sumsTwice ? codesTwice : codes) : isOfRows ? rowCodes : other;
  }
  if (domain.packs || domain.encodesBySoftware || domain.draws)
    return other;
  if (domain.matricesRead == 2 && domain.readsColumns) {
    if (!makesCodes)
      return isTwice ? addedTwice : added;
    return sumsTwice ? other : isTwice ? addedRows : addedCodes;
  }
  const bool isMasked = domain.usesPositions && !domain.readsColumns;
  if (domain.matricesRead == 1 && domain.matricesWritten == 1 && isMasked)
    return makesCodes ? maskedCodes : masked;
  if (domain.matricesRead == 1 && domain.matricesWritten == 1 && makesCodes && isPlain(domain))
    return domain.group > 0 && isTwice && domain.rowSums == 1 ? plainCodes : other;
  if (domain.matricesRead != 1 || domain.matricesWritten != 1 + makesCodes)
    return other;
  if (!domain.readsColumns)
    return makesCodes ? other : plain;
  if (!makesCodes)
    return isTwice ? normTwice : norm;
  return hasMaximum ? other : isTwice ? copiedTwice : domain.scalesByPowers ? copiedPowers : copied;
}

/// Whether a row's bounds leave registers to a program. Those of codes were chosen for f32 scales
/// that are made here and bound the codes: what clamps has no other, nor what holds much of groups
/// that lanes cannot share; what looks at largest elements, combines a maximum or turns its scales
/// has short chunks only where a thread holds little.
static bool leavesRegisters(const HeldRow &row, const Domain &domain) {
  constexpr int64_t shortest = 16, little = 24, much = 64; // elements of a chunk, of a thread
  const bool isMuch = row.each > much,
             isOfNorms = row.what == codes || row.what == codesTwice || row.what == rowCodes;
  if (!isOfNorms && row.what != plainCodes && !(row.what == wideCodes && isMuch))
    return true;
  if (domain.clampsCodes || (isMuch && domain.group > 0 && !foldedLanes(domain, row.vector)))
    return false;
  const bool asksMore = domain.encodesWithin || domain.givesWhole || domain.stacksScales;
  const bool isLittle = isOfNorms && row.each <= little && row.lanes == block;
  return !asksMore || row.vector >= shortest || isLittle;
}

/// The first way, of those that were measured, to hold a program's aligned rows by chunks that
/// leave no warp idle, or of its very width, from `next` on; null: none.
static const HeldRow *heldRowOf(const Domain &domain, const HeldRow *next = std::begin(heldRows)) {
  constexpr int64_t warp = 32, ofFour = 1024, longestGroup = 256; // four chunks a thread
  if (!domain.rowAligned() || domain.group > longestGroup || domain.combinesParts() ||
      domain.matricesWritten > 2)
    return nullptr;
  const Reduced what = reducedAs(domain);
  const Width width = llvm::isPowerOf2_64(domain.width) ? power : between;
  const Bits bits = domain.bitsRead > 16 * domain.matricesRead ? wide : narrow;
  const auto *row = std::find_if(next, std::end(heldRows), [&](const HeldRow &each) {
    return each.what == what &&
           (each.from == each.to || domain.width % (each.each ? each.each * warp : ofFour) == 0) &&
           (each.width == anyWidth || each.width == width) && domain.width >= each.from &&
           domain.width <= each.to && each.bits == bits && leavesRegisters(each, domain);
  });
  return row == std::end(heldRows) ? nullptr : row;
}

ScheduleAttr eider::transforms::heldSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t threads = 256; // of a block
  for (const HeldRow *row = heldRowOf(domain); row; row = heldRowOf(domain, row + 1)) {
    if (row->lanes == warp && domain.largestCluster == 1)
      continue; // no older GPU was timed
    ScheduleKnobs knobs{.threads =
                            row->each ? legalThreads(ceilDiv(domain.width, row->each)) : threads,
                        .vector = row->vector,
                        .tiles = row->tiles,
                        .resident = row->resident,
                        .prefetch = row->prefetch,
                        .bulk = row->bulk};
    if (row->held)
      knobs.resident = row->held / knobs.threads;
    knobs.lanes = row->lanes == warp     ? 32
                  : row->lanes == folded ? foldedLanes(domain, row->vector)
                                         : 0;
    const auto schedule = ScheduleAttr::get(context, Family::row, knobs);
    if (std::string message; tileOf(schedule, domain, message))
      return schedule;
  }
  return {};
}

bool eider::transforms::isHeldAlone(const Domain &domain) {
  constexpr int64_t widest = 16384; // that blocks hold alone else
  return domain.width > widest && heldRowOf(domain);
}
