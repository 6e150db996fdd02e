//===- eider/tile/block.cuh - A two-dimensional block -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_BLOCK_CUH
#define EIDER_TILE_BLOCK_CUH

#include "eider/tile/transposed.cuh"

namespace eider {

/// The chunks of a thread; one, or none, where there are more threads than chunks.
constexpr EIDER_DEVICE int chunks_of_block(int threads, int vector, int rows, int columns) {
  return rows * columns > threads * vector ? rows * columns / (threads * vector) : 1;
}

/// `threads` threads hold a block of tile_rows × tile_columns elements. Chunk c of thread t is
/// number c · threads + t of the block's chunks, counted row by row; with a `run`, so many
/// neighbouring rows count as one, and a thread holds the chunks of all of them. The matrix has a
/// `multiple` of so many rows. The blocks of a `cluster` have tiles that lie below each other; so
/// many `parts`, blocks or clusters, have the same tiles, each a part of what is summed for them.
template <int threads, int vector, int tile_rows, int tile_columns, int64 columns, int run = 1,
          int multiple = 1, int cluster = 1, int parts_ = 1>
class BlockTile
    : public TileMembers<BlockTile<threads, vector, tile_rows, tile_columns, columns, run, multiple,
                                   cluster, parts_>,
                         vector, chunks_of_block(threads, vector, tile_rows, tile_columns), columns,
                         tile_columns / vector, threads, threads, 1, true> {
  static constexpr int chunks = chunks_of_block(threads, vector, tile_rows, tile_columns);
  static constexpr int chunks_of_row = tile_columns / vector;
  static constexpr int64 tiles_of_row = (columns + tile_columns - 1) / tile_columns;
  static_assert(tile_columns % vector == 0, "a row of the block is no whole number of chunks");
  static_assert(chunks == 1 || tile_rows * tile_columns % (threads * vector) == 0,
                "the block's chunks cannot be dealt evenly to its threads");
  static_assert(threads % chunks_of_row == 0, "the threads are no whole number of rows");
  static_assert(chunks % run == 0, "a thread's chunks are no whole number of runs");
  static_assert(columns >= 1 && columns + tile_columns < (1ll << 31), "columns: 1 to about 2^31");

public:
  static constexpr int block_threads = threads, rows = tile_rows, width = tile_columns;
  static constexpr int parts = parts_;
  static constexpr int64 matrix_columns = columns;
  static constexpr int64 segments = 1; // of what a reduction combines: a block is whole in its tile
  static constexpr bool has_spare_threads = tile_rows * tile_columns < threads * vector;
  static constexpr bool may_be_cut = columns % vector != 0, always_whole = false;
  static constexpr bool is_in_one_row = false;

  /// The tiles of this CUDA block in a matrix of `total` rows: grid-stride.
  static EIDER_DEVICE TilesOfBlock<BlockTile> over(int64 total) {
    constexpr int rows_of_cluster = tile_rows * cluster;
    return {total,
            (total + rows_of_cluster - 1) / rows_of_cluster * (tiles_of_row * parts * cluster)};
  }

  /// The same, those of a column after each other, where elements are many and rows of bytes of the
  /// transpose do not begin with a sector of memory: two tiles below each other have one in common,
  /// which is costly to complete once it has left the cache.
  static EIDER_DEVICE TilesByColumns<BlockTile, tiles_of_row>
  over_columns(int64 total) requires(cluster == 1 && parts == 1) {
    constexpr int64 few = 12 << 20, sector = 32;
    const int64 tiles = (total + tile_rows - 1) / tile_rows * tiles_of_row;
    return {total, tiles, total <= few / columns || total % sector == 0};
  }

  /// The tile of this CUDA block, of a grid with as many as tiles.
  static EIDER_DEVICE BlockTile only(int64 total) { return BlockTile(arch::block_index(), total); }

  EIDER_DEVICE BlockTile(int64 number, int64 total)
      : number_(number),
        row_(row_number() * tile_rows + arch::thread_index() / chunks_of_row * run),
        column_(static_cast<int>(column_number()) * tile_columns +
                arch::thread_index() % chunks_of_row * vector),
        rows_left_(is_spare() ? 0 : rows_left(total - row_)), total_(total) {}

  /// The first tile of this CUDA block, and the one after this: to load ahead.
  static EIDER_DEVICE BlockTile first(int64 total) { return BlockTile(arch::block_index(), total); }
  EIDER_DEVICE bool has_next() const {
    static_assert(cluster == 1 && parts == 1, "no tile is loaded ahead in a cluster, or of parts");
    return number_ + arch::grid_size() < (total_ + tile_rows - 1) / tile_rows * tiles_of_row;
  }
  EIDER_DEVICE BlockTile next() const { return BlockTile(number_ + arch::grid_size(), total_); }

  /// The elements of a [columns] vector under the tile, 0 outside.
  template <int alignment = 16, class T>
  EIDER_DEVICE Fragment<T, vector * chunks> load_columns(const T *p) const {
    const auto chunk =
        load_chunks<T, vector, 1, alignment, may_be_cut, true, true, cached>([&](int) {
          return ChunkOfRow<const T>(p, column_, columns_inside(), nearby<columns>(column_),
                                     nearby<columns>(columns - column_));
        });
    constexpr int words = bytes_of<T>(vector) / 4;
    Fragment<T, vector * chunks> values{};
    if constexpr (words > 0) {
      EIDER_UNROLL
      for (int i = 0; i < words * chunks; ++i)
        values.words[i] = chunk.words[i % words];
    } else {
      EIDER_UNROLL
      for (int i = 0; i < vector * chunks; ++i)
        values.fill(i, chunk[i % vector]);
    }
    return values;
  }

  /// A [rows] vector: one value a chunk; 0 outside.
  template <class T, class Where = int64>
  EIDER_DEVICE Fragment<T, chunks> load_rows(const T *p, const Where &where = 1) const {
    Fragment<T, chunks> values{};
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      if (inside(c) > 0)
        values.fill(c, p[offset_of(where, row(c), 0)]);
    return values;
  }

  /// Writes one value a row, by the thread that holds the row's first element.
  template <class T, class Where = int64>
  EIDER_DEVICE void store_rows(T *p, const Fragment<T, chunks> &values,
                               const Where &where = 1) const {
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      if (inside(c) > 0 && column_ == 0)
        p[offset_of(where, row(c), 0)] = values[c];
  }

  /// The tile's element of a [ceil(rows/tile_rows), ceil(columns/tile_columns)] matrix.
  template <class T, class Where = int64>
  EIDER_DEVICE T load_block(const T *p, const Where &where = int64{tiles_of_row}) const {
    return p[block_offset(where)];
  }

  /// Writes it, once.
  template <class T, class Where = int64>
  EIDER_DEVICE void store_block(T *p, T value, const Where &where = int64{tiles_of_row}) const {
    if (arch::thread_index() == 0)
      p[block_offset(where)] = value;
  }

  /// The rows, one a chunk, also where they are outside.
  EIDER_DEVICE Fragment<int64, chunks> row_index() const {
    Fragment<int64, chunks> rows;
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      rows.fill(c, row(c));
    return rows;
  }

  /// Few rows lie so near each other in the transposed matrix that a thread with a square of
  /// elements may write it as it has it, and meets nobody.
  static constexpr bool turns_squares = tile_rows <= 16 && run == vector && chunks == vector;

  /// The same block of the transposed matrix.
  using Transposed =
      TransposedTile<threads, vector, tile_rows, tile_columns, columns, multiple, turns_squares>;
  EIDER_DEVICE Transposed transposed() const {
    return Transposed(first_row(), first_column(), total_);
  }

  /// Begins to transpose the block, in so many passes through shared memory, or the thread's square
  /// of it. What the thread holds of the transposed one is `end()` of the result.
  template <int passes, class T>
  EIDER_DEVICE auto begin_transpose(const Fragment<T, vector * chunks> &values) const {
    if constexpr (turns_squares)
      return Turned<T, vector>(values);
    else
      return Transposition<T, threads, vector, tile_rows, tile_columns, run, passes>(values);
  }

  // Where the tile is, and where in it the thread's element n is.

  EIDER_DEVICE int64 matrix_rows() const { return total_; }
  /// Which of the parts of its sums the tile has, and its number among tiles of that part.
  EIDER_DEVICE int part() const {
    return static_cast<int>(static_cast<uint64>(number_) / cluster % parts);
  }
  EIDER_DEVICE int64 number_of_part() const {
    const auto number = static_cast<uint64>(number_);
    return static_cast<int64>(number / (parts * cluster) * cluster + number % cluster);
  }
  /// The tile, or one that has nothing inside.
  EIDER_DEVICE BlockTile only_if(bool is_there) const {
    BlockTile tile = *this;
    tile.rows_left_ = is_there ? rows_left_ : 0;
    return tile;
  }
  EIDER_DEVICE int64 first_row() const { return row_ - arch::thread_index() / chunks_of_row * run; }
  EIDER_DEVICE int first_column() const {
    return column_ - arch::thread_index() % chunks_of_row * vector;
  }
  static EIDER_DEVICE int row_of_tile(int n) {
    return arch::thread_index() / chunks_of_row * run + rows_before(n / vector);
  }
  static EIDER_DEVICE int column_of_tile(int n) {
    return arch::thread_index() % chunks_of_row * vector + n % vector;
  }

  /// The thread's elements of what `of` gives for a row and a column of the tile; 0 where the
  /// thread has none.
  template <class Of>
  EIDER_DEVICE Fragment<float, vector * chunks> elements_of(const Of &of) const {
    return neighbours_of<1>(
        [&](int row, int column, float(&value)[1]) { value[0] = of(row, column); });
  }

  /// The same of `count` neighbours at a time, of which a vector is made: `load` gives them from a
  /// row and a column on.
  template <int count, class Load>
  EIDER_DEVICE Fragment<float, vector * chunks> neighbours_of(const Load &load) const {
    static_assert(vector % count == 0, "a vector is whole neighbours");
    Fragment<float, vector * chunks> values;
    EIDER_UNROLL
    for (int n = 0; n < vector * chunks; n += count) {
      float loaded[count] = {};
      if (!has_spare_threads || row_of_tile(n) < tile_rows)
        load(row_of_tile(n), column_of_tile(n), loaded);
      EIDER_UNROLL
      for (int i = 0; i < count; ++i)
        values.fill(n + i, loaded[i]);
    }
    return values;
  }

  // Where the thread's chunks are, for TileMembers.

  EIDER_DEVICE int64 row(int c) const { return row_ + rows_before(c); }
  EIDER_DEVICE int column(int) const { return column_; }
  EIDER_DEVICE int inside(int c) const {
    return rows_before(c) < rows_left_ ? columns_inside() : 0;
  }
  /// Whether the thread's part is: each masks its own.
  EIDER_DEVICE bool is_whole() const { return inside(chunks - 1) == vector; }

protected:
  /// The tile of that number where rows are in groups: from some row on, of a group that ends at
  /// `end`. Its place among the matrix's rows has no number.
  EIDER_DEVICE BlockTile(int64 number, int64 first_row, int64 end)
      : number_(number),
        row_(first_row + number % cluster * tile_rows + arch::thread_index() / chunks_of_row),
        column_(static_cast<int>(column_number()) * tile_columns +
                arch::thread_index() % chunks_of_row * vector),
        rows_left_(is_spare() ? 0 : rows_left(end - row_)), total_(end) {
    static_assert(run == 1 && multiple == 1, "no such block is transposed");
  }

private:
  static constexpr int rows_of_chunk =
      threads / chunks_of_row; // rows that the threads' chunks c cover

  int64 number_;
  int64 row_;  // of the thread's first chunk
  int column_; // of all its chunks
  int rows_left_;
  int64 total_; // rows of the matrix

  /// The tile's place among the matrix's.
  EIDER_DEVICE int64 row_number() const {
    const uint64 of_cluster = static_cast<uint64>(number_) / (tiles_of_row * parts * cluster);
    return static_cast<int64>(of_cluster * cluster + static_cast<uint64>(number_) % cluster);
  }
  EIDER_DEVICE int64 column_number() const {
    return static_cast<int64>(static_cast<uint64>(number_) / (parts * cluster) % tiles_of_row);
  }

  /// Whether the thread has nothing of any tile.
  static EIDER_DEVICE bool is_spare() {
    return has_spare_threads && arch::thread_index() / chunks_of_row >= tile_rows;
  }

  /// From the row of the thread's first chunk to that of chunk c.
  static constexpr EIDER_DEVICE int rows_before(int c) {
    return c / run * (rows_of_chunk * run) + c % run;
  }

  template <class Where> EIDER_DEVICE int64 block_offset(const Where &where) const {
    return offset_of(where, row_number(), column_number());
  }

  /// Rows from the thread's first to the end of the matrix, no more than matter.
  static EIDER_DEVICE int rows_left(int64 left) {
    return left > tile_rows ? tile_rows : left > 0 ? static_cast<int>(left) : 0;
  }

  EIDER_DEVICE int columns_inside() const {
    if (columns % tile_columns == 0)
      return vector;
    const int left = static_cast<int>(columns) - column_;
    if (may_be_cut)
      return left >= vector ? vector : left > 0 ? left : 0;
    return left > 0 ? vector : 0;
  }
};

} // namespace eider

#endif // EIDER_TILE_BLOCK_CUH
