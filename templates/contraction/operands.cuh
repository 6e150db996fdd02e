//===- eider/contraction/operands.cuh - Weights and rows on their way -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// What the warps of a product load, and how long before they multiply it. The elements of a row go
// by in stages of some steps; each of the `split` warps that share a sum has every so manieth
// stage.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_OPERANDS_CUH
#define EIDER_CONTRACTION_OPERANDS_CUH

#include "eider/contraction/folded.cuh"
#include "eider/memory/copy.cuh"
#include "eider/tile/block.cuh"

namespace eider {

/// How a product is cut: what its warps have, and the stages of their rows, in steps of which a
/// thread has `own` elements; whether pairs of these meet their scales beforehand.
template <class Tile, int64 length_, int64 block_, int split, int loads, int own_ = 16,
          bool folds_ = false>
struct ProductCut {
  static constexpr int64 length = length_;
  static constexpr int64 block = block_; // of the length, of which sums are scaled together
  static constexpr int warps = Tile::block_threads / 32, strips = warps / split;
  static constexpr int sixteens = Tile::width / strips / 16, eights = Tile::rows / 8;
  static constexpr int own = own_, step = 4 * own, stage = 64 * loads; // elements
  static constexpr bool folds = folds_;
  static constexpr int stride = split * stage; // from a warp's stage to its next
  static constexpr int turns = static_cast<int>((length + stride - 1) / stride);
  static constexpr bool is_even = length % stride == 0;
  static constexpr bool is_grouped = block < length;
  static constexpr int groups = !is_grouped || block >= stage ? 1 : stage / block;
  static_assert(Tile::block_threads % 32 == 0 && warps % split == 0, "warps come in splits");
  static_assert(sixteens * 16 * strips == Tile::width, "each warp has 16 rows of w, or more");
  static_assert(eights * 8 == Tile::rows, "8 rows of x meet at a time");
  static_assert(!is_grouped || block >= 16, "16 of the length meet at a time");
  static_assert(stage % step == 0, "a stage is whole steps");
  static_assert(!is_grouped || stage % block == 0 || block % stage == 0,
                "what a warp takes at a time ends in the middle of a block");

  static EIDER_DEVICE int part() { return arch::thread_index() / 32 % split; }
  static EIDER_DEVICE int strip() { return arch::thread_index() / 32 / split; }
  static EIDER_DEVICE int row_of_lane() { return arch::thread_index() % 32 / 4; }
  static EIDER_DEVICE int lane_of_row() { return arch::thread_index() % 4; }

  /// Neighbours that a thread has together: few where rows begin anywhere, or where blocks are
  /// short and the elements of four threads need one scale.
  template <class T> static constexpr EIDER_DEVICE int neighbours(int alignment) {
    int count = own;
    while (count > 1 &&
           (length % count != 0 || (is_grouped && 4 * count > block && !(folds && count == own)) ||
            bytes_of<T>(count) > alignment))
      count /= 2;
    return count;
  }

  /// Whether what is `from` after the start of the warp's stage of a turn is in the row.
  static EIDER_DEVICE bool is_inside(int turn, int from) {
    return is_even || turn * stride + part() * stage + from < length;
  }

  /// Which block of so many `columns` of a row a group of the warp's stage is of, and whether it is
  /// in the row.
  template <int64 columns> static EIDER_DEVICE int64 block_of(int turn, int group) {
    const int first = turn * stride + part() * stage;
    return is_grouped && columns < length ? (first / block + group) / (columns / block) : 0;
  }
  static EIDER_DEVICE bool has_group(int turn, int group) {
    return !is_grouped || is_inside(turn, group * static_cast<int>(block));
  }
};

/// A row of w, of those of the warp. Rows past the end are the last one once more: nothing of them
/// is kept.
template <class Cut, class Tile>
EIDER_DEVICE int64 row_of_weights(const Tile &tile, int row_of_warp) {
  const int64 row = tile.first_column() + Cut::strip() * Cut::sixteens * 16 + row_of_warp;
  if constexpr (Tile::matrix_columns % Tile::width != 0)
    return row < Tile::matrix_columns ? row : Tile::matrix_columns - 1;
  return row;
}

/// A lane's rows of w on their way, two of each sixteen: its codes of the next `ahead` stages lie
/// in shared memory, which no other reads.
template <class Cut, int ahead, class W, int count> struct Weights {
  static constexpr int pieces = Cut::stage / Cut::step * Cut::sixteens * 2;
  static constexpr int bytes = bytes_of<W>(Cut::own);
  static constexpr int piece = Cut::warps * 32 * bytes; // of all threads
  static constexpr int memory = ahead * pieces * piece;
  using Codes = Fragment<W, Cut::own>[pieces];

  template <class Tile>
  EIDER_DEVICE Weights(const Tile &tile, const W *w, int64 pitch, unsigned char *shared)
      : shared_(shared + arch::thread_index() * bytes) {
    const int begins = Cut::part() * Cut::stage + Cut::lane_of_row() * count;
    EIDER_UNROLL
    for (int i = 0; i < 2 * Cut::sixteens; ++i)
      codes_[i] =
          w + row_of_weights<Cut>(tile, i * 8 + Cut::row_of_lane()) * pitch + begins / packing<W>;
  }

  /// Begins to load the codes of a turn, the one after that of the call before.
  EIDER_DEVICE void begin(int turn) {
    EIDER_UNROLL
    for (int p = 0; p < pieces; ++p)
      EIDER_UNROLL
    for (int i = 0; i < Cut::own; i += count) {
      const int from = p / 2 / Cut::sixteens * Cut::step + i * 4;
      begin_copy<bytes_of<W>(count)>(slot(turn) + p * piece + bytes_of<W>(i),
                                     codes_[p % (2 * Cut::sixteens)] + from / packing<W>,
                                     Cut::is_inside(turn, from + Cut::lane_of_row() * count));
    }
    EIDER_UNROLL
    for (int i = 0; i < 2 * Cut::sixteens; ++i)
      codes_[i] += Cut::stride / packing<W>;
  }

  /// The codes of a turn, which have come.
  EIDER_DEVICE void take(int turn, Codes &taken) const {
    EIDER_UNROLL
    for (int p = 0; p < pieces; ++p)
      arch::load_words<bytes>(slot(turn) + p * piece, taken[p].words);
  }

private:
  const W *codes_[2 * Cut::sixteens]; // where the lane's part of the warp's next stage begins
  unsigned char *shared_;

  EIDER_DEVICE unsigned char *slot(int turn) const {
    return shared_ + turn % ahead * (pieces * piece);
  }
};

/// Scales of a lane's rows of w, two of each sixteen, of a turn's groups: loaded a turn before.
template <class Cut, class S, int64 block_rows, int64 block_columns> class LoadedScales {
  using Scales = Fragment<S, Cut::groups>[2 * Cut::sixteens];
  const S *from_[2 * Cut::sixteens]; // the rows' first blocks
  Scales taken_, next_;

  EIDER_DEVICE void load(int turn) {
    EIDER_UNROLL
    for (int i = 0; i < 2 * Cut::sixteens; ++i) {
      next_[i] = {};
      EIDER_UNROLL
      for (int g = 0; g < Cut::groups; ++g)
        if (Cut::has_group(turn, g))
          next_[i].fill(g, from_[i][Cut::template block_of<block_columns>(turn, g)]);
    }
  }

public:
  static constexpr int memory = 0;

  template <class Tile>
  EIDER_DEVICE LoadedScales(const Tile &tile, const S *scale, int64 pitch, unsigned char *) {
    EIDER_UNROLL
    for (int i = 0; i < 2 * Cut::sixteens; ++i)
      from_[i] = scale + row_of_weights<Cut>(tile, i * 8 + Cut::row_of_lane()) / block_rows * pitch;
  }

  EIDER_DEVICE void begin(int turn) {
    if (turn == 0)
      load(0);
  }
  EIDER_DEVICE void meet(arch::Site) const {}

  /// Those of a turn; the next are loaded. Those of whole rows are the first turn's.
  EIDER_DEVICE void take(int turn) {
    EIDER_UNROLL
    for (int i = 0; i < 2 * Cut::sixteens; ++i)
      taken_[i] = next_[i];
    if (Cut::is_grouped && turn + 1 < Cut::turns)
      load(turn + 1);
  }
  /// Of both of the lane's rows of a sixteen.
  EIDER_DEVICE const Fragment<S, Cut::groups> *of(int sixteen) const {
    return &taken_[2 * sixteen];
  }
};

/// Scales that pairs of codes W meet: those of a warp's rows, of as many stages as codes, are on
/// their way to shared memory, for all of its lanes. Of rows of codes that begin at multiples of
/// `alignment` bytes scales begin at such of their own number, if at all.
template <class Cut, int ahead, class W, class S, int64 block_rows, int64 block_columns, int count,
          int alignment>
class FoldedScales {
  static constexpr int64 blocks_of_row = (Cut::length + block_columns - 1) / block_columns;
  static constexpr int rows = 16 * Cut::sixteens; // of the warp
  static constexpr EIDER_DEVICE int bytes_of_copy() {
    int bytes = alignment == 1 ? 1 : 16;
    while (blocks_of_row % bytes != 0 || Cut::groups % bytes != 0)
      bytes /= 2;
    return bytes;
  }
  static constexpr int at_once = bytes_of_copy(), slot_bytes = Cut::warps * rows * Cut::groups;
  /// Of what a lane has of a row in a step: of neighbours those of all, else of all lanes'.
  static constexpr int span = count == Cut::own ? Cut::own : Cut::step;
  static constexpr int block = static_cast<int>(block_columns);
  static constexpr int of_row = span > block ? span / block : 1;
  static_assert(sizeof(S) == 1, "a byte each");
  const S *from_[(rows + 31) / 32]; // the first blocks of the rows that the lane copies
  unsigned char *shared_;           // of the warp
  const unsigned char *taken_ = nullptr;

public:
  static constexpr int memory = ahead * slot_bytes;
  using Factors = ScaleFactors<W, S, 2 * of_row>;

  template <class Tile>
  EIDER_DEVICE FoldedScales(const Tile &tile, const S *scale, int64 pitch, unsigned char *shared)
      : shared_(shared + arch::thread_index() / 32 * rows * Cut::groups) {
    EIDER_UNROLL
    for (int i = 0; i < (rows + 31) / 32; ++i)
      from_[i] = scale +
                 row_of_weights<Cut>(tile, i * 32 + arch::thread_index() % 32) / block_rows * pitch;
  }

  /// Begins to copy those of a turn.
  EIDER_DEVICE void begin(int turn) {
    const int lane = arch::thread_index() % 32;
    EIDER_UNROLL
    for (int i = 0; i < (rows + 31) / 32; ++i)
      if (rows % 32 == 0 || i * 32 + lane < rows) {
        EIDER_UNROLL
        for (int g = 0; g < Cut::groups; g += at_once)
          begin_copy<at_once>(
              shared_ + turn % ahead * slot_bytes + (i * 32 + lane) * Cut::groups + g,
              from_[i] + Cut::template block_of<block_columns>(turn, g), Cut::has_group(turn, g));
      }
  }

  /// Where all lanes have what they have begun for a turn.
  EIDER_DEVICE void meet(arch::Site at) const { arch::warp_barrier(at); }

  EIDER_DEVICE void take(int turn) { taken_ = shared_ + turn % ahead * slot_bytes; }

  /// The lane's codes of a step, of both of its rows of a sixteen, times their scales.
  EIDER_DEVICE void fold(const Fragment<W, Cut::own> *codes, int step, int sixteen,
                         uint32 (&pairs)[2][Cut::own / 2]) const {
    const int first = step * Cut::step / block + Cut::lane_of_row() * count / block;
    Fragment<S, 2 * of_row> scales{};
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = sixteen * 16 + half * 8 + Cut::row_of_lane();
      load_whole_chunk<of_row, of_row, cached>(
          reinterpret_cast<const S *>(taken_ + row * Cut::groups + first), scales, half * of_row);
    }
    const Factors factors(scales);
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half)
      folded_pairs(
          codes[half], factors,
          [=](int i) {
            const int offset = count == Cut::own ? i : i / count * 4 * count;
            return half * of_row + offset / block;
          },
          pairs[half]);
  }
};

/// What x has where it is floats.
struct NoScales {};

/// Scales of a lane's rows of x, two of each eight, of a turn's groups.
template <class Cut, class S, int64 block_rows, int64 block_columns> class RowScales {
  const S *scale_;
  int64 pitch_, row_, last_;
  float loaded_[Cut::eights][2][Cut::groups];

public:
  template <class Tile>
  EIDER_DEVICE RowScales(const Tile &tile, const S *scale, int64 pitch)
      : scale_(scale), pitch_(pitch), row_(tile.first_row() + Cut::lane_of_row() * 2),
        last_(tile.matrix_rows() - 1) {}

  /// Rows past the end are the last one once more.
  EIDER_DEVICE void load(int turn) {
    EIDER_UNROLL
    for (int e = 0; e < 2 * Cut::eights; ++e) {
      int64 row = row_ + e / 2 * 8 + e % 2;
      row = block_rows == all_rows ? 0 : row < last_ ? row : last_;
      const S *from = scale_ + row * pitch_;
      EIDER_UNROLL
      for (int g = 0; g < Cut::groups; ++g)
        loaded_[e / 2][e % 2][g] =
            Cut::has_group(turn, g)
                ? float_of_scale(from[Cut::template block_of<block_columns>(turn, g)])
                : 0.0f;
    }
  }
  /// A row of w's scale and that of one of the lane's two rows of an eight.
  EIDER_DEVICE float times(float scale, int eight, int which, int group) const {
    return scale * loaded_[eight][which][group];
  }
};

template <class Cut, int64 block_rows, int64 block_columns>
struct RowScales<Cut, NoScales, block_rows, block_columns> {
  template <class Tile> EIDER_DEVICE RowScales(const Tile &, const NoScales *, int64) {}
  EIDER_DEVICE void load(int) {}
  EIDER_DEVICE float times(float scale, int, int, int) const { return scale; }
};

/// Eight rows of x: a lane has its part of one in registers, of the next stage while one is
/// multiplied.
template <class Cut, class X, int count, int alignment> struct HeldRows {
  static constexpr int memory = 0;
  using Stage = Fragment<X, Cut::own>[Cut::stage / Cut::step];

  /// Rows past the end are the last one once more.
  template <class Tile>
  EIDER_DEVICE HeldRows(const Tile &tile, const X *x, int64 pitch, unsigned char *) {
    const int64 row = tile.first_row() + Cut::row_of_lane(), last = tile.matrix_rows() - 1;
    row_ = x + (row < last ? row : last) * pitch + Cut::part() * Cut::stage +
           Cut::lane_of_row() * count;
    load(0);
  }

  EIDER_DEVICE void begin(int) {}
  EIDER_DEVICE void meet(arch::Site) const {}

  /// Those of a turn; the next are loaded.
  EIDER_DEVICE void take(int turn) {
    EIDER_UNROLL
    for (int s = 0; s < Cut::stage / Cut::step; ++s)
      taken_[s] = in_order_of<Cut::folds>(next_[s]);
    if (turn + 1 < Cut::turns)
      load(turn + 1);
  }
  EIDER_DEVICE Fragment<X, Cut::own> row(int s, int) const { return taken_[s]; }

private:
  const X *row_;
  Stage next_, taken_;

  EIDER_DEVICE void load(int turn) {
    EIDER_UNROLL
    for (int s = 0; s < Cut::stage / Cut::step; ++s) {
      next_[s] = {};
      EIDER_UNROLL
      for (int i = 0; i < Cut::own; i += count)
        if (const int from = s * Cut::step + i * 4;
            Cut::is_inside(turn, from + Cut::lane_of_row() * count))
          load_whole_chunk<count, alignment, cached>(row_ + from, next_[s], i);
    }
    row_ += Cut::stride;
  }
};

/// More rows of x: those of the next `ahead` stages lie in shared memory, for all warps that have
/// the same part of the length; the threads of these load them.
template <class Cut, int ahead, class X, int count, int64 length, int alignment> struct SharedRows {
  static constexpr EIDER_DEVICE int bytes_of_copy() {
    int bytes = alignment < 16 ? alignment : 16;
    while (length * static_cast<int>(sizeof(X)) % bytes != 0)
      bytes /= 2;
    return bytes;
  }
  static constexpr int bytes = Cut::stage * sizeof(X), at_once = bytes_of_copy(); // of a row
  static constexpr int of_row = bytes / at_once, rows = 8 * Cut::eights;
  static constexpr int threads = Cut::strips * 32,
                       turns_of_thread = (rows * of_row + threads - 1) / threads,
                       unrolled = turns_of_thread <= 32 ? turns_of_thread : 8; // all would spill
  static constexpr int slot_bytes = Cut::warps / Cut::strips * rows * bytes;
  static constexpr int memory = ahead * slot_bytes;

  template <class Tile>
  EIDER_DEVICE SharedRows(const Tile &tile, const X *x, int64 pitch, unsigned char *shared)
      : first_(x + tile.first_row() * pitch + Cut::part() * Cut::stage), pitch_(pitch),
        left_(tile.matrix_rows() - tile.first_row()), shared_(shared + Cut::part() * rows * bytes) {
  }

  /// Begins to load the rows of a turn, the one after that of the call before; zeros past the end.
  EIDER_DEVICE void begin(int turn) {
    const int thread = Cut::strip() * 32 + arch::thread_index() % 32;
    for (int begun = 0; begun < turns_of_thread; begun += unrolled)
      EIDER_UNROLL
    for (int i = begun; i < begun + unrolled; ++i) {
      const int n = i * threads + thread, row = n / of_row, byte = n % of_row * at_once;
      if (rows * of_row % (threads * unrolled) == 0 || row < rows)
        begin_copy<at_once>(shared_ + turn % ahead * slot_bytes + place(row, byte),
                            first_ + row * pitch_ + byte / static_cast<int>(sizeof(X)),
                            row < left_ &&
                                Cut::is_inside(turn, byte / static_cast<int>(sizeof(X))));
    }
    first_ += Cut::stride;
  }

  /// Where all threads of the block have what they have begun for a turn, and have used the one
  /// before.
  EIDER_DEVICE void meet(arch::Site at) const { arch::barrier(at); }

  EIDER_DEVICE void take(int turn) { taken_ = shared_ + turn % ahead * slot_bytes; }
  EIDER_DEVICE Fragment<X, Cut::own> row(int s, int e) const {
    constexpr int size = count * static_cast<int>(sizeof(X)),
                  part = size < 16 ? count : 16 / static_cast<int>(sizeof(X));
    Fragment<X, Cut::own> loaded{};
    EIDER_UNROLL
    for (int i = 0; i < Cut::own; i += part) {
      const int element =
          s * Cut::step + i / count * (4 * count) + Cut::lane_of_row() * count + i % count;
      const auto *from = reinterpret_cast<const X *>(
          taken_ + place(e * 8 + Cut::row_of_lane(), element * static_cast<int>(sizeof(X))));
      load_whole_chunk<part, at_once, cached>(from, loaded, i);
    }
    return in_order_of<Cut::folds>(loaded);
  }

private:
  const X *first_; // of the block's rows, where the warp's next stage begins
  int64 pitch_, left_;
  unsigned char *shared_;
  const unsigned char *taken_ = nullptr;

  /// Where a byte of a row is: 16 that lanes of two neighbouring rows read together are in
  /// different banks, and so are those that are whole lines apart, where lanes have that much of a
  /// row.
  static EIDER_DEVICE int place(int row, int byte) {
    constexpr int line = 128;
    if constexpr (at_once != 16)
      return row * bytes + byte;
    else if constexpr (4 * count * static_cast<int>(sizeof(X)) > line)
      return row * bytes + (byte ^ (row & 1) << 5 ^ (byte & line) >> 3);
    else
      return row * bytes + (byte ^ (row & 1) << 4);
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_OPERANDS_CUH
