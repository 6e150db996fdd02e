//===- eider/layouts/swizzled_128x4.cuh - Tiles of 512 scales ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_LAYOUTS_SWIZZLED_128X4_CUH
#define EIDER_LAYOUTS_SWIZZLED_128X4_CUH

#include "eider/layouts/layout.cuh"

namespace eider {

/// Tiles of 128 rows and 4 columns of scales of one byte, 512 bytes each, row of tiles by row of
/// tiles. In a tile 32 times 16 bytes: of rows r, r + 32, r + 64 and r + 96 (cuBLAS, MX and NVFP4).
template <int64 columns, int block = 1>
struct Swizzled128x4 : PaddedScales<columns, block, /*row_multiple=*/128, /*column_multiple=*/4> {
  using Scales = PaddedScales<columns, block, 128, 4>;
  int64 pitch; // between rows of tiles

  EIDER_DEVICE explicit Swizzled128x4(ScaleExtents of)
      : Scales(of), pitch(128 * this->padded_columns()) {}
  EIDER_DEVICE Swizzled128x4(ScaleExtents of, int64 pitch) : Scales(of), pitch(pitch) {}

  EIDER_DEVICE int64 offset(int64 row, int64 column) const {
    const int64 tile = row / 128 * pitch + column / 4 * 512;
    return tile + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
  }
};

} // namespace eider

#endif // EIDER_LAYOUTS_SWIZZLED_128X4_CUH
