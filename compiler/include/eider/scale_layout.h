//===- eider/scale_layout.h - Where scales lie ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_SCALE_LAYOUT_H
#define EIDER_SCALE_LAYOUT_H

namespace eider {

/// Where the scales of a scaled tensor lie in memory. With r × c blocks there are R × C of them, R
/// = ceil(rows / r) and C = ceil(columns / c); R4 is R rounded up to a multiple of 4. What a layout
/// adds to that is padding, which whoever writes the scales writes as zeros, and nobody reads.
enum class ScaleLayout {
  row_major,        ///< [R, C]
  mn_major_aligned, ///< f32 [C, R4]: a column of scales after another, from aligned 16 bytes on.
  packed_ue8m0,     ///< i32 [ceil(C / 4), R4]: four e8m0 of a row to a word, the first lowest.
  swizzled_128x4, ///< Bytes [ceil(R / 128), 512 · ceil(C / 4)]: tiles of 128 × 4, 512 bytes each,
                  ///< in which row i, column j is byte i % 32 · 16 + i / 32 · 4 + j.
  te_gemm_ready   ///< f32 [C, R4] of 1×128 blocks; [R, C4] of 128×128 and 128×1 blocks.
};

} // namespace eider

#endif // EIDER_SCALE_LAYOUT_H
