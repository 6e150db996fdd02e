//===- eider/attention/parts.cuh - What blocks leave of attention -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_PARTS_CUH
#define EIDER_ATTENTION_PARTS_CUH

#include "eider/fragment.cuh"
#include "eider/memory/chunk.cuh"

namespace eider {

/// The tokens of each sequence and head of its cache are cut into parts, a CUDA block each: so many
/// that all are about `places` blocks, which a GPU holds at once. A part is, of each of the `group`
/// query heads, the values that its tokens weigh together, the largest score (in powers of two),
/// and the sum of the weights, both weights as powers of the score less the largest.
template <int heads_, int kv_heads_, int head_dim_, int places> struct AttentionParts {
  static constexpr int heads = heads_, kv_heads = kv_heads_, head_dim = head_dim_;
  static constexpr int group = heads / kv_heads, values = group * head_dim;
  static constexpr int size = (values + 2 * group + 3) / 4 * 4; ///< Floats of a part.
  static_assert(heads % kv_heads == 0, "each head of the cache has as many queries");

  /// Of each head of the cache of each of the sequences.
  static EIDER_DEVICE int64 count(int64 sequences) {
    const int64 all = sequences * kv_heads;
    return all < places ? places / all : 1;
  }

  /// The tile's elements of what all parts are together, [sequences, heads · head_dim]; zeros of
  /// sequences without tokens.
  template <class Tile>
  static EIDER_DEVICE Fragment<float, Tile::elements> combined(const Tile &tile, const float *parts,
                                                               int64 sequences) {
    constexpr int vector = Tile::neighbours;
    static_assert(head_dim % vector == 0, "a thread's neighbours are of one head");
    const int64 count_of_head = count(sequences);
    Fragment<float, Tile::elements> result{};
    EIDER_UNROLL
    for (int c = 0; c < Tile::elements / vector; ++c) {
      if (tile.inside(c) == 0)
        continue;
      const int head = tile.column(c) / head_dim;
      const float *first = parts + (tile.row(c) * kv_heads + head / group) * count_of_head * size;
      const float *of_head = first + values + head % group;
      float largest = of_head[0];
      for (int64 part = 1; part < count_of_head; ++part)
        largest = arch::maximum_number(largest, of_head[part * size]);
      const float *from = first + head % group * head_dim + tile.column(c) % head_dim;
      float sum = 0.0f, total[vector] = {};
      for (int64 part = 0; part < count_of_head; ++part) {
        const float weight = arch::exp2(of_head[part * size] - largest);
        sum = arch::fma(weight, of_head[part * size + group], sum);
        EIDER_UNROLL
        for (int i = 0; i < vector; ++i)
          total[i] = arch::fma(weight, from[part * size + i], total[i]);
      }
      EIDER_UNROLL
      for (int i = 0; i < vector; ++i)
        result.fill(c * vector + i, sum == 0.0f ? 0.0f : total[i] / sum);
    }
    return result;
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_PARTS_CUH
