//===- eider/memory/panels.cuh - Rows that products read --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_PANELS_CUH
#define EIDER_MEMORY_PANELS_CUH

#include "eider/arch/arch.h"

namespace eider {

/// A matrix in shared memory of rows of so many bytes, in panels of 128 bytes a row, or of what
/// divides them: the 16-byte chunks of a panel's rows change places, so that those of eight rows
/// lie in all banks; as warpgroups multiply by it, too.
template <int rows_, int row_bytes> struct Panels {
  static constexpr int rows = rows_, bytes = rows * row_bytes;
  static constexpr int panel = row_bytes % 128 == 0 ? 128 : row_bytes % 64 == 0 ? 64 : 32;
  static constexpr int chunks = panel / 16, apart = rows * panel; // from a panel to the next
  static_assert(row_bytes % panel == 0, "a panel has whole rows");
  unsigned char *base;

  /// Where bytes 16 · chunk … of a row are.
  EIDER_DEVICE unsigned char *at(int row, int chunk) const { return base + offset(row, chunk); }

  /// What a lane loads, some chunk of a row, from where others are rows in multiples of 8 away, and
  /// chunks of which no bit is the first one's, too: by one instruction each, which costs less than
  /// to keep where they all are.
  struct Lane {
    unsigned char *base;
    int first;
    EIDER_DEVICE unsigned char *at(int rows, int more) const {
      return base + (first ^ more % chunks * 16) + more / chunks * apart + rows * panel;
    }
  };
  EIDER_DEVICE Lane lane(int row, int chunk) const {
    return {base, arch::opaque(offset(row, chunk))};
  }

  static EIDER_DEVICE int offset(int row, int chunk) {
    const int swizzled = (chunk ^ row / (8 / chunks)) & (chunks - 1);
    return chunk / chunks * apart + row * panel + swizzled * 16;
  }
};

/// Rows of 16-bit elements as warpgroups multiply them by codes: 128 of each row are a stage, of
/// which a lane has eight neighbours' four pairs in four products, so that these are in four
/// chunks. A matrix that is laid out so has as many rows as this after each other, stage by stage.
template <int rows> struct RowsOfProducts {
  static constexpr int stage = 128, chunk = 8; // elements of a row
  using Stage = Panels<rows, 2 * stage>;

  /// Where the first pair of a row's chunk is in a stage, and pair `number`, from there.
  static EIDER_DEVICE int first_pair(int row, int chunk) {
    return Stage::offset(row, chunk / 8 * 8 + chunk % 2 * 4) + chunk % 8 / 2 * 4;
  }
  static EIDER_DEVICE int pair(int first, int number) { return first ^ number * 16; }

  /// Where the rows from `first_row` on, a multiple, begin in a matrix of rows of `length`: in
  /// bytes.
  static EIDER_DEVICE int64 tile(int64 first_row, int64 length) { return first_row * length * 2; }
};

} // namespace eider

#endif // EIDER_MEMORY_PANELS_CUH
