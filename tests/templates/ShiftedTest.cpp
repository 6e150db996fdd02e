//===- ShiftedTest.cpp - Chunks at any address, on the simulator ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Simulator.h"

#include "eider/formats/e2m1.cuh"
#include "eider/formats/e4m3.cuh"
#include "eider/tile/block.cuh"
#include "eider/tile/row.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

using namespace eider;

namespace {

using Bytes = std::vector<unsigned char>;

Bytes randomBytes(size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  Bytes bytes(count);
  for (unsigned char &byte : bytes)
    byte = static_cast<unsigned char>(random());
  return bytes;
}

/// Bytes of which the first lies `offset` bytes behind a multiple of 16.
class Memory {
public:
  Memory(size_t offset, Bytes values) : bytes(values.size() + 32), size(values.size()) {
    const auto base = reinterpret_cast<std::uintptr_t>(bytes.data());
    first = bytes.data() + (16 - base % 16) % 16 + offset % 16;
    std::memcpy(first, values.data(), size);
  }
  template <class T> T *as() { return reinterpret_cast<T *>(first); }
  Bytes values() const { return {first, first + size}; }

private:
  Bytes bytes;
  size_t size;
  unsigned char *first;
};

//===-- The shifting ------------------------------------------------------===//

template <int count, int piece, int alignment> void checkShifts() {
  const Bytes bytes = randomBytes(count * 4 + piece);
  uint32 window[count + piece / 4];
  std::memcpy(window, bytes.data(), bytes.size());
  for (uint32 shift = 0; shift < piece; shift += alignment) {
    uint32 words[count];
    shift_words<count, piece, alignment>(window, shift, words);
    EXPECT_EQ(std::memcmp(words, bytes.data() + shift, sizeof words), 0)
        << count << " words by " << shift;
    const auto &windows = reinterpret_cast<const uint32(&)[1][count + piece / 4]>(window);
    std::fill(words, words + count, 0);
    shift_row<1, count, piece, alignment>(windows, shift, words);
    EXPECT_EQ(std::memcmp(words, bytes.data() + shift, sizeof words), 0)
        << count << " words of a row by " << shift;
  }
}

TEST(ShiftWords, ByEveryMultipleOfTheAlignment) {
  checkShifts<8, 16, 1>();
  checkShifts<4, 16, 2>();
  checkShifts<16, 16, 4>();
  checkShifts<8, 16, 8>();
  checkShifts<2, 8, 1>();
  checkShifts<2, 8, 4>();
  checkShifts<1, 4, 2>();
}

//===-- Windows -----------------------------------------------------------===//

template <class T, int vector> void checkWindows(int columns) {
  constexpr int bytes = bytes_of<T>(vector), piece = piece_of(bytes), unit = 16;
  const int width = bytes_of<T>(columns + packing<T> - 1);
  for (int offset = 0; offset < unit; offset += static_cast<int>(sizeof(T))) {
    Memory memory(static_cast<size_t>(offset), randomBytes(static_cast<size_t>(width)));
    const T *row = memory.template as<const T>();
    for (int column = 0; column < columns; column += vector) {
      const int inside = std::min(vector, columns - column);
      const ChunkOfRow<const T> chunk(row, column, inside, column, columns - column);
      uint32 window[(bytes + piece) / 4];
      const bool has_ends = load_window<vector, T>(chunk, window);
      const int first = bytes_of<T>(column), shift = (first + offset) % piece;
      const int begin = first - shift, end = begin + bytes + piece;
      ASSERT_EQ(has_ends, begin < 0 || end > width)
          << "column " << column << " of " << columns << " at " << offset;
      const Bytes values = memory.values();
      for (int i = begin; i < end; ++i) {
        const int from = begin + (i - begin) / piece * piece;
        const bool isRead = from >= 0 && from + piece <= width;
        const bool isOwn = i >= first && i < first + bytes;
        const int value = !isRead ? 0 : isOwn ? values[i] : 255 - values[i];
        ASSERT_EQ(reinterpret_cast<unsigned char *>(window)[i - begin], value)
            << "byte " << i << " at " << offset << ", column " << column << " of " << columns;
      }
    }
  }
}

/// No piece that reaches out of the row is read, and each other is.
TEST(Window, IsLoadedWhereItLiesInTheRow) {
  for (int columns : {1, 15, 16, 31, 32, 33, 47, 48, 127, 128, 129, 145}) {
    checkWindows<bf16, 16>(columns);
    checkWindows<float, 4>(columns);
    checkWindows<e4m3, 16>(columns);
    checkWindows<e4m3, 8>(columns);
    checkWindows<e2m1, 16>(columns + columns % 2);
  }
}

//===-- Rows --------------------------------------------------------------===//

/// Rows of a type in a tile, and the threads of its CUDA block.
template <class T_, class Tile_, int columns_, unsigned block_> struct Rows {
  using T = T_;
  using Tile = Tile_;
  static constexpr int columns = columns_;
  static constexpr unsigned block = block_;
};
template <class T, int threads, int vector, int columns, int rows = 1,
          int loads = chunks_of_row(threads, vector, columns)>
using Of = Rows<T, RowTile<threads, vector, columns, rows, loads>, columns, threads * rows>;

template <class S> class Shifted : public testing::Test {};
using Kinds = testing::Types<
    Of<e4m3, 32, 16, 127>, Of<e4m3, 32, 16, 511>, Of<e4m3, 32, 16, 512>, Of<e4m3, 32, 16, 513>,
    Of<e4m3, 64, 16, 1041, 1, 1>, Of<e4m3, 64, 8, 1025>, Of<e4m3, 32, 8, 255, 4>,
    Of<e4m3, 32, 4, 133>, Of<bf16, 32, 16, 129>, Of<bf16, 32, 16, 528>, Of<bf16, 32, 16, 529>,
    Of<bf16, 64, 8, 1023>, Of<bf16, 96, 16, 1537>, Of<bf16, 32, 4, 145, 2>, Of<f16, 8, 16, 131, 8>,
    Of<bf16, 96, 32, 3073, 1, 1>, Of<e4m3, 96, 32, 3073, 1, 1>, Of<bf16, 64, 32, 2050, 2>,
    Of<float, 32, 32, 1027>, Of<float, 32, 16, 530>, Of<float, 32, 8, 257>, Of<float, 64, 4, 515>,
    Of<float, 32, 4, 127>, Of<e2m1, 32, 16, 514>, Of<e2m1, 64, 32, 2050>, Of<e2m1, 32, 8, 258>,
    Rows<e4m3, BlockTile<128, 16, 4, 512, 700>, 700, 128>,
    Rows<bf16, BlockTile<64, 8, 8, 64, 77>, 77, 64>,
    Rows<e4m3, BlockTile<64, 16, 8, 128, 257>, 257, 64>,
    Rows<e4m3, BlockTile<32, 16, 16, 64, 191>, 191, 32>,
    Rows<e4m3, BlockTile<32, 8, 4, 128, 130>, 130, 32>,
    Rows<e4m3, BlockTile<128, 16, 4, 128, 257>, 257, 128>,
    Rows<bf16, BlockTile<64, 16, 8, 64, 129>, 129, 64>,
    Rows<bf16, BlockTile<16, 8, 2, 64, 65>, 65, 16>,
    Rows<e2m1, BlockTile<64, 32, 8, 256, 258>, 258, 64>>;
TYPED_TEST_SUITE(Shifted, Kinds);

/// A kernel as the simulator wants it.
template <auto kernel> void entry(const EiderHostAbi *abi, void **parameters) {
  arch::enter(abi, kernel, parameters);
}
template <auto kernel, class S, class... Parameters> void run(Parameters... parameters) {
  void *addresses[] = {static_cast<void *>(&parameters)...};
  host::launch(entry<kernel>, {.grid = 2, .block = S::block}, addresses, {.seed = 7});
}

template <class S>
void copyRows(const typename S::T *x, typename S::T *y, int64 xPitch, int64 yPitch, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows))
    tile.template store<sizeof(*y)>(y, tile.template load<sizeof(*x)>(x, xPitch), yPitch);
}

/// Rows that begin at every address, those of x at another than those of y.
TYPED_TEST(Shifted, MovesEachElementAndNoOther) {
  using T = typename TypeParam::T;
  constexpr size_t width = static_cast<size_t>(bytes_of<T>(TypeParam::columns)), guard = 32;
  for (size_t rows = 1; rows <= 3; ++rows)
    for (size_t offset = 0; offset < 16; offset += sizeof(T)) {
      const size_t xPitch = width + rows % 3 * sizeof(T), yPitch = width + 3 * sizeof(T);
      const Bytes x = randomBytes(rows * xPitch),
                  untouched = randomBytes(rows * yPitch + 2 * guard);
      Memory from(offset, x), to(7 * offset + 16 - sizeof(T), untouched);
      run<copyRows<TypeParam>, TypeParam>(
          static_cast<const T *>(from.template as<T>()), to.template as<T>() + guard / sizeof(T),
          static_cast<int64>(xPitch / sizeof(T)), static_cast<int64>(yPitch / sizeof(T)),
          static_cast<int64>(rows));
      Bytes expected = untouched;
      for (size_t row = 0; row < rows; ++row)
        std::memcpy(&expected[guard + row * yPitch], &x[row * xPitch], width);
      const Bytes moved = to.values();
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(moved[i], expected[i]) << "byte " << i << ", offset " << offset << ", " << rows
                                         << " rows of " << width << " bytes";
    }
}

/// What is past the row's end counts as 0, also in registers.
template <class S> void storeCodes(const typename S::T *x, uint32 *sum, int64 pitch, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto values = tile.template load<sizeof(*x)>(x, pitch);
    for (const uint32 word : values.words)
      __atomic_fetch_add(sum, word, __ATOMIC_RELAXED);
  }
}

/// The sum of all words of all threads: that of the elements, each where a word has it.
TYPED_TEST(Shifted, IsZeroOutside) {
  using T = typename TypeParam::T;
  constexpr size_t width = static_cast<size_t>(bytes_of<T>(TypeParam::columns));
  for (size_t offset = 0; offset < 16; offset += sizeof(T)) {
    const Bytes x = randomBytes(2 * width);
    Memory from(offset, x);
    uint32 sum = 0, expected = 0;
    run<storeCodes<TypeParam>, TypeParam>(static_cast<const T *>(from.template as<T>()), &sum,
                                          static_cast<int64>(width / sizeof(T)), int64{2});
    for (size_t i = 0; i < x.size(); ++i)
      expected += static_cast<uint32>(x[i]) << i % width % 4 * 8;
    EXPECT_EQ(sum, expected) << "offset " << offset;
  }
}

/// Columns that begin anywhere.
template <class S> void addColumns(const bf16 *w, float *y, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows))
    tile.store(y, to<float>(tile.template load_columns<2>(w)));
}

template <class S> void checkColumns() {
  constexpr int columns = S::columns;
  for (size_t offset = 0; offset < 16; offset += 2) {
    std::vector<float> y(2 * columns);
    Bytes words(2 * columns);
    for (size_t i = 0; i < columns; ++i)
      words[2 * i] = static_cast<unsigned char>(i), words[2 * i + 1] = 0x3f;
    Memory w(offset, words);
    run<addColumns<S>, S>(static_cast<const bf16 *>(w.as<bf16>()), y.data(), int64{2});
    for (size_t i = 0; i < y.size(); ++i) {
      const auto bits = static_cast<unsigned short>(0x3f00 | (i % columns & 0xff));
      ASSERT_EQ(y[i], to<float>(bf16{bits})) << i << ", offset " << offset;
    }
  }
}

TEST(Columns, AreLoadedAtEveryAlignment) {
  checkColumns<Of<float, 32, 16, 132>>();
  checkColumns<Of<float, 64, 8, 1024>>();
  checkColumns<Rows<float, BlockTile<64, 8, 8, 64, 76>, 76, 64>>();
}

} // namespace
