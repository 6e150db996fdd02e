//===- eider/tile/rows.cuh - Some rows to a block ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_ROWS_CUH
#define EIDER_TILE_ROWS_CUH

#include "eider/memory/copy.cuh"
#include "eider/tile/row.cuh"

namespace eider {

/// The block's `threads` threads hold `tile_rows` rows in registers, each thread the same columns
/// of all of them, so that a column vector that meets them is loaded and widened once. Chunk c of
/// row r of thread t is its number r · loads + c, and begins at column (c · threads + t) · vector.
template <int threads, int vector, int64 columns, int tile_rows,
          int loads = chunks_of_row(threads, vector, columns)>
class RowsTile : public TileMembers<RowsTile<threads, vector, columns, tile_rows, loads>, vector,
                                    tile_rows * loads, columns, threads, threads, threads> {
  static constexpr int step = threads * vector; // from a thread's chunk to its next
  static constexpr int elements_of_row = vector * loads;
  using Weights = Fragment<float, tile_rows * elements_of_row>;
  using Vector = Fragment<float, elements_of_row>;
  static_assert(columns >= 1 && columns + step < (1ll << 31), "columns: 1 to about 2^31");
  static_assert(threads <= 32 ? (threads & (threads - 1)) == 0 : threads % 32 == 0,
                "threads of a row: a power of two up to 32, or whole warps");

public:
  static constexpr int64 segments = 1;
  static constexpr bool may_be_cut = columns % vector != 0, always_whole = false;
  static constexpr bool is_in_one_row = false;

  /// The tiles of this CUDA block in a matrix of `total` rows: grid-stride.
  static EIDER_DEVICE TilesOfBlock<RowsTile> over(int64 total) {
    return {total, (total + tile_rows - 1) / tile_rows};
  }

  /// The tile of this CUDA block, of a grid with as many as tiles.
  static EIDER_DEVICE RowsTile only(int64 total) { return RowsTile(arch::block_index(), total); }

  EIDER_DEVICE RowsTile(int64 number, int64 total) : row_(number * tile_rows), total_(total) {}

  /// The first tile of this CUDA block, and the one after a tile.
  static EIDER_DEVICE RowsTile first(int64 total) { return RowsTile(arch::block_index(), total); }
  EIDER_DEVICE bool has_next() const { return next().row_ < total_; }
  EIDER_DEVICE RowsTile next() const {
    RowsTile other = *this;
    other.row_ += arch::grid_size() * tile_rows;
    return other;
  }

  /// Its rows, two by two (tile/ahead.cuh).
  using Pair = RowsTile<threads, vector, columns, 2, loads>;
  static constexpr int pairs = tile_rows / 2;
  static constexpr int64 matrix_columns = columns;
  EIDER_DEVICE Pair pair(int number) const { return {row_ / 2 + number, total_}; }

  /// Begins to copy the elements to shared memory, zeros where they are outside: a thread's own, of
  /// which each chunk is 16 bytes, and the next one those of all threads further.
  template <class T>
  EIDER_DEVICE void begin_copies(const T *p, int64 pitch, unsigned char *to) const {
    static_assert(eider::bytes_of<T>(vector) == 16 && !may_be_cut, "chunks are whole copies");
    EIDER_UNROLL
    for (int c = 0; c < tile_rows * loads; ++c)
      begin_copy<16>(to + c * threads * 16, this->address(p, c, pitch), inside(c) > 0);
  }
  /// What has come, of this thread.
  template <class T>
  static EIDER_DEVICE Fragment<T, tile_rows * elements_of_row> copied(const unsigned char *from) {
    Fragment<T, tile_rows * elements_of_row> elements;
    EIDER_UNROLL
    for (int c = 0; c < tile_rows * loads; ++c)
      arch::load_words<16>(from + c * threads * 16, &elements.words[c * 4]);
    return elements;
  }
  /// Bytes of all threads' copies.
  static constexpr int of_copies = tile_rows * loads * threads * 16;

  /// The elements of a [columns] vector under the tile, 0 outside.
  template <int alignment = 16, class T>
  static EIDER_DEVICE Fragment<T, elements_of_row> load_columns(const T *p) {
    return load_chunks<T, vector, loads, alignment, may_be_cut, true, true, cached>([&](int c) {
      const int column = first_column() + c * step;
      return ChunkOfRow<const T>(p, column, columns_inside(c), nearby<columns>(column),
                                 nearby<columns>(columns - column));
    });
  }

  /// The rows' elements of a [rows] vector whose elements are as far apart as a pitch or a layout
  /// says; 0 outside.
  template <class T, class Where = int64>
  EIDER_DEVICE Fragment<T, tile_rows> load_rows(const T *p, const Where &where = 1) const {
    Fragment<T, tile_rows> values{};
    EIDER_UNROLL
    for (int r = 0; r < tile_rows; ++r)
      if (row_ + r < total_)
        values.fill(r, p[offset_of(where, row_ + r, 0)]);
    return values;
  }

  /// Writes the rows' elements of a [rows] vector, once.
  template <class T, class Where = int64>
  EIDER_DEVICE void store_rows(T *p, const Fragment<T, tile_rows> &values,
                               const Where &where = 1) const {
    if (arch::thread_index() != 0)
      return;
    EIDER_UNROLL
    for (int r = 0; r < tile_rows; ++r)
      if (row_ + r < total_)
        p[offset_of(where, row_ + r, 0)] = values[r];
  }

  /// Each row's sum of a · b, each product added unrounded; what is outside does not count.
  EIDER_DEVICE Fragment<float, tile_rows>
  sum_of_products(const Weights &a, const Vector &b, arch::Site at = arch::Site::current()) const {
    const auto own = of_inside(
        [](const Weights &c, const Vector &d) {
          Fragment<float, tile_rows> sums;
          EIDER_UNROLL
          for (int r = 0; r < tile_rows; ++r)
            sums.fill(r, sum_products<elements_of_row>(c, d, r * elements_of_row));
          return sums;
        },
        a, b);
    return added_up(own, at);
  }

  /// The same of a · scale · b, where the elements of a group have a scale together.
  template <int count>
  EIDER_DEVICE Fragment<float, tile_rows>
  sum_of_scaled_products(const Weights &a, const Fragment<float, count> &scales, const Vector &b,
                         arch::Site at = arch::Site::current()) const {
    static_assert(count % tile_rows == 0, "each row has as many groups");
    const auto own = of_inside(
        [&](const Weights &c, const Vector &d) {
          constexpr int groups = count / tile_rows;
          Fragment<float, tile_rows> sums;
          EIDER_UNROLL
          for (int r = 0; r < tile_rows; ++r)
            sums.fill(r,
                      sum_scaled_products<groups>(c, scales, d, r * elements_of_row, r * groups));
          return sums;
        },
        a, b);
    return added_up(own, at);
  }

  /// The same as `Products` multiply codes and what they meet (contraction/lanes.cuh).
  template <class Products, class W, class X>
  EIDER_DEVICE Fragment<float, tile_rows>
  sum_of_products(const Fragment<W, tile_rows * elements_of_row> &a,
                  const Fragment<X, elements_of_row> &b,
                  arch::Site at = arch::Site::current()) const {
    return added_up(Products::template own_sums<tile_rows>(a, b, at), at);
  }
  template <class Products, class W, class X, class S, int count>
  EIDER_DEVICE Fragment<float, tile_rows>
  sum_of_scaled_products(const Fragment<W, tile_rows * elements_of_row> &a,
                         const Fragment<S, count> &scales, const Fragment<X, elements_of_row> &b,
                         arch::Site at = arch::Site::current()) const {
    return added_up(
        Products::template own_scaled_sums<tile_rows, ends_among_four>(a, scales, b, at), at);
  }
  static constexpr bool ends_among_four = columns % (4 * vector) != 0; // lanes, of which one ends

  /// The sums of all threads' own.
  static EIDER_DEVICE Fragment<float, tile_rows> added_up(const Fragment<float, tile_rows> &own,
                                                          arch::Site at) {
    return reduce_threads<Sum, threads, threads>(own, at);
  }

  // Where the thread's chunks are, for TileMembers.

  EIDER_DEVICE int64 row(int c) const { return row_ + c / loads; }
  EIDER_DEVICE int column(int c) const { return first_column() + c % loads * step; }
  EIDER_DEVICE int inside(int c) const { return row(c) < total_ ? columns_inside(c % loads) : 0; }
  static EIDER_DEVICE int inside_of_columns(int c) { return columns_inside(c); }

private:
  int64 row_; // the first
  int64 total_;

  /// f of both, with 0 for what lies past the rows' end. Most threads have nothing there.
  template <class F> static EIDER_DEVICE auto of_inside(F f, const Weights &a, const Vector &b) {
    if constexpr (columns % step == 0)
      return f(a, b);
    else if (columns_inside(loads - 1) == vector)
      return f(a, b);
    else
      return f(without_outside(a), without_outside(b));
  }
  template <int count>
  static EIDER_DEVICE Fragment<float, count> without_outside(const Fragment<float, count> &f) {
    Fragment<float, count> result;
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      result.fill(i, i % vector < columns_inside(i / vector % loads) ? f[i] : 0.0f);
    return result;
  }

  static EIDER_DEVICE int first_column() { return arch::thread_index() * vector; }

  /// How many columns of a row's chunk c are in the matrix; known at compile time for all chunks
  /// but those at the row's end.
  static EIDER_DEVICE int columns_inside(int c) {
    if ((c + 1) * step <= columns)
      return vector;
    const int left = static_cast<int>(columns) - (first_column() + c * step);
    if (may_be_cut)
      return left >= vector ? vector : left > 0 ? left : 0;
    return left > 0 ? vector : 0;
  }
};

} // namespace eider

#endif // EIDER_TILE_ROWS_CUH
