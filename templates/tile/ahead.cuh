//===- eider/tile/ahead.cuh - Rows of codes on their way --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_AHEAD_CUH
#define EIDER_TILE_AHEAD_CUH

#include "eider/memory/shared.cuh"
#include "eider/tile/rows.cuh"

namespace eider {

/// No scales of groups: what a row has is scaled when it is added up.
struct NoScales {
  template <class Pair> EIDER_DEVICE void load(const Pair &) {}
};

/// Of a pair of rows the scales of R×B groups that a thread touches.
template <class Pair, int R, int B, class S, class Where> class ScalesOfPair {
  const S *from_;
  Where where_;

public:
  decltype(Pair(0, 0).template load_groups<B, R>(from_, where_)) taken;

  EIDER_DEVICE ScalesOfPair(const S *from, const Where &where) : from_(from), where_(where) {}
  EIDER_DEVICE void load(const Pair &pair) {
    taken = pair.template load_groups<B, R>(from_, where_);
  }
};

/// Rows of codes on their way to the tiles that a CUDA block takes in turn, through shared memory:
/// while two rows are multiplied, `ahead` pairs of them come. A thread copies what it multiplies
/// itself, so that it waits for no other. Their scales are loaded one pair before.
template <class Rows, int ahead, class W, class Scales> class RowsAhead {
  using Pair = typename Rows::Pair;
  static constexpr int pairs = Rows::pairs, memory = (ahead + 1) * Pair::of_copies;
  static_assert(ahead >= 1, "a pair comes while one is multiplied");
  struct alignas(16) Piece {
    unsigned char of[16];
  };
  const W *from_;
  int64 pitch_;
  int slot_ = 0; // of the pair that is multiplied next
  unsigned char *own_;
  Scales scales_;

  /// The pair so many after the tile's first one.
  static EIDER_DEVICE Pair pair_after(Rows tile, int number) {
    EIDER_UNROLL
    for (int i = 0; i < number / pairs; ++i)
      tile = tile.next();
    return tile.pair(number % pairs);
  }
  EIDER_DEVICE void begin(const Pair &pair, int slot) {
    pair.begin_copies(from_, pitch_, own_ + slot * Pair::of_copies);
    arch::close_copies();
  }

public:
  EIDER_DEVICE RowsAhead(int64 total, const W *from, int64 pitch, const Scales &scales)
      : from_(from), pitch_(pitch),
        own_(shared_or_launched<RowsAhead, Piece, memory / 16>()->of + arch::thread_index() * 16),
        scales_(scales) {
    const Rows tile = Rows::first(total);
    EIDER_UNROLL
    for (int i = 0; i < ahead; ++i)
      begin(pair_after(tile, i), i);
    scales_.load(tile.pair(0));
  }
  RowsAhead(const RowsAhead &) = delete;
  EIDER_DEVICE ~RowsAhead() { arch::await_copies<0>(); } // of rows that are not there

  /// Each row's sum of codes · scale · vector, as `Products` multiply them (contraction/lanes.cuh).
  template <class Products, class X, int count>
  EIDER_DEVICE Fragment<float, 2 * pairs> sum_of_products(const Rows &tile,
                                                          const Fragment<X, count> &vector,
                                                          arch::Site at = arch::Site::current()) {
    Fragment<float, 2 * pairs> own;
    EIDER_UNROLL
    for (int i = 0; i < pairs; ++i) {
      arch::await_copies<ahead - 1>();
      const Scales scales = scales_;
      scales_.load(pair_after(tile, i + 1));
      const auto codes = Pair::template copied<W>(own_ + slot_ * Pair::of_copies);
      begin(pair_after(tile, i + ahead), slot_ == 0 ? ahead : slot_ - 1);
      slot_ = slot_ == ahead ? 0 : slot_ + 1;
      Fragment<float, 2> sums;
      if constexpr (same<Scales, NoScales>)
        sums = Products::template own_sums<2>(codes, vector, at);
      else
        sums = Products::template own_scaled_sums<2, Pair::ends_among_four>(codes, scales.taken,
                                                                            vector, at);
      own.fill(2 * i, sums[0]);
      own.fill(2 * i + 1, sums[1]);
    }
    return Rows::added_up(own, at);
  }
};

/// Rows of a matrix of codes with `total` rows, `pitch` elements (bytes of packed ones) apart.
template <class Rows, int ahead, class W>
EIDER_DEVICE RowsAhead<Rows, ahead, W, NoScales>
rows_ahead(int64 total, const W *from, int64 pitch = Rows::matrix_columns / packing<W>) {
  return {total, from, pitch, NoScales()};
}
/// The same of codes of which R×B have a scale together.
template <class Rows, int ahead, int B, int R = 1, class W, class S, class Where = int64>
EIDER_DEVICE auto rows_ahead(int64 total, const W *from, const S *scales,
                             int64 pitch = Rows::matrix_columns / packing<W>,
                             const Where &where = (Rows::matrix_columns + B - 1) / B) {
  using Scales = ScalesOfPair<typename Rows::Pair, R, B, S, Where>;
  return RowsAhead<Rows, ahead, W, Scales>(total, from, pitch, Scales(scales, where));
}

} // namespace eider

#endif // EIDER_TILE_AHEAD_CUH
