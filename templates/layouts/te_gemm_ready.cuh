//===- eider/layouts/te_gemm_ready.cuh - Scales as GEMMs take them *- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_LAYOUTS_TE_GEMM_READY_CUH
#define EIDER_LAYOUTS_TE_GEMM_READY_CUH

#include "eider/layouts/layout.cuh"

namespace eider {

/// f32 scales as TransformerEngine's block-scaled GEMMs take them: of blocks one row high a column
/// after another, each from a multiple of 16 bytes on; of others row by row, likewise.
template <int64 columns, int block = 1>
struct TeGemmReady : PaddedScales<columns, block, /*row_multiple=*/block == 1 ? 4 : 1,
                                  /*column_multiple=*/block == 1 ? 1 : 4> {
  static constexpr bool by_columns = block == 1;
  using Scales = PaddedScales<columns, block, by_columns ? 4 : 1, by_columns ? 1 : 4>;
  int64 pitch; // between columns, or rows

  EIDER_DEVICE explicit TeGemmReady(ScaleExtents of)
      : Scales(of), pitch(by_columns ? this->padded_rows : this->padded_columns()) {}
  EIDER_DEVICE TeGemmReady(ScaleExtents of, int64 pitch) : Scales(of), pitch(pitch) {}

  EIDER_DEVICE int64 offset(int64 row, int64 column) const {
    return by_columns ? column * pitch + row : row * pitch + column;
  }
};

} // namespace eider

#endif // EIDER_LAYOUTS_TE_GEMM_READY_CUH
