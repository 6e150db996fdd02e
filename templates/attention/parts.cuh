//===- eider/attention/parts.cuh - What blocks leave of attention -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_PARTS_CUH
#define EIDER_ATTENTION_PARTS_CUH

#include "eider/fragment.cuh"
#include "eider/memory/chunk.cuh"
#include "eider/reduce/arrivals.cuh"

namespace eider {

/// Of what has no score yet: below all, and no infinity, which less itself would be NaN.
inline constexpr float lowest_score = -3.402823466e38f;

/// By how many powers of two a score may exceed the largest, or the base, before sums are scaled
/// anew, and by how many weights are larger than they are: f16 has them all.
inline constexpr int score_room = 8, weight_lift = 7;

/// 1 / √x, by Newton's iteration.
constexpr EIDER_DEVICE float inverse_root(int x) {
  double root = 16.0;
  for (int i = 0; i < 12; ++i)
    root = 0.5 * (root + x / root);
  return static_cast<float>(1.0 / root);
}

/// Where blocks leave parts of attention that the last of them combines: of each sequence and tile
/// of queries they count themselves in one of `arrivals`. `output` is [sequences, heads ·
/// head_dim].
template <class Out> struct Combining {
  Out *output;
  float *parts;
  int64 *arrivals;
};
template <class Out>
EIDER_DEVICE Combining<Out> combining(Out *output, float *parts, int64 *arrivals) {
  return {output, parts, arrivals};
}

/// The tokens of each sequence and head of its cache are dealt to parts, a CUDA block each for each
/// of the `tiles` that the head's queries come in: so many that all are about `places` blocks,
/// which a GPU holds at once. A part is, of each of the `group` query heads, the values that its
/// tokens weigh together, of `head_dim`; and after these, of each, the largest score (in powers of
/// two) and the sum of the weights, which are powers of scores less the largest.
template <int heads_, int kv_heads_, int head_dim_, int places, int tiles_ = 1>
struct AttentionParts {
  static constexpr int heads = heads_, kv_heads = kv_heads_, head_dim = head_dim_;
  static constexpr int tiles = tiles_, groups = kv_heads * tiles;
  static constexpr int group = heads / groups, values = group * head_dim;
  static constexpr int size = (values + 2 * group + 3) / 4 * 4; ///< Floats of a part.
  static_assert(heads % groups == 0, "each block has as many queries");

  /// Of each group of queries of each of the sequences.
  static EIDER_DEVICE int64 count(int64 sequences) {
    const int64 all = sequences * groups;
    return all < places ? places / all : 1;
  }

  /// The tile's elements of what all parts are together, [sequences, heads · head_dim]; zeros of
  /// sequences without tokens.
  template <class Tile>
  static EIDER_DEVICE Fragment<float, Tile::elements> combined(const Tile &tile, const float *parts,
                                                               int64 sequences) {
    constexpr int vector = Tile::neighbours;
    arch::await_launch_before();
    static_assert(head_dim % vector == 0, "a thread's neighbours are of one head");
    const int64 count_of_head = count(sequences);
    Fragment<float, Tile::elements> result{};
    EIDER_UNROLL
    for (int c = 0; c < Tile::elements / vector; ++c) {
      if (tile.inside(c) == 0)
        continue;
      const int head = tile.column(c) / head_dim;
      const float *first = parts + (tile.row(c) * groups + head / group) * count_of_head * size;
      Sums<vector> sums;
      sums.add_all(first, head % group, tile.column(c) % head_dim, count_of_head);
      EIDER_UNROLL
      for (int i = 0; i < vector; ++i)
        result.fill(c * vector + i, sums.weight == 0.0f ? 0.0f : sums.total[i] / sums.weight);
    }
    return result;
  }

  /// The same for all queries of one tile, of `count` parts: values that neighbour each other in
  /// `to`. Of `threads` threads, all of the CUDA block.
  template <int threads, class Out>
  static EIDER_DEVICE void combine(Out *to, const float *parts, int64 count) {
    constexpr int fair = values / threads;
    constexpr int vector = fair >= 8 ? 8 : fair >= 4 ? 4 : 2;
    for (int i = arch::nonnegative_thread_index() * vector; i < values; i += threads * vector) {
      Sums<vector> sums;
      sums.add_all(parts, i / head_dim, i % head_dim, count);
      EIDER_UNROLL
      for (int n = 0; n < vector; ++n)
        to[i + n] = eider::to<Out>(sums.weight == 0.0f ? 0.0f : sums.total[n] / sums.weight);
    }
  }

private:
  /// Neighbours of some parts together.
  template <int vector> struct Sums {
    /// Parts that are loaded together, as many as registers have room for.
    static constexpr int batch = vector <= 2 ? 32 : vector < 16 ? 64 / vector : 4;
    float largest = lowest_score, weight = 0.0f, total[vector] = {};

    /// Of a head of all parts, from an element of its values on.
    EIDER_DEVICE void add_all(const float *parts, int head, int element, int64 count) {
      const float *from = parts + head * head_dim + element, *of_head = parts + values + head * 2;
      for (int64 part = 0; part < count; part += batch)
        add(from + part * size, of_head + part * size, count - part);
    }

  private:
    /// The next `batch` parts, of which `left` are there.
    EIDER_DEVICE void add(const float *from, const float *of_head, int64 left) {
      uint32 of_parts[batch][2], loaded[batch][vector]; // score and weight, values
      EIDER_UNROLL
      for (int n = 0; n < batch; ++n) {
        const int64 at = (n < left ? n : 0) * static_cast<int64>(size);
        arch::load_words<8>(of_head + at, of_parts[n]);
        load_neighbours(from + at, loaded[n]);
      }
      float most = largest;
      EIDER_UNROLL
      for (int n = 0; n < batch; ++n)
        most = arch::maximum_number(most, arch::as_float(of_parts[n][0]));
      const float before = arch::exp2(largest - most);
      largest = most;
      weight *= before;
      EIDER_UNROLL
      for (int i = 0; i < vector; ++i)
        total[i] *= before;
      EIDER_UNROLL
      for (int n = 0; n < batch; ++n) {
        if (n >= left)
          continue;
        const float factor = arch::exp2(arch::as_float(of_parts[n][0]) - most);
        weight = arch::fma(factor, arch::as_float(of_parts[n][1]), weight);
        EIDER_UNROLL
        for (int i = 0; i < vector; ++i)
          total[i] = arch::fma(factor, arch::as_float(loaded[n][i]), total[i]);
      }
    }

    static EIDER_DEVICE void load_neighbours(const float *from, uint32 (&loaded)[vector]) {
      constexpr int together = vector % 4 == 0 ? 4 : vector % 2 == 0 ? 2 : 1;
      EIDER_UNROLL
      for (int i = 0; i < vector; i += together)
        arch::load_words<4 * together>(from + i, &loaded[i]);
    }
  };
};

} // namespace eider

#endif // EIDER_ATTENTION_PARTS_CUH
