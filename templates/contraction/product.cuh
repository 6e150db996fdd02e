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
  /// And of one of x; the next is held while one is multiplied, where that is not much.
  template <class X> using Others = Fragment<X, own>[loads][eights];
  static constexpr bool holds_next = loads * eights <= 4;
  /// Sums of a block, in turn into several where few products would wait for each other.
  static constexpr int chains = sixteens * eights <= 2 ? 2 : 1;
  using Unscaled = float[chains][eights][4];

  /// Rows of w on their way: a thread's codes of the next `ahead` stages lie in shared memory,
  /// which no other reads. Each row begins where the thread's part of the warp's next stage does.
  template <class W, class S, int count> struct Rows {
    static constexpr int bytes = bytes_of<W>(own), bytes_at_once = bytes_of<W>(count);
    static constexpr int piece = Tile::block_threads * bytes; // of all threads
    const W *codes[sixteens][2];
    const S *scales[sixteens][2];

    static EIDER_DEVICE unsigned char *slot(int turn) {
      auto *all = arch::shared<Rows, uint32, ahead * pieces * piece / 4>();
      return reinterpret_cast<unsigned char *>(all) + turn % ahead * (pieces * piece) +
             arch::thread_index() * bytes;
    }

    /// Begins to load the codes of the warp's next stage, its `turn`th, at element `first`.
    EIDER_DEVICE void begin(int turn, int first) {
      unsigned char *to = slot(turn);
      EIDER_UNROLL
      for (int p = 0; p < pieces; ++p) {
        const W *row = codes[p / 2 % sixteens][p % 2];
        const int from = p / 2 / sixteens * step;
        if constexpr (bytes_at_once >= 4) {
          EIDER_UNROLL
          for (int i = 0; i < own; i += count)
            arch::begin_copy<bytes_at_once>(to + p * piece + bytes_of<W>(i),
                                            row + (from + i * 4) / packing<W>,
                                            is_inside<count>(first + from + i * 4));
        } else {
          Fragment<W, own> loaded{};
          load_own<count, bytes_at_once>(row, first, from, loaded);
          arch::store_words<bytes>(to + p * piece, loaded.words);
        }
      }
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i)
        codes[i / 2][i % 2] += split * stage / packing<W>;
    }

    /// The codes of such a stage, which have come.
    static EIDER_DEVICE void take(int turn, Codes<W> &taken) {
      const unsigned char *from = slot(turn);
      EIDER_UNROLL
      for (int p = 0; p < pieces; ++p)
        arch::load_words<bytes>(from + p * piece,
                                taken[p / 2 / sixteens][p / 2 % sixteens][p % 2].words);
    }

    EIDER_DEVICE void load_scales(int first, Scales<S> &loaded) const {
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i) {
        Fragment<S, groups> &of_row = loaded[i / 2][i % 2];
        of_row = {};
        EIDER_UNROLL
        for (int g = 0; g < groups; ++g) {
          const int64 group = first / block_columns + g;
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
    const int begins = part * stage + arch::thread_index() % 4 * count; // in each row
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i) {
      int64 row = tile.first_column() + (strip * sixteens * 2 + i) * 8 + row_of_lane;
      if constexpr (Tile::matrix_columns % Tile::width != 0)
        row = least(row, Tile::matrix_columns - 1);
      rows.codes[i / 2][i % 2] = w + row * w_pitch + begins / packing<W>;
      rows.scales[i / 2][i % 2] = w_scale + row / block_rows * scale_pitch;
    }
    const X *others[eights];
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      others[e] = x + begins +
                  least(tile.first_row() + e * 8 + row_of_lane, tile.matrix_rows() - 1) * x_pitch;

    float sums[sixteens][eights][4]{};
    Unscaled unscaled[sixteens]{};
    constexpr int stride = split * stage; // from a warp's stage to its next
    const int end = static_cast<int>(length);
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn) {
      if (part * stage + turn * stride < end)
        rows.begin(turn, part * stage + turn * stride);
      arch::close_copies();
    }
    Scales<S> next_scales{};
    if (is_grouped && part * stage < end)
      rows.load_scales(part * stage, next_scales);
    Others<X> next_others{};
    if (holds_next && part * stage < end)
      load_others<count, alignment>(others, part * stage, next_others);
    int turn = 0;
    for (int first = part * stage; first < end; first += stride, ++turn) {
      if (first + (ahead - 1) * stride < end)
        rows.begin(turn + ahead - 1, first + (ahead - 1) * stride);
      arch::close_copies();
      Scales<S> scales;
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i)
        scales[i / 2][i % 2] = next_scales[i / 2][i % 2];
      if (is_grouped && first + stride < end)
        rows.load_scales(first + stride, next_scales);
      Others<X> others_of_stage{};
      if constexpr (holds_next) {
        EIDER_UNROLL
        for (int i = 0; i < loads * eights; ++i)
          others_of_stage[i / eights][i % eights] = next_others[i / eights][i % eights];
        if (first + stride < end)
          load_others<count, alignment>(others, first + stride, next_others);
      } else {
        load_others<count, alignment>(others, first, others_of_stage);
      }
      arch::await_copies<ahead - 1>();
      Codes<W> codes{};
      rows.take(turn, codes);
      EIDER_UNROLL
      for (int s = 0; s < loads; ++s) {
        constexpr int terms = Pairs<X>::terms;
        using Half = typename Pairs<X>::Half;
        uint32 pairs[eights][terms][own / 2];
        EIDER_UNROLL
        for (int e = 0; e < eights; ++e) {
          Pairs<X>::of(others_of_stage[s][e], pairs[e]);
          if constexpr (is_interleaved<W, Half>) {
            EIDER_UNROLL
            for (int i = 0; i < terms * own / 2; i += 2)
              interleave(&pairs[e][i / (own / 2)][i % (own / 2)]);
          }
        }
        EIDER_UNROLL
        for (int i = 0; i < sixteens; ++i)
          multiply_step<Code, Half, terms>(codes[s][i], pairs, scales[i], s, unscaled[i], sums[i],
                                           at);
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

  /// Whether a thread's neighbours are in the row, of a step's part that begins at `first`.
  template <int count> static EIDER_DEVICE bool is_inside(int first) {
    return length % stage == 0 || first + arch::thread_index() % 4 * count < length;
  }

  /// A thread's elements of the step `from` after `first`, 0 past the row's end. `row` is where the
  /// thread's part begins of what begins there.
  template <int count, int alignment, class T>
  static EIDER_DEVICE void load_own(const T *row, int first, int from, Fragment<T, own> &to) {
    EIDER_UNROLL
    for (int i = 0; i < own; i += count)
      if (is_inside<count>(first + from + i * 4))
        load_whole_chunk<count, alignment, cached>(row + (from + i * 4) / packing<T>, to, i);
  }

  /// A stage of x, of rows that begin where the thread's part does; then the next does.
  template <int count, int alignment, class X>
  static EIDER_DEVICE void load_others(const X *(&rows)[eights], int first, Others<X> &to) {
    EIDER_UNROLL
    for (int i = 0; i < loads * eights; ++i) {
      to[i / eights][i % eights] = {};
      load_own<count, alignment>(rows[i % eights], first, i / eights * step,
                                 to[i / eights][i % eights]);
    }
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      rows[e] += split * stage;
  }

  /// One sixteen of rows meets all rows of x, in a step.
  template <class Code, class Half, int terms, class W, class S>
  static EIDER_DEVICE void
  multiply_step(const Fragment<W, own> (&codes)[2], const uint32 (&x)[eights][terms][own / 2],
                const Fragment<S, groups> (&scales)[2], int s, Unscaled &unscaled,
                float (&sums)[eights][4], arch::Site at) {
    constexpr bool has_infinity = requires { Format<W>::not_finite_of(0u); };
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
          a[i] = term > 0 && has_infinity ? finite(pair) : pair;
        }
        EIDER_UNROLL
        for (int e = 0; e < eights; ++e)
          multiply_add(unscaled[quarter % chains][e], a, &x[e][term][2 * quarter], Half(), at);
      }
      const int end = s * step + (quarter + 1) * step / 4;
      if (is_grouped && (end % block_columns == 0 || end == stage)) {
        add_scaled(unscaled, scales, (end - 1) / block_columns, sums);
        EIDER_UNROLL
        for (int e = 0; e < 4 * chains * eights; ++e)
          unscaled[e / 4 / eights][e / 4 % eights][e % 4] = 0.0f;
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
  static EIDER_DEVICE void add_scaled(const Unscaled &unscaled,
                                      const Fragment<S, count> (&scales)[2], int group,
                                      float (&sums)[eights][4]) {
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float scale = float_of(scales[half][group]);
      EIDER_UNROLL
      for (int e = 0; e < 2 * eights; ++e) {
        float &sum = sums[e / 2][2 * half + e % 2];
        const int at = 2 * half + e % 2;
        float all = unscaled[0][e / 2][at];
        if constexpr (chains > 1)
          all += unscaled[1][e / 2][at];
        sum = arch::fma(all, scale, sum);
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
      if (Tile::has_spare_threads && tile.row_of_tile(n) >= Tile::rows) {
        result.fill(n, 0.0f);
        continue;
      }
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
