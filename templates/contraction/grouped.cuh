//===- eider/contraction/grouped.cuh - Weights of a group -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_GROUPED_CUH
#define EIDER_CONTRACTION_GROUPED_CUH

#include "eider/fragment.cuh"

namespace eider {

/// A product of a GroupedTile, whose rows meet the weights of their group; zeros where it has none.
template <class Multiply> struct GroupedProduct;

template <template <class, int64, int64, int64, int, int, int, int64...> class Multiply, class Tile,
          int64 length, int64 block_rows, int64 block_columns, int a, int b, int c, int64... of_x>
struct GroupedProduct<Multiply<Tile, length, block_rows, block_columns, a, b, c, of_x...>> {
  using OfGroup = Multiply<Tile, length, block_rows, block_columns, a, b, c, of_x...>;

  /// As the product's own of contiguous matrices, of the first group's weights and scales; those of
  /// the others lie behind them.
  template <class Code, int... alignments, class X, class W, class S>
  static EIDER_DEVICE Fragment<float, Tile::elements> of(const Tile &tile, const X *x, const W *w,
                                                         const S *w_scale) {
    constexpr int64 scales = (Tile::matrix_columns + block_rows - 1) / block_rows *
                             ((length + block_columns - 1) / block_columns);
    if (!tile.has_group())
      return {};
    return OfGroup::template of<Code, alignments...>(
        tile, x, w + tile.group() * (Tile::matrix_columns * (length / packing<W>)),
        w_scale + tile.group() * scales);
  }

  /// The same of matrices with pitches, groups so far apart.
  template <class Code, int... alignments, class X, class W, class S>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  of(const Tile &tile, const X *x, const W *w, const S *w_scale, int64 x_pitch, int64 w_pitch,
     int64 scale_pitch, int64 w_apart, int64 scales_apart) {
    if (!tile.has_group())
      return {};
    return OfGroup::template of<Code, alignments...>(tile, x, w + tile.group() * w_apart,
                                                     w_scale + tile.group() * scales_apart, x_pitch,
                                                     w_pitch, scale_pitch);
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_GROUPED_CUH
