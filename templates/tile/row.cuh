//===- eider/tile/row.cuh - A row, or some, to a block ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_ROW_CUH
#define EIDER_TILE_ROW_CUH

#include "eider/tile/members.cuh"

namespace eider {

template <class Row> class SeenOfRow;

/// The chunks a thread needs so that `threads` of them hold a row.
constexpr EIDER_DEVICE int chunks_of_row(int threads, int vector, int64 columns) {
  const int64 span = static_cast<int64>(threads) * vector;
  return static_cast<int>((columns + span - 1) / span);
}

/// The neighbouring threads that hold neighbouring chunks of a row.
constexpr EIDER_DEVICE int lanes_of_row(int threads, int vector) {
  return vector == 1 && threads > 32 ? 32 : threads;
}

/// `threads` threads hold a row in registers, `rows` rows a block. Chunk c of thread t begins at
/// column (c · threads + t) · vector, so that neighbouring threads move neighbouring chunks. Of
/// single elements (vector = 1) each warp holds neighbouring ones, so that it has whole groups.
/// With fewer `loads` than the row needs, the row is cut into segments, each a tile of its own. The
/// blocks of a `cluster` hold a row together, each as much of it as its threads hold, in turn.
/// Of fewer `lanes` than threads, so many neighbours hold neighbouring chunks, and their next
/// chunks follow at once: chunks of one group are a thread's, and fewer lanes need its value.
template <int threads, int vector, int64 columns, int rows = 1,
          int loads = chunks_of_row(threads, vector, columns), int cluster = 1,
          int lanes = lanes_of_row(threads, vector)>
class RowTile
    : public TileMembers<RowTile<threads, vector, columns, rows, loads, cluster, lanes>, vector,
                         loads, columns, lanes, threads, threads * rows, cluster> {
  static constexpr int step = lanes * vector;            // from a thread's chunk to its next
  static constexpr int width = threads * vector * loads; // of the part of a block
  static constexpr int64 span = static_cast<int64>(width) * cluster;
  static_assert(columns >= 1 && columns + span < (1ll << 31), "columns: 1 to about 2^31");
  static_assert(cluster == 1 || (rows == 1 && columns <= span),
                "a cluster holds one row, and the whole of it");
  static_assert(threads % lanes == 0, "lanes divide a row's threads");
  static_assert(threads <= 32 ? (threads & (threads - 1)) == 0 : threads % 32 == 0,
                "threads of a row: a power of two up to 32, or whole warps");

public:
  template <class Tile>
  using Members =
      TileMembers<Tile, vector, loads, columns, lanes, threads, threads * rows, cluster>;

  static constexpr int64 segments = (columns + span - 1) / span;
  static constexpr bool may_be_cut = columns % vector != 0, always_whole = columns % span == 0;
  static constexpr bool is_in_one_row = true;

  /// The tiles of this CUDA block in a matrix of `total` rows: grid-stride, the segments of a row
  /// next to each other.
  static EIDER_DEVICE TilesOfBlock<RowTile, cluster> over(int64 total) {
    return {total, (total + rows - 1) / rows * segments};
  }

  /// The same, a segment of all rows after the other.
  static EIDER_DEVICE TilesByColumns<RowTile, segments>
  over_columns(int64 total) requires(cluster == 1) {
    return {total, (total + rows - 1) / rows * segments};
  }

  /// The tile of this CUDA block, or of its cluster, of a grid with as many as tiles.
  static EIDER_DEVICE RowTile only(int64 total) {
    if constexpr (cluster > 1)
      arch::Exchange::prepare();
    return RowTile(arch::block_index() / cluster, total);
  }

  EIDER_DEVICE RowTile(int64 number, int64 total)
      : row_(segment_row(number) * rows + (rows == 1 ? 0 : arch::thread_index() / threads)),
        column_(segment_column(number) + thread_column()), total_(total),
        is_inside_(rows == 1 || row_ < total) {}

  /// The first tile of this CUDA block, and the one after a tile, where a tile is a row.
  static EIDER_DEVICE RowTile first(int64 total) requires(rows == 1 && segments == 1) {
    RowTile tile(arch::block_index() / cluster, total);
    tile.is_inside_ = tile.row_ < total; // a grid may have more blocks than there are rows
    return tile;
  }
  EIDER_DEVICE bool has_next() const requires(rows == 1 && segments == 1) {
    return row_ + arch::grid_size() / cluster < total_;
  }
  EIDER_DEVICE RowTile next() const requires(rows == 1 && segments == 1) {
    return RowTile(row_ + arch::grid_size() / cluster, total_);
  }

  /// The elements of a [columns] vector under the tile, 0 outside. Static where a tile spans the
  /// row.
  template <int alignment = 16, class T>
  static EIDER_DEVICE Fragment<T, vector * loads> load_columns(const T *p) requires(segments == 1) {
    return load_columns_from<alignment>(p, thread_column());
  }
  template <int alignment = 16, class T>
  EIDER_DEVICE Fragment<T, vector * loads> load_columns(const T *p) const requires(segments > 1) {
    return load_columns_from<alignment>(p, column_);
  }

  /// The row's element of a [rows] vector whose elements are as far apart as a pitch or a layout
  /// says; 0 outside.
  template <class T, class Where = int64>
  EIDER_DEVICE T load_rows(const T *p, const Where &where = 1) const {
    return is_inside_ ? p[offset_of(where, row_, 0)] : T{};
  }

  /// Writes the row's element of a [rows] vector, once.
  template <class T, class Where = int64>
  EIDER_DEVICE void store_rows(T *p, T value, const Where &where = 1) const {
    if (is_inside_ && column_ == 0)
      p[offset_of(where, row_, 0)] = value;
  }

  /// The row, also where it is outside.
  EIDER_DEVICE int64 row_index() const { return row_; }
  EIDER_DEVICE bool has_row() const { return is_inside_; }

  /// The tile's columns in row `index` of a matrix of `total` rows; outside where that has no such
  /// row, or where this tile is.
  EIDER_DEVICE RowTile at(int64 index, int64 total) const {
    RowTile other = *this;
    other.is_inside_ = is_inside_ && index >= 0 && index < total;
    other.row_ = other.is_inside_ ? index : 0;
    return other;
  }

  /// The tile without the chunks that end before column `first`, or that begin after `last`.
  EIDER_DEVICE SeenOfRow<RowTile> from(int64 first) const {
    return SeenOfRow<RowTile>(*this).from(first);
  }
  EIDER_DEVICE SeenOfRow<RowTile> up_to(int64 last) const {
    return SeenOfRow<RowTile>(*this).up_to(last);
  }

  // Where the thread's chunks are, for TileMembers.

  EIDER_DEVICE int64 row(int) const { return row_; }
  EIDER_DEVICE int column(int c) const { return column_ + c * step; }
  EIDER_DEVICE int inside(int c) const { return is_inside_ ? columns_inside(column_, c) : 0; }
  static EIDER_DEVICE int inside_of_columns(int c) { return columns_inside(thread_column(), c); }
  /// Whether the thread's part is: each masks its own.
  EIDER_DEVICE bool is_whole() const { return inside(loads - 1) == vector; }

private:
  int64 row_;
  int column_; // of the thread's first chunk
  int64 total_;
  bool is_inside_;

  /// For a thread whose first chunk begins at column `first`.
  template <int alignment, class T>
  static EIDER_DEVICE Fragment<T, vector * loads> load_columns_from(const T *p, int first) {
    return load_chunks<T, vector, loads, alignment, may_be_cut, true, true, cached>([&](int c) {
      const int column = first + c * step;
      return ChunkOfRow<const T>(p, column, columns_inside(first, c), nearby<columns>(column),
                                 nearby<columns>(columns - column));
    });
  }

  static EIDER_DEVICE int thread_column() {
    const int part = cluster == 1 ? 0 : static_cast<int>(arch::block_index() % cluster) * width;
    const int thread = rows == 1 ? arch::thread_index() : arch::thread_index() % threads;
    if constexpr (lanes == threads)
      return part + thread * vector;
    return part + thread / lanes * (step * loads) + thread % lanes * vector;
  }
  static EIDER_DEVICE int64 segment_row(int64 number) {
    return segments == 1 ? number : static_cast<int64>(static_cast<uint64>(number) / segments);
  }
  static EIDER_DEVICE int segment_column(int64 number) {
    return segments == 1 ? 0 : static_cast<int>(static_cast<uint64>(number) % segments) * width;
  }

  /// How many columns of chunk c are in the matrix, for a thread whose first chunk begins at
  /// `first`; known at compile time for all chunks but those at the row's end.
  static EIDER_DEVICE int columns_inside(int first, int c) {
    if (columns % span == 0 ||
        (span == width && segments == 1 && lanes == threads && (c + 1) * step <= columns))
      return vector;
    const int left = static_cast<int>(columns) - (first + c * step);
    if (may_be_cut)
      return left >= vector ? vector : left > 0 ? left : 0;
    return left > 0 ? vector : 0;
  }
};

/// What is seen of a row's tile, chunk by chunk: others are outside.
template <class Row> class SeenOfRow : public Row::template Members<SeenOfRow<Row>> {
  static constexpr int vector = Row::neighbours;

public:
  static constexpr bool may_be_cut = Row::may_be_cut, always_whole = false, is_in_one_row = true;

  explicit EIDER_DEVICE SeenOfRow(const Row &tile) : tile_(tile) {}

  EIDER_DEVICE SeenOfRow from(int64 first) const {
    SeenOfRow other = *this;
    other.first_ = first;
    return other;
  }
  EIDER_DEVICE SeenOfRow up_to(int64 last) const {
    SeenOfRow other = *this;
    other.last_ = last;
    return other;
  }

  EIDER_DEVICE int64 row(int c) const { return tile_.row(c); }
  EIDER_DEVICE int column(int c) const { return tile_.column(c); }
  EIDER_DEVICE int inside(int c) const {
    const bool is_seen = column(c) + vector > first_ && column(c) <= last_;
    return is_seen ? tile_.inside(c) : 0;
  }

private:
  Row tile_;
  int64 first_ = 0, last_ = (1ll << 31) - 1; // a row has fewer columns
};

} // namespace eider

#endif // EIDER_TILE_ROW_CUH
