//===- eider/memory/transposition.cuh - Through shared memory ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_TRANSPOSITION_CUH
#define EIDER_MEMORY_TRANSPOSITION_CUH

#include "eider/memory/chunk.cuh"
#include "eider/memory/shared.cuh"

namespace eider {

/// The number of parts of `part` in `whole`, the last perhaps not full.
EIDER_DEVICE int64 ceildiv(int64 whole, int64 part) {
  return static_cast<int64>((static_cast<uint64>(whole) + static_cast<uint64>(part) - 1) /
                            static_cast<uint64>(part));
}

namespace detail {

/// What shared memory moves at once.
struct alignas(16) SharedPiece {
  uint32 words[4];
};

/// Names the memory of blocks of so many bytes: those of all types that are turned share it.
template <int bytes> struct TranspositionMemory;

/// Elements `column` of `run` neighbouring rows, each of which a chunk holds: as they follow each
/// other in the transposed matrix.
template <int run, int vector, class T, int count>
EIDER_DEVICE Fragment<T, run> column_of(const Fragment<T, count> &rows, int first, int column) {
  constexpr int per_word = Fragment<T, run>::per_word;
  Fragment<T, run> result{};
  const auto word = [&](int row) {
    return rows.words[((first + row) * vector + column) / per_word];
  };
  if constexpr (per_word == 2 && run % 2 == 0) {
    EIDER_UNROLL
    for (int r = 0; r < run; r += 2)
      result.words[r / 2] =
          arch::byte_permute(word(r), word(r + 1), column % 2 == 0 ? 0x5410 : 0x7632);
  } else if constexpr (per_word == 4 && run % 4 == 0) {
    const uint32 bytes = (column % 4 + 4) << 4 | column % 4; // one of each operand
    EIDER_UNROLL
    for (int r = 0; r < run; r += 4)
      result.words[r / 4] =
          arch::byte_permute(arch::byte_permute(word(r), word(r + 1), bytes),
                             arch::byte_permute(word(r + 2), word(r + 3), bytes), 0x5410);
  } else {
    EIDER_UNROLL
    for (int r = 0; r < run; ++r)
      result.fill(r, rows[(first + r) * vector + column]);
  }
  return result;
}

} // namespace detail

/// Where a block of tile_rows × tile_columns elements lies in shared memory on its way from a
/// BlockTile's threads to a TransposedTile's. A column of the block is a line, in pieces of up to
/// 16 bytes. A warp writes a run of rows of many columns at once and reads neighbouring chunks of a
/// few lines, and the pieces of a line are in such an order that neither meets itself in a bank
/// where a row of the block has at least 8 chunks. What does not fit at once goes in several
/// passes, some columns each.
template <class T, int threads, int vector, int tile_rows, int tile_columns, int run, int in_passes>
class TranspositionLayout {
  static constexpr int size = static_cast<int>(sizeof(T));
  static constexpr int chunk_bytes = vector * size;

  static constexpr EIDER_DEVICE int least(int a, int b) { return a < b ? a : b; }
  static constexpr EIDER_DEVICE int most(int a, int b) { return a > b ? a : b; }

public:
  static constexpr int chunks = tile_rows * tile_columns / (threads * vector);
  static constexpr int line_bytes = tile_rows * size;
  static constexpr int passes = in_passes, lines = tile_columns / passes;
  static constexpr int writers = tile_columns / vector; // threads side by side, a row
  static constexpr int readers = tile_rows / vector;    // threads side by side, a line
  /// So small that the writers of a row together reach all banks.
  static constexpr int piece =
      least(chunk_bytes, most(most(run *size, 4), least(16, 128 / writers)));
  static constexpr int pieces_of_chunk = chunk_bytes / piece, pieces_of_line = line_bytes / piece;
  static constexpr int lines_of_chunk = threads / readers;

private:
  static constexpr int window = 128 / piece; // pieces in all banks
  static constexpr int step = most(1, window / writers),
                       lines_of_window = most(1, window / readers);

  static_assert(run * size <= piece, "a run of rows is more than a piece");
  static_assert(tile_rows % vector == 0 && threads % readers == 0,
                "the transposed block cannot be dealt evenly to its threads");
  static_assert(tile_columns % passes == 0 && lines % vector == 0,
                "the columns cannot be dealt evenly to the passes");
  static_assert(lines % lines_of_chunk == 0 || lines_of_chunk % lines == 0,
                "a pass is no whole number of chunks, nor a chunk of passes");

  /// The byte of a piece of line `column` of those that a writer begins. The pieces that
  /// neighbouring readers take first lie next to each other; lines of other writers, and lines that
  /// are read together, begin at other banks.
  static EIDER_DEVICE int byte_of(int writer, int column, int number) {
    const int place = number / pieces_of_chunk + number % pieces_of_chunk * readers;
    const int line = writer * vector + column, turn = writer * step % window;
    if constexpr (pieces_of_line % window == 0) {
      const int reader = column % lines_of_window * readers % window;
      return (line * pieces_of_line + (place ^ turn ^ reader)) * piece;
    } else if constexpr (vector * pieces_of_line % window == 0) {
      return ((line * pieces_of_line + place) ^ turn) * piece;
    } else {
      return (line * pieces_of_line + place) * piece;
    }
  }

public:
  /// Whose columns a thread has, in the pass that begins at line `first`; outside 0 … lines /
  /// vector
  /// - 1 it writes none.
  static EIDER_DEVICE int writer(int thread, int first) {
    return thread % writers - first / vector;
  }

  /// Where a thread puts what its chunks c … c + run - 1 have in a column.
  static EIDER_DEVICE int byte_written(int thread, int c, int writer, int column) {
    const int row = (c / run * (threads / writers) + thread / writers) * run;
    return byte_of(writer, column, row * size / piece) + row * size % piece;
  }

  /// The line of a thread's chunk c; outside 0 … lines - 1 it is of another pass.
  static EIDER_DEVICE int line_read(int thread, int c, int first) {
    return c * lines_of_chunk + thread / readers - first;
  }

  /// Where piece i of a thread's chunk in `line` is.
  static EIDER_DEVICE int byte_read(int thread, int line, int i) {
    return byte_of(line / vector, line % vector, thread % readers * pieces_of_chunk + i);
  }
};

/// A square of elements that a thread has, turned in its registers.
template <class T, int side> class Turned {
  static constexpr int per_word = Fragment<T, side>::per_word;
  static_assert(side % per_word == 0, "a line of the square is whole words");
  Fragment<T, side * side> values_;

public:
  explicit EIDER_DEVICE Turned(const Fragment<T, side * side> &values) : values_(values) {}

  EIDER_DEVICE Fragment<T, side * side> end() const {
    Fragment<T, side * side> result{};
    EIDER_UNROLL
    for (int column = 0; column < side; ++column) {
      const Fragment<T, side> line = detail::column_of<side, side>(values_, 0, column);
      EIDER_UNROLL
      for (int row = 0; row < side; row += per_word)
        result.words[(column * side + row) / per_word] = line.words[row / per_word];
    }
    return result;
  }
};

/// A block on its way through shared memory: what it is made of has gone there, as far as there is
/// memory for it.
template <class T, int threads, int vector, int tile_rows, int tile_columns, int run, int passes>
class Transposition {
  using Layout = TranspositionLayout<T, threads, vector, tile_rows, tile_columns, run, passes>;
  static constexpr int chunks = Layout::chunks, lines = Layout::lines;
  static constexpr int size = static_cast<int>(sizeof(T)), piece = Layout::piece;
  using Values = Fragment<T, vector * chunks>;

  Values values_; // until they have gone there
  unsigned char *memory_;

  /// Writes the lines first … first + lines - 1 that the thread has.
  EIDER_DEVICE void write(int first) const {
    const int thread = arch::nonnegative_thread_index(), writer = Layout::writer(thread, first);
    if (passes > 1 && (writer < 0 || writer >= lines / vector))
      return;
    EIDER_UNROLL
    for (int c = 0; c < chunks; c += run) {
      EIDER_UNROLL
      for (int column = 0; column < vector; ++column) {
        const Fragment<T, run> rows = detail::column_of<run, vector>(values_, c, column);
        arch::store_words<run * size>(memory_ + Layout::byte_written(thread, c, writer, column),
                                      rows.words);
      }
    }
  }

  /// Reads the thread's chunks of the lines first … first + lines - 1.
  EIDER_DEVICE void read(Values &values, int first) const {
    constexpr int lines_of_chunk = Layout::lines_of_chunk;
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c) {
      if ((c + 1) * lines_of_chunk <= first || c * lines_of_chunk >= first + lines)
        continue;
      const int thread = arch::nonnegative_thread_index(),
                line = Layout::line_read(thread, c, first);
      if (lines_of_chunk > lines && (line < 0 || line >= lines))
        continue;
      EIDER_UNROLL
      for (int i = 0; i < Layout::pieces_of_chunk; ++i)
        arch::load_words<piece>(memory_ + Layout::byte_read(thread, line, i),
                                &values.words[(c * vector * size + i * piece) / 4]);
    }
  }

public:
  explicit EIDER_DEVICE Transposition(const Values &values)
      : values_(values),
        memory_(reinterpret_cast<unsigned char *>(
            shared_or_launched<detail::TranspositionMemory<Layout::line_bytes * lines>,
                               detail::SharedPiece, Layout::line_bytes * lines / 16>())) {
    write(0);
  }

  /// What the thread has of the transposed block. Every thread of the CUDA block takes part, and
  /// nothing else goes that way meanwhile.
  EIDER_DEVICE Values end(arch::Site at = arch::Site::current()) const {
    Values result{};
    EIDER_UNROLL
    for (int pass = 0; pass < passes; ++pass) {
      if (pass > 0)
        write(pass * lines);
      arch::barrier(at);
      read(result, pass * lines);
      arch::barrier(at); // what comes next writes there again
    }
    return result;
  }
};

} // namespace eider

#endif // EIDER_MEMORY_TRANSPOSITION_CUH
