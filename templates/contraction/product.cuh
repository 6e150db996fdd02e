//===- eider/contraction/product.cuh - A tile of x · wᵀ ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_PRODUCT_CUH
#define EIDER_CONTRACTION_PRODUCT_CUH

#include "eider/contraction/pairs.cuh"
#include "eider/tile/block.cuh"

namespace eider {

/// The tile of x · wᵀ: x is a [rows, length] matrix, w a [columns, length] one of codes, of which
/// `block_rows` × `block_columns` have a scale together. Rows of w are spread over the warps, which
/// multiply 16 of them at a time with 8 of x; `split` warps have the same, each its own part of the
/// length, of which it takes `loads` steps at a time and loads `ahead` such stages. Sums of a block
/// are scaled in f32 before they meet; the split ones are added up in the order of the warps.
///
/// Along the length it is free which of its elements stand where in a step's products, if only w
/// and x have the same there: so a thread has neighbours, and loads them together.
template <class Tile, int64 length, int64 block_rows, int64 block_columns, int split, int loads,
          int ahead>
class Product {
  static constexpr int warps = Tile::block_threads / 32, strips = warps / split;
  static constexpr int sixteens = Tile::width / strips / 16, eights = Tile::rows / 8;
  static constexpr int step = 64, stage = step * loads, own = 16; // elements; a thread's of a step
  static constexpr int stages = static_cast<int>((length + stage - 1) / stage);
  static constexpr bool is_grouped = block_columns < length;
  static constexpr int groups = !is_grouped || block_columns >= stage ? 1 : stage / block_columns;
  static constexpr int pitch = Tile::width + 4; // of sums in shared memory: no bank twice
  static_assert(Tile::block_threads % 32 == 0 && warps % split == 0, "warps come in splits");
  static_assert(sixteens * 16 * strips == Tile::width, "each warp has 16 rows of w, or more");
  static_assert(eights * 8 == Tile::rows, "8 rows of x meet at a time");
  static_assert(!is_grouped || block_columns >= 16, "16 of the length meet at a time");
  static_assert(!is_grouped || stage % block_columns == 0 || block_columns % stage == 0,
                "what a warp takes at a time ends in the middle of a block");

  /// Neighbours that a thread loads: few where rows begin anywhere or blocks are short.
  template <class T> static constexpr EIDER_DEVICE int neighbours(int alignment) {
    int count = own;
    while (count > 1 && (length % count != 0 || (is_grouped && 4 * count > block_columns) ||
                         bytes_of<T>(count) > alignment))
      count /= 2;
    return count;
  }

  /// What a thread has of one stage of w: of two rows of each sixteen.
  template <class W> using Codes = Fragment<W, own>[loads][sixteens][2];
  template <class S> using Scales = Fragment<S, groups>[sixteens][2];
  static constexpr int pieces = loads * sixteens * 2;

  /// Rows of w on their way: a thread's codes of the next `ahead` stages lie in shared memory,
  /// which no other reads.
  template <class W, class S, int count> struct Rows {
    static constexpr int bytes = bytes_of<W>(own), bytes_at_once = bytes_of<W>(count);
    const W *codes[sixteens][2];
    const S *scales[sixteens][2];

    static EIDER_DEVICE unsigned char *slot(int stage_number, int piece) {
      auto *all = arch::shared<Rows, uint32, ahead * pieces * Tile::block_threads * bytes / 4>();
      const int number = (stage_number % ahead * pieces + piece) * Tile::block_threads;
      return reinterpret_cast<unsigned char *>(all) + (number + arch::thread_index()) * bytes;
    }

    /// Begins to load the codes of a stage, the warp's `turn`th.
    EIDER_DEVICE void begin(int number, int turn) const {
      const int lane = arch::thread_index() % 4;
      EIDER_UNROLL
      for (int p = 0; p < pieces; ++p) {
        const W *row = codes[p / 2 % sixteens][p % 2];
        const int first = number * stage + p / 2 / sixteens * step;
        if constexpr (bytes_at_once >= 4) {
          EIDER_UNROLL
          for (int i = 0; i < own; i += count) {
            const int64 from = first + i * 4 + lane * count;
            arch::begin_copy<bytes_at_once>(slot(turn, p) + bytes_of<W>(i), row + from / packing<W>,
                                            from < length);
          }
        } else {
          Fragment<W, own> loaded{};
          load_own<count, bytes_at_once>(row, first, loaded);
          arch::store_words<bytes>(slot(turn, p), loaded.words);
        }
      }
    }

    /// The codes of such a stage, which have come.
    EIDER_DEVICE void take(int turn, Codes<W> &taken) const {
      EIDER_UNROLL
      for (int p = 0; p < pieces; ++p)
        arch::load_words<bytes>(slot(turn, p),
                                taken[p / 2 / sixteens][p / 2 % sixteens][p % 2].words);
    }

    EIDER_DEVICE void load_scales(int number, Scales<S> &loaded) const {
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i) {
        Fragment<S, groups> &of_row = loaded[i / 2][i % 2];
        of_row = {};
        EIDER_UNROLL
        for (int g = 0; g < groups; ++g) {
          const int64 group = static_cast<int64>(number) * stage / block_columns + g;
          if (length % stage == 0 || group * block_columns < length)
            of_row.fill(g, scales[i / 2][i % 2][group]);
        }
      }
    }
  };

public:
  /// What each thread holds of the tile. `weights_alignment` and `alignment` are the bytes that the
  /// rows of w and x start at multiples of; pitches in elements (bytes of packed ones). Every
  /// thread of the CUDA block takes part.
  template <class Code, int weights_alignment = 16, int alignment = 16, class X, class W, class S>
  static EIDER_DEVICE Fragment<float, Tile::elements>
  of(const Tile &tile, const X *x, const W *w, const S *w_scale, int64 x_pitch = length,
     int64 w_pitch = length / packing<W>,
     int64 scale_pitch = (length + block_columns - 1) / block_columns,
     arch::Site at = arch::Site::current()) {
    constexpr int count = neighbours<W>(weights_alignment);
    const int warp = arch::thread_index() / 32, part = warp % split, strip = warp / split;
    const int row_of_lane = arch::thread_index() % 32 / 4;

    // Rows past the end are the last one once more: nothing of them is kept.
    Rows<W, S, count> rows;
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i) {
      const int64 row = least(tile.first_column() + (strip * sixteens * 2 + i) * 8 + row_of_lane,
                              Tile::matrix_columns - 1);
      rows.codes[i / 2][i % 2] = w + row * w_pitch;
      rows.scales[i / 2][i % 2] = w_scale + row / block_rows * scale_pitch;
    }
    const X *others[eights];
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      others[e] =
          x + least(tile.first_row() + e * 8 + row_of_lane, tile.matrix_rows() - 1) * x_pitch;

    float sums[sixteens][eights][4]{}, unscaled[sixteens][eights][4]{};
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn) {
      if (part + turn * split < stages)
        rows.begin(part + turn * split, turn);
      arch::close_copies();
    }
    Scales<S> next_scales{};
    if (is_grouped && part < stages)
      rows.load_scales(part, next_scales);
    for (int turn = 0; part + turn * split < stages; ++turn) {
      const int number = part + turn * split, last = number + (ahead - 1) * split;
      if (last < stages)
        rows.begin(last, turn + ahead - 1);
      arch::close_copies();
      Scales<S> scales;
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i)
        scales[i / 2][i % 2] = next_scales[i / 2][i % 2];
      if (is_grouped && number + split < stages)
        rows.load_scales(number + split, next_scales);
      Fragment<X, own> others_of_stage[loads][eights]{};
      EIDER_UNROLL
      for (int i = 0; i < loads * eights; ++i)
        load_own<count, alignment>(others[i % eights], number * stage + i / eights * step,
                                   others_of_stage[i / eights][i % eights]);
      arch::await_copies<ahead - 1>();
      Codes<W> codes{};
      rows.take(turn, codes);
      EIDER_UNROLL
      for (int s = 0; s < loads; ++s) {
        constexpr int terms = Pairs<X>::terms;
        uint32 pairs[eights][terms][own / 2];
        EIDER_UNROLL
        for (int e = 0; e < eights; ++e)
          Pairs<X>::of(others_of_stage[s][e], pairs[e]);
        EIDER_UNROLL
        for (int i = 0; i < sixteens; ++i)
          multiply_step<Code, typename Pairs<X>::Half, terms>(codes[s][i], pairs, scales[i], s,
                                                              unscaled[i], sums[i], at);
      }
    }
    if constexpr (!is_grouped) {
      EIDER_UNROLL
      for (int i = 0; i < sixteens; ++i) {
        Fragment<S, 1> scales[2]{};
        EIDER_UNROLL
        for (int half = 0; half < 2; ++half)
          scales[half].fill(0, *rows.scales[i][half]);
        add_scaled(unscaled[i], scales, 0, sums[i]);
      }
    }
    return dealt(tile, sums, part, strip, at);
  }

private:
  static EIDER_DEVICE int64 least(int64 a, int64 b) { return a < b ? a : b; }

  /// A thread's elements of the step that begins at element `first` of a row, 0 past its end.
  template <int count, int alignment, class T>
  static EIDER_DEVICE void load_own(const T *row, int first, Fragment<T, own> &to) {
    const int lane = arch::thread_index() % 4;
    EIDER_UNROLL
    for (int i = 0; i < own; i += count) {
      const int64 from = first + i * 4 + lane * count;
      if (length % stage == 0 || from < length)
        load_whole_chunk<count, alignment, cached>(row + from / packing<T>, to, i);
    }
  }

  /// One sixteen of rows meets all rows of x, in a step.
  template <class Code, class Half, int terms, class W, class S>
  static EIDER_DEVICE void
  multiply_step(const Fragment<W, own> (&codes)[2], const uint32 (&x)[eights][terms][own / 2],
                const Fragment<S, groups> (&scales)[2], int s, float (&unscaled)[eights][4],
                float (&sums)[eights][4], arch::Site at) {
    uint32 w[2][own / 2];
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half)
      pairs_of_codes<Code::conversion>(codes[half], w[half], Half());
    EIDER_UNROLL
    for (int quarter = 0; quarter < own / 4; ++quarter) {
      EIDER_UNROLL
      for (int term = 0; term < terms; ++term) {
        uint32 a[4];
        EIDER_UNROLL
        for (int i = 0; i < 4; ++i) {
          const uint32 pair = w[i % 2][2 * quarter + i / 2];
          a[i] = term == 0 || !detail::HasNotFinite<W> ? pair : finite(pair);
        }
        EIDER_UNROLL
        for (int e = 0; e < eights; ++e)
          multiply_add(unscaled[e], a, &x[e][term][2 * quarter], Half(), at);
      }
      const int end = s * step + (quarter + 1) * step / 4;
      if (is_grouped && (end % block_columns == 0 || end == stage)) {
        add_scaled(unscaled, scales, (end - 1) / block_columns, sums);
        EIDER_UNROLL
        for (int e = 0; e < 4 * eights; ++e)
          unscaled[e / 4][e % 4] = 0.0f;
      }
    }
  }

  /// The pair without infinities: an f32 has met them with the first of its terms.
  static EIDER_DEVICE uint32 finite(uint32 pair) {
    return ((pair & 0x7f80u) == 0x7f80u ? 0u : pair & 0xffffu) |
           ((pair & 0x7f800000u) == 0x7f800000u ? 0u : pair & 0xffff0000u);
  }

  static EIDER_DEVICE void multiply_add(float *c, const uint32 *a, const uint32 *b, bf16,
                                        arch::Site at) {
    arch::multiply_add_bf16(c, a, b, at);
  }
  static EIDER_DEVICE void multiply_add(float *c, const uint32 *a, const uint32 *b, f16,
                                        arch::Site at) {
    arch::multiply_add_f16(c, a, b, at);
  }

  /// Adds the sums of a group, whose scales are those of two rows.
  template <class S, int count>
  static EIDER_DEVICE void add_scaled(const float (&unscaled)[eights][4],
                                      const Fragment<S, count> (&scales)[2], int group,
                                      float (&sums)[eights][4]) {
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float scale = float_of(scales[half][group]);
      EIDER_UNROLL
      for (int e = 0; e < 2 * eights; ++e) {
        float &sum = sums[e / 2][2 * half + e % 2];
        sum = arch::fma(unscaled[e / 2][2 * half + e % 2], scale, sum);
      }
    }
  }

  template <class S> static EIDER_DEVICE float float_of(S scale) {
    if constexpr (same<S, float>)
      return scale;
    else if constexpr (requires { Format<S>::bias; })
      return Codec<S, software>::decode(scale);
    else
      return to<float>(scale);
  }

  /// The sums of all warps, added up, as the tile's threads hold them.
  static EIDER_DEVICE Fragment<float, Tile::elements>
  dealt(const Tile &tile, const float (&sums)[sixteens][eights][4], int part, int strip,
        arch::Site at) {
    constexpr int all = Tile::rows * pitch; // of a split
    float *shared = arch::shared<Product, float, split * all>();
    const int row = arch::thread_index() % 4 * 2;
    const int column = strip * sixteens * 16 + arch::thread_index() % 32 / 4;
    arch::barrier(at); // what was there has been read
    EIDER_UNROLL
    for (int i = 0; i < sixteens; ++i)
      EIDER_UNROLL
    for (int e = 0; e < 4 * eights; ++e)
      shared[part * all + (e / 4 * 8 + row + e % 2) * pitch + column + i * 16 + e % 4 / 2 * 8] =
          sums[i][e / 4][e % 4];
    arch::barrier(at);
    Fragment<float, Tile::elements> result;
    EIDER_UNROLL
    for (int n = 0; n < Tile::elements; ++n) {
      const float *from = shared + tile.row_of_tile(n) * pitch + tile.column_of_tile(n);
      float sum = from[0];
      EIDER_UNROLL
      for (int q = 1; q < split; ++q)
        sum += from[q * all];
      result.fill(n, sum);
    }
    return result;
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_PRODUCT_CUH
