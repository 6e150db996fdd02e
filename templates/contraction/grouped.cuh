//===- eider/contraction/grouped.cuh - Weights of a group -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_GROUPED_CUH
#define EIDER_CONTRACTION_GROUPED_CUH

#include "eider/contraction/pairs.cuh"

namespace eider {

/// A product of a GroupedTile, whose rows meet the weights of their group; zeros where it has none.
template <class Multiply> struct GroupedProduct {
  using OfGroup = typename Multiply::OfGroup;

  /// As the product's own of contiguous matrices, of the first group's weights and scales; those of
  /// the others lie behind them. Scales of x are its rows', whatever their group.
  template <class Code, int... alignments, class Tile, class X, class W, class S, class... XS>
  static EIDER_DEVICE Fragment<float, Tile::elements> of(const Tile &tile, const X *x, const W *w,
                                                         const S *w_scale, const XS *...x_scale) {
    if (!tile.has_group())
      return {};
    return Multiply::template of<Code, alignments...>(
        tile, x, w + tile.group() * (OfGroup::elements / packing<W>),
        w_scale + tile.group() * OfGroup::scales, x_scale...);
  }

  /// The same of matrices with pitches, groups so far apart.
  template <class Code, int... alignments, class Tile, class X, class W, class S>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  of(const Tile &tile, const X *x, const W *w, const S *w_scale, int64 x_pitch, int64 w_pitch,
     int64 scale_pitch, int64 w_apart, int64 scales_apart) {
    if (!tile.has_group())
      return {};
    return Multiply::template of<Code, alignments...>(tile, x, w + tile.group() * w_apart,
                                                      w_scale + tile.group() * scales_apart,
                                                      x_pitch, w_pitch, scale_pitch);
  }
  template <class Code, int... alignments, class Tile, class X, class W, class S, class XS>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  of(const Tile &tile, const X *x, const W *w, const S *w_scale, const XS *x_scale, int64 x_pitch,
     int64 w_pitch, int64 scale_pitch, int64 x_scale_pitch, int64 w_apart, int64 scales_apart) {
    if (!tile.has_group())
      return {};
    return Multiply::template of<Code, alignments...>(
        tile, x, w + tile.group() * w_apart, w_scale + tile.group() * scales_apart, x_scale,
        x_pitch, w_pitch, scale_pitch, x_scale_pitch);
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_GROUPED_CUH
