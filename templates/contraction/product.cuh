//===- eider/contraction/product.cuh - A tile of x · wᵀ ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_PRODUCT_CUH
#define EIDER_CONTRACTION_PRODUCT_CUH

#include "eider/contraction/operands.cuh"

namespace eider {

/// The tile of x · wᵀ: x is a [rows, length] matrix, w a [columns, length] one of codes, of which
/// `block_rows` × `block_columns` have a scale together. Rows of w are spread over the warps, which
/// multiply 16 of them at a time with 8 of x; `split` warps have the same, each its own part of the
/// length, of which it takes `loads` steps at a time and loads `ahead` such stages. Sums of a block
/// are scaled in f32 before they meet, or codes where pairs of these have room for their scales
/// (`folds_scales`); the split ones are added up in the order of the warps. x may
/// be codes, too, of which a row's `x_block_columns` have a scale together, or those of all rows.
/// Where it `meets_codes`, both are multiplied as they lie, and the sums, of which such products
/// keep 13 bits below their largest, are scaled and added up in f32 each 128 of the length at
/// least; blocks are 128, or whole rows.
///
/// Along the length it is free which of its elements stand where in a step's products, if only w
/// and x have the same there: so a thread has neighbours, and loads them together.
template <class Tile, int64 length, int64 block_rows, int64 block_columns, int split, int loads,
          int ahead, int64 x_block_rows = 1, int64 x_block_columns = length,
          bool meets_codes = false>
class Product {
  static constexpr int64 block =
      block_columns < x_block_columns ? block_columns : x_block_columns; // scaled together
  using Cut = ProductCut<Tile, length, block, split, loads>;
  /// Of pairs that meet their scales a thread has more together, where stages are long enough.
  template <bool folds>
  using CutOf =
      ProductCut<Tile, length, block, split, loads, folds && loads % 2 == 0 ? 32 : 16, folds>;
  static constexpr int sixteens = Cut::sixteens, eights = Cut::eights, groups = Cut::groups;
  static constexpr int stage = Cut::stage;
  static constexpr int pitch = Tile::width + 4; // of sums in shared memory: no bank twice
  /// Sums of a block, in turn into several where few products would wait for each other; one of
  /// those that lose bits, of which the bound knows the order.
  static constexpr int chains = sixteens * eights <= 2 && !meets_codes ? 2 : 1;
  /// Whether sums are scaled before the end, and whether they are where so much of a stage ends.
  template <bool folds>
  static constexpr bool sums_parts = (Cut::is_grouped && !folds) || meets_codes;
  static constexpr EIDER_DEVICE bool ends_part(int end) {
    constexpr int most = stage % 128 == 0 ? 128 : 64; // of the same 128 of the length
    return sums_parts<false> && (end == stage || (Cut::is_grouped && end % Cut::block == 0) ||
                                 (meets_codes && end % most == 0));
  }
  using Unscaled = float[chains][eights][4];
  using Sums = float[sixteens][eights][4];
  struct alignas(16) Piece {
    uint32 words[4];
  };
  template <bool condition, class A, class B> struct Either { using type = A; };
  template <class A, class B> struct Either<false, A, B> { using type = B; };

public:
  using OfGroup = WeightsOfGroup<Tile, length, block_rows, block_columns>;

  /// What each thread holds of the tile. `weights_alignment` and `alignment` are the bytes that the
  /// rows of w and x start at multiples of; pitches in elements (bytes of packed ones). Every
  /// thread of the CUDA block takes part.
  template <class Code, int weights_alignment = 16, int alignment = 16, class X, class W, class S>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  of(const Tile &tile, const X *x, const W *w, const S *w_scale, int64 x_pitch = length,
     int64 w_pitch = length / packing<W>,
     int64 scale_pitch = (length + block_columns - 1) / block_columns,
     arch::Site at = arch::Site::current()) {
    return multiplied<Code, weights_alignment, alignment>(tile, x, w, w_scale,
                                                          static_cast<const NoScales *>(nullptr),
                                                          x_pitch, w_pitch, scale_pitch, 0, at);
  }

  /// Of codes of x, with their scales.
  template <class Code, int weights_alignment = 16, int alignment = 16, class X, class W, class S,
            class XS>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  of(const Tile &tile, const X *x, const W *w, const S *w_scale, const XS *x_scale,
     int64 x_pitch = length, int64 w_pitch = length / packing<W>,
     int64 scale_pitch = (length + block_columns - 1) / block_columns,
     int64 x_scale_pitch = (length + x_block_columns - 1) / x_block_columns,
     arch::Site at = arch::Site::current()) {
    return multiplied<Code, weights_alignment, alignment>(tile, x, w, w_scale, x_scale, x_pitch,
                                                          w_pitch, scale_pitch, x_scale_pitch, at);
  }

private:
  template <class Code, int weights_alignment, int alignment, class X, class W, class S, class XS>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  multiplied(const Tile &tile, const X *x, const W *w, const S *w_scale, const XS *x_scale,
             int64 x_pitch, int64 w_pitch, int64 scale_pitch, int64 x_scale_pitch, arch::Site at) {
    using Half = typename Pairs<X>::Half;
    constexpr bool folds = Cut::is_grouped && folds_scales<W, S, Half>;
    using Cut = CutOf<folds>;
    constexpr int count = Cut::template neighbours<W>(weights_alignment), own = Cut::own;
    using OfW = Weights<Cut, ahead, W, count>;
    using OfX = typename Either<eights == 1, HeldRows<Cut, X, count, alignment>,
                                SharedRows<Cut, ahead, X, count, length, alignment>>::type;
    using Scales = typename Either<
        folds, FoldedScales<Cut, ahead, W, S, block_rows, block_columns, count, weights_alignment>,
        LoadedScales<Cut, S, block_rows, block_columns>>::type;
    constexpr int of_sums = split * Tile::rows * pitch * 4,
                  on_way = OfW::memory + OfX::memory + Scales::memory;
    constexpr int most = of_sums > on_way ? of_sums : on_way;
    auto *shared =
        reinterpret_cast<unsigned char *>(arch::shared<Product, Piece, (most + 15) / 16>());
    OfW weights(tile, w, w_pitch, shared);
    OfX rows(tile, x, x_pitch, shared + OfW::memory);
    Scales scales(tile, w_scale, scale_pitch, shared + OfW::memory + OfX::memory);
    RowScales<Cut, XS, x_block_rows, x_block_columns> row_scales(tile, x_scale, x_scale_pitch);
    auto begin = [&](int turn) {
      if (turn < Cut::turns) {
        weights.begin(turn);
        scales.begin(turn);
        rows.begin(turn);
      }
      arch::close_copies();
    };

    Sums sums{};
    Unscaled unscaled[sixteens]{};
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn)
      begin(turn);
    for (int turn = 0; turn < Cut::turns; ++turn) {
      arch::await_copies<ahead - 2>();
      rows.meet(at);
      scales.meet(at);
      begin(turn + ahead - 1);
      scales.take(turn);
      if constexpr (sums_parts<folds>) { // as it is, but here the compiler sees it
        EIDER_UNROLL
        for (int i = 0; i < sixteens; ++i)
          clear(unscaled[i]);
      }
      if (Cut::is_grouped || turn == 0)
        row_scales.load(turn);
      rows.take(turn);
      typename OfW::Codes codes{};
      weights.take(turn, codes);
      EIDER_UNROLL
      for (int s = 0; s < stage / Cut::step; ++s) {
        if constexpr (meets_codes) {
          Fragment<X, own> of_rows[eights];
          EIDER_UNROLL
          for (int e = 0; e < eights; ++e)
            of_rows[e] = rows.row(s, e);
          EIDER_UNROLL
          for (int i = 0; i < sixteens; ++i)
            multiply_codes<Cut::step>(&codes[2 * (s * sixteens + i)], of_rows, scales.of(i),
                                      row_scales, s, unscaled[i], sums[i], at);
        } else {
          uint32 pairs[eights][Pairs<X>::terms][own / 2];
          EIDER_UNROLL
          for (int e = 0; e < eights; ++e)
            pairs_of_row<Code::conversion>(rows.row(s, e), pairs[e]);
          EIDER_UNROLL
          for (int i = 0; i < sixteens; ++i) {
            uint32 of_w[2][own / 2];
            const Fragment<W, own> *of_sixteen = &codes[2 * (s * sixteens + i)];
            if constexpr (folds) {
              scales.fold(of_sixteen, s, i, of_w);
            } else {
              EIDER_UNROLL
              for (int half = 0; half < 2; ++half)
                pairs_of_codes<Code::conversion>(of_sixteen[half], of_w[half], Half());
            }
            multiply_step<W, Half>(of_w, pairs, unscaled[i], at, [&](int quarter) {
              if constexpr (!folds)
                end_part(s * Cut::step + (quarter + 1) * Cut::step / 4, unscaled[i], scales.of(i),
                         row_scales, sums[i]);
            });
          }
        }
      }
    }
    EIDER_UNROLL
    for (int i = 0; i < sixteens; ++i) {
      if constexpr (folds)
        add_folded(unscaled[i], Scales::Factors::lowered, sums[i]);
      else if constexpr (!sums_parts<folds>)
        add_scaled(unscaled[i], scales.of(i), row_scales, 0, sums[i]);
    }
    arch::await_copies<0>();
    return dealt(tile, sums, reinterpret_cast<float *>(shared), at);
  }

  /// A lane's part of a row of x, in pairs.
  template <CodecPath path, class X, int own, int terms>
  static EIDER_DEVICE void pairs_of_row(const Fragment<X, own> &row,
                                        uint32 (&pairs)[terms][own / 2]) {
    if constexpr (requires { Format<X>::bias; })
      pairs_of_codes<path>(row, pairs[0], f16());
    else
      Pairs<X>::of(row, pairs);
  }

  /// One sixteen of rows, in pairs, meets all rows of x, in a step: in quarters, of which ends(q)
  /// is told.
  template <class W, class Half, int count, int terms, class Ends>
  static EIDER_DEVICE void multiply_step(const uint32 (&w)[2][count],
                                         const uint32 (&x)[eights][terms][count],
                                         Unscaled &unscaled, arch::Site at, Ends ends) {
    constexpr bool has_infinity = requires { Format<W>::not_finite_of(0u); };
    EIDER_UNROLL
    for (int quarter = 0; quarter < count / 2; ++quarter) {
      EIDER_UNROLL
      for (int term = 0; term < terms; ++term) {
        uint32 a[4];
        EIDER_UNROLL
        for (int i = 0; i < 4; ++i) {
          const uint32 pair = w[i % 2][2 * quarter + i / 2];
          a[i] = term > 0 && has_infinity ? finite(pair) : pair;
        }
        EIDER_UNROLL
        for (int e = 0; e < eights; ++e)
          multiply_add_of<Half>(unscaled[quarter % chains][e], a, &x[e][term][2 * quarter], at);
      }
      ends(quarter);
    }
  }

  /// The same of codes as they lie: a lane's first 8 of each row are 32 of the length with those of
  /// its neighbours, and so are the others.
  template <int step, class W, class X, int own, class S, class Rows>
  static EIDER_DEVICE void
  multiply_codes(const Fragment<W, own> *codes, const Fragment<X, own> (&x)[eights],
                 const Fragment<S, groups> *scales, const Rows &row_scales, int s,
                 Unscaled &unscaled, float (&sums)[eights][4], arch::Site at) {
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      uint32 a[4];
      EIDER_UNROLL
      for (int i = 0; i < 4; ++i)
        a[i] = codes[i % 2].words[2 * half + i / 2];
      EIDER_UNROLL
      for (int e = 0; e < eights; ++e)
        arch::multiply_add_codes<W, X>(unscaled[0][e], a, &x[e].words[2 * half], at);
      end_part(s * step + (half + 1) * step / 2, unscaled, scales, row_scales, sums);
    }
  }

  /// Where so much of a stage ends a part, its sums are scaled, and the next begins.
  template <class S, int count, class Rows>
  static EIDER_DEVICE void end_part(int end, Unscaled &unscaled, const Fragment<S, count> *scales,
                                    const Rows &row_scales, float (&sums)[eights][4]) {
    if (!ends_part(end))
      return;
    const int group = Cut::is_grouped ? static_cast<int>((end - 1) / Cut::block) : 0;
    add_scaled(unscaled, scales, row_scales, group, sums);
    clear(unscaled);
  }

  /// The pair without infinities: an f32 has met them with the first of its terms.
  static EIDER_DEVICE uint32 finite(uint32 pair) {
    return ((pair & 0x7f80u) == 0x7f80u ? 0u : pair & 0xffffu) |
           ((pair & 0x7f800000u) == 0x7f800000u ? 0u : pair & 0xffff0000u);
  }

  static EIDER_DEVICE void clear(Unscaled &unscaled) {
    EIDER_UNROLL
    for (int e = 0; e < 4 * chains * eights; ++e)
      unscaled[e / 4 / eights][e / 4 % eights][e % 4] = 0.0f;
  }

  /// Adds the sums of a group, whose scales are those of two rows of w, and of x.
  template <class S, int count, class Rows>
  static EIDER_DEVICE void add_scaled(const Unscaled &unscaled, const Fragment<S, count> *scales,
                                      const Rows &row_scales, int group, float (&sums)[eights][4]) {
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float scale = float_of_scale(scales[half][group]);
      EIDER_UNROLL
      for (int e = 0; e < 2 * eights; ++e) {
        float &sum = sums[e / 2][2 * half + e % 2];
        const int at = 2 * half + e % 2;
        float all = unscaled[0][e / 2][at];
        if constexpr (chains > 1)
          all += unscaled[1][e / 2][at];
        sum = arch::fma(all, row_scales.times(scale, e / 2, e % 2, group), sum);
      }
    }
  }

  /// The same of pairs that have met their scales, so many powers of two too small.
  static EIDER_DEVICE void add_folded(const Unscaled &unscaled, int lowered,
                                      float (&sums)[eights][4]) {
    EIDER_UNROLL
    for (int e = 0; e < 4 * eights; ++e) {
      float all = unscaled[0][e / 4][e % 4];
      if constexpr (chains > 1)
        all += unscaled[1][e / 4][e % 4];
      sums[e / 4][e % 4] = all * static_cast<float>(1 << lowered);
    }
  }

  /// The sums of all warps, added up, as the tile's threads hold them.
  static EIDER_DEVICE Fragment<float, Tile::elements> dealt(const Tile &tile, const Sums &sums,
                                                            float *shared, arch::Site at) {
    constexpr int all = Tile::rows * pitch; // of a split
    const int row = Cut::lane_of_row() * 2;
    const int column = Cut::strip() * sixteens * 16 + Cut::row_of_lane();
    arch::barrier(at); // what was there has been read
    EIDER_UNROLL
    for (int i = 0; i < sixteens; ++i)
      EIDER_UNROLL
    for (int e = 0; e < 4 * eights; ++e)
      shared[Cut::part() * all + (e / 4 * 8 + row + e % 2) * pitch + column + i * 16 +
             e % 4 / 2 * 8] = sums[i][e / 4][e % 4];
    arch::barrier(at);
    const auto result = tile.elements_of([&](int row, int column) {
      const float *from = shared + row * pitch + column;
      float sum = from[0];
      EIDER_UNROLL
      for (int q = 1; q < split; ++q)
        sum += from[q * all];
      return sum;
    });
    arch::barrier(at); // before others come there
    return result;
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_PRODUCT_CUH
