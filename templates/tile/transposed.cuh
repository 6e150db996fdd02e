//===- eider/tile/transposed.cuh - A block of the transpose -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_TRANSPOSED_CUH
#define EIDER_TILE_TRANSPOSED_CUH

#include "eider/memory/transposition.cuh"
#include "eider/tile/members.cuh"

namespace eider {

/// What a BlockTile of these numbers covers of its matrix, as a block of the transposed matrix,
/// whose columns are the matrix's rows. Chunk c of thread t is number c · threads + t of the
/// transposed block's chunks, counted row by row; of `own` squares, a thread has what it has of the
/// block. Its width is known to the launch alone: give every access its pitch, or the layout of its
/// scales.
template <int threads, int vector, int tile_rows, int tile_columns, int64 columns, int multiple,
          bool own>
class TransposedTile
    : public TileMembers<
          TransposedTile<threads, vector, tile_rows, tile_columns, columns, multiple, own>, vector,
          tile_rows * tile_columns / (threads * vector), 0, own ? 1 : tile_rows / vector, threads,
          threads, 1, true> {
  static constexpr int chunks = tile_rows * tile_columns / (threads * vector);
  static constexpr int chunks_of_row = own ? 1 : tile_rows / vector; // of neighbouring threads
  using Members =
      TileMembers<TransposedTile, vector, chunks, 0, chunks_of_row, threads, threads, 1, true>;
  static constexpr int rows_of_chunk = own ? 1 : threads / chunks_of_row;

public:
  static constexpr int64 segments = 1; // as in a BlockTile
  static constexpr bool may_be_cut = multiple % vector != 0, always_whole = false;
  static constexpr bool is_in_one_row = false;
  static constexpr bool knows_width = true;

  /// Of the block that begins at (row, column) of a matrix of `total` rows.
  EIDER_DEVICE TransposedTile(int64 row, int column, int64 total)
      : row_(column + first_row()), column_(row + first_column()),
        left_(nearby<0>(total - column_)), columns_inside_(columns_inside(left_)) {}

  /// As TileMembers; wide where every row happens to be aligned although none has to be.
  template <int alignment = 16, Caching caching = cached, class T>
  EIDER_DEVICE void store(T *p, const Fragment<T, vector * chunks> &values, int64 pitch) const {
    constexpr int chunk = bytes_of<T>(vector), wide = chunk < 16 ? chunk : 16;
    if constexpr (alignment < wide) {
      const uint64 rows = reinterpret_cast<uint64>(p) | static_cast<uint64>(pitch) * sizeof(T);
      if (rows % wide == 0)
        return Members::template store<wide, caching>(p, values, pitch);
    }
    Members::template store<alignment, caching>(p, values, pitch);
  }

  /// The block's element of a [ceil(columns/tile_columns), ceil(rows/tile_rows)] matrix.
  template <class T, class Where> EIDER_DEVICE T load_block(const T *p, const Where &where) const {
    return p[block_offset(where)];
  }

  /// Writes it, once.
  template <class T, class Where>
  EIDER_DEVICE void store_block(T *p, T value, const Where &where) const {
    if (arch::thread_index() == 0)
      p[block_offset(where)] = value;
  }

  // Where the thread's chunks are, for TileMembers.

  EIDER_DEVICE int64 row(int c) const { return row_ + c * rows_of_chunk; }
  EIDER_DEVICE int64 column(int) const { return column_; }
  EIDER_DEVICE int before(int) const { return nearby<0>(column_); }
  EIDER_DEVICE int left(int) const { return left_; }
  EIDER_DEVICE int inside(int c) const {
    const bool is_inside =
        columns % tile_columns == 0 || row_ + c * rows_of_chunk < static_cast<int>(columns);
    return is_inside ? columns_inside_ : 0;
  }
  EIDER_DEVICE bool is_whole() const { return inside(chunks - 1) == vector; }

private:
  int row_; // of the thread's first chunk
  int64 column_;
  int left_;           // columns of the matrix from there on, if there are so few
  int columns_inside_; // of a chunk

  /// Where the thread's first chunk begins in the transposed block.
  static EIDER_DEVICE int first_row() {
    const int thread = arch::nonnegative_thread_index();
    return own ? thread % (tile_columns / vector) * vector : thread / chunks_of_row;
  }
  static EIDER_DEVICE int first_column() {
    const int thread = arch::nonnegative_thread_index();
    return (own ? thread / (tile_columns / vector) : thread % chunks_of_row) * vector;
  }

  template <class Where> EIDER_DEVICE int64 block_offset(const Where &where) const {
    return offset_of(where, row_ / tile_columns, column_ / tile_rows);
  }

  static EIDER_DEVICE int columns_inside(int left) {
    if (may_be_cut)
      return left >= vector ? vector : left > 0 ? left : 0;
    return left > 0 ? vector : 0;
  }
};

} // namespace eider

#endif // EIDER_TILE_TRANSPOSED_CUH
