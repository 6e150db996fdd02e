//===- eider/memory/transposition.cuh - Through shared memory ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_TRANSPOSITION_CUH
#define EIDER_MEMORY_TRANSPOSITION_CUH

#include "eider/memory/chunk.cuh"

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

/// A block of tile_rows × tile_columns elements on its way from a BlockTile's threads to a
/// TransposedTile's. In shared memory a column of the block is a line; lines lie in pieces of up to
/// 16 bytes, in such an order that neither those who write a run of rows nor those who read a chunk
/// of a line meet in a bank. What does not fit at once goes in several passes, some columns each.
template <class T, int threads, int vector, int tile_rows, int tile_columns, int run>
class Transposition {
  static constexpr int size = static_cast<int>(sizeof(T));
  static constexpr int chunks = tile_rows * tile_columns / (threads * vector);
  using Values = Fragment<T, vector * chunks>;

  static constexpr int chunk_bytes = vector * size, line_bytes = tile_rows * size;
  static constexpr int piece = chunk_bytes < 16 ? chunk_bytes : 16;
  static constexpr int pieces_of_chunk = chunk_bytes / piece, pieces_of_line = line_bytes / piece;
  static constexpr int writers = tile_columns / vector; // threads side by side, a row
  static constexpr int readers = tile_rows / vector;    // threads side by side, a line
  static constexpr int lines_of_chunk = threads / readers;
  static constexpr int window = 128 / piece; // pieces in all banks

  /// The lines of a pass: whole chunks of the writers, and of the readers or an even part of one.
  static constexpr EIDER_DEVICE int lines_of_pass() {
    constexpr int most_bytes = 32 * 1024;
    int lines = tile_columns;
    while (lines % 2 == 0 && line_bytes * lines > most_bytes)
      lines /= 2;
    return lines;
  }
  static constexpr int lines = lines_of_pass(), passes = tile_columns / lines;

  static_assert(run * size <= piece, "a run of rows is more than a piece");
  static_assert(tile_rows % vector == 0 && threads % readers == 0,
                "the transposed block cannot be dealt evenly to its threads");
  static_assert(lines % vector == 0 && line_bytes * lines <= 48 * 1024,
                "no part of the block fits shared memory");
  static_assert(lines % lines_of_chunk == 0 || lines_of_chunk % lines == 0,
                "a pass is no whole number of chunks, nor a chunk of passes");

  /// The byte of a line's piece. The pieces that neighbouring readers take first lie next to each
  /// other; lines of other writers begin at other banks.
  static EIDER_DEVICE int byte_of(int line, int number) {
    const int place = number / pieces_of_chunk + number % pieces_of_chunk * readers;
    if constexpr (pieces_of_line % window == 0)
      return (line * pieces_of_line + (place ^ (line / vector % window))) * piece;
    else if constexpr (vector * pieces_of_line % window == 0)
      return ((line * pieces_of_line + place) ^ (line / vector % window)) * piece;
    else
      return (line * pieces_of_line + place) * piece;
  }

  /// Writes the lines first … first + lines - 1 that the thread has.
  static EIDER_DEVICE void write(unsigned char *memory, const Values &values, int first) {
    const int line = arch::thread_index() % writers * vector - first;
    if (passes > 1 && (line < 0 || line >= lines))
      return;
    EIDER_UNROLL
    for (int c = 0; c < chunks; c += run) {
      const int row = (c / run * (threads / writers) + arch::thread_index() / writers) * run;
      EIDER_UNROLL
      for (int column = 0; column < vector; ++column) {
        const Fragment<T, run> rows = detail::column_of<run, vector>(values, c, column);
        arch::store_words<run * size>(
            memory + byte_of(line + column, row * size / piece) + row * size % piece, rows.words);
      }
    }
  }

  /// Reads the thread's chunks of the lines first … first + lines - 1.
  static EIDER_DEVICE void read(const unsigned char *memory, Values &values, int first) {
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c) {
      if ((c + 1) * lines_of_chunk <= first || c * lines_of_chunk >= first + lines)
        continue;
      const int line = c * lines_of_chunk + arch::thread_index() / readers - first;
      if (lines_of_chunk > lines && (line < 0 || line >= lines))
        continue;
      const int number = arch::thread_index() % readers * pieces_of_chunk;
      EIDER_UNROLL
      for (int i = 0; i < pieces_of_chunk; ++i)
        arch::load_words<piece>(memory + byte_of(line, number + i),
                                &values.words[(c * chunk_bytes + i * piece) / 4]);
    }
  }

public:
  static EIDER_DEVICE Values of(const Values &values, arch::Site at) {
    auto *memory = reinterpret_cast<unsigned char *>(
        arch::shared<Transposition, detail::SharedPiece, line_bytes * lines / 16>());
    Values result{};
    EIDER_UNROLL
    for (int pass = 0; pass < passes; ++pass) {
      write(memory, values, pass * lines);
      arch::barrier(at);
      read(memory, result, pass * lines);
      arch::barrier(at); // what comes next writes there again
    }
    return result;
  }
};

} // namespace eider

#endif // EIDER_MEMORY_TRANSPOSITION_CUH
