//===- eider/layouts/packed_ue8m0.cuh - Four exponents a word ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_LAYOUTS_PACKED_UE8M0_CUH
#define EIDER_LAYOUTS_PACKED_UE8M0_CUH

#include "eider/layouts/layout.cuh"

namespace eider {

/// Words of four neighbouring e8m0 scales of a row, the first lowest; a column of words after
/// another, each from a multiple of 16 bytes on (DeepGEMM, sm_100).
template <int64 columns, int block = 1>
struct PackedUe8m0 : PaddedScales<columns, block, /*row_multiple=*/4, /*column_multiple=*/4> {
  using Scales = PaddedScales<columns, block, 4, 4>;
  int64 pitch; // between columns of words, in words

  EIDER_DEVICE explicit PackedUe8m0(ScaleExtents of) : Scales(of), pitch(this->padded_rows) {}
  EIDER_DEVICE PackedUe8m0(ScaleExtents of, int64 pitch) : Scales(of), pitch(pitch) {}

  EIDER_DEVICE int64 offset(int64 row, int64 column) const {
    return (column / 4 * pitch + row) * 4 + column % 4;
  }
};

} // namespace eider

#endif // EIDER_LAYOUTS_PACKED_UE8M0_CUH
