//===- eider/layouts/mn_major_aligned.cuh - Columns of scales ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_LAYOUTS_MN_MAJOR_ALIGNED_CUH
#define EIDER_LAYOUTS_MN_MAJOR_ALIGNED_CUH

#include "eider/layouts/layout.cuh"

namespace eider {

/// A column of f32 scales after another, each from a multiple of 16 bytes on (DeepGEMM, sm_90).
template <int64 columns, int block = 1>
struct MnMajorAligned : PaddedScales<columns, block, /*row_multiple=*/4, /*column_multiple=*/1> {
  using Scales = PaddedScales<columns, block, 4, 1>;
  int64 pitch; // between columns

  EIDER_DEVICE explicit MnMajorAligned(ScaleExtents of) : Scales(of), pitch(this->padded_rows) {}
  EIDER_DEVICE MnMajorAligned(ScaleExtents of, int64 pitch) : Scales(of), pitch(pitch) {}

  EIDER_DEVICE int64 offset(int64 row, int64 column) const { return column * pitch + row; }
};

} // namespace eider

#endif // EIDER_LAYOUTS_MN_MAJOR_ALIGNED_CUH
