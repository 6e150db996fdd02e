//===- TileTest.cpp - Tiles on the simulator, against plain loops ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Simulator.h"

#include "eider/error.h"
#include "eider/formats/e4m3.cuh"
#include "eider/tile/block.cuh"
#include "eider/tile/row.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace eider;

namespace {

/// What a test must know of a tile beside the type: the CUDA block it runs in, the width, and the
/// smallest alignment of a row of floats in bytes.
template <class Tile_, unsigned block_, int64 columns_, unsigned cluster_ = 1> struct Shape {
  using Tile = Tile_;
  static constexpr unsigned cluster = cluster_;
  static constexpr unsigned block = block_;
  static constexpr int64 columns = columns_;
  static constexpr int alignment = columns % 4 == 0 ? 16 : 4;
};

/// A kernel as the simulator wants it.
template <auto kernel> void entry(const EiderHostAbi *abi, void **parameters) {
  arch::enter(abi, kernel, parameters);
}

/// Launches on a grid that is smaller than the number of tiles, so that blocks stride over the
/// grid.
template <auto kernel, class S, class... Parameters> void run(Parameters... parameters) {
  void *addresses[] = {static_cast<void *>(&parameters)...};
  host::launch(entry<kernel>,
               {.grid = 2 * S::cluster, .block = S::block, .residentBlocks = S::cluster}, addresses,
               {.seed = 7});
}

std::vector<float> randomFloats(size_t count) {
  std::mt19937 random(static_cast<unsigned>(count) + 1);
  std::uniform_real_distribution<float> uniform(-4, 4);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(random);
  return values;
}

constexpr int64 RowCounts[] = {0, 1, 3, 33};
constexpr float Untouched = 12345;

//===-- Every tile --------------------------------------------------------===//

template <class S> class Tile : public testing::Test {};
using Tiles = testing::Types<
    Shape<RowTile<32, 4, 128>, 32, 128>, Shape<RowTile<8, 1, 7, 16>, 128, 7>,
    Shape<RowTile<1, 1, 1, 64>, 64, 1>, Shape<RowTile<64, 8, 1000>, 64, 1000>,
    Shape<RowTile<96, 4, 1001>, 96, 1001>, Shape<RowTile<16, 8, 100, 8>, 128, 100>,
    Shape<RowTile<64, 4, 600, 1, 1>, 64, 600>, Shape<RowTile<32, 2, 333, 2, 2>, 64, 333>,
    Shape<RowTile<4, 2, 8, 3>, 12, 8>, Shape<RowTile<32, 4, 1000, 1, 2, 4>, 32, 1000, 4>,
    Shape<RowTile<64, 8, 700, 1, 1, 2>, 64, 700, 2>, Shape<BlockTile<64, 4, 32, 32, 77>, 64, 77>,
    Shape<BlockTile<256, 16, 128, 128, 300>, 256, 300>, Shape<BlockTile<32, 4, 4, 32, 64>, 32, 64>>;
TYPED_TEST_SUITE(Tile, Tiles);

template <class S> void copyFloats(const float *x, float *y, int64 pitch, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows))
    tile.template store<4>(y, tile.template load<S::alignment>(x), pitch);
}

TYPED_TEST(Tile, MovesEachElementAndNoOther) {
  constexpr int64 columns = TypeParam::columns, pitch = columns + 3;
  for (int64 rows : RowCounts) {
    const std::vector<float> x = randomFloats(static_cast<size_t>(rows * columns));
    std::vector<float> y(static_cast<size_t>(rows * pitch + pitch), Untouched);
    run<copyFloats<TypeParam>, TypeParam>(x.data(), y.data(), pitch, rows);
    for (int64 row = 0; row <= rows; ++row)
      for (int64 column = 0; column < pitch; ++column) {
        const bool inside = row < rows && column < columns;
        ASSERT_EQ(y[row * pitch + column], inside ? x[row * columns + column] : Untouched)
            << "row " << row << " of " << rows << ", column " << column;
      }
  }
}

template <class S> void copyNarrow(const float *x, bf16 *y, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows))
    tile.template store<2>(y, to<bf16>(tile.template load<4>(x)));
}
template <class S> void copyBack(const bf16 *x, float *y, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows))
    tile.template store<4>(y, to<float>(tile.template load<2>(x)));
}

TYPED_TEST(Tile, MovesNarrowElements) {
  constexpr int64 rows = 5, columns = TypeParam::columns;
  const std::vector<float> x = randomFloats(rows * columns);
  std::vector<bf16> narrow(rows * columns);
  std::vector<float> y(rows * columns, Untouched);
  run<copyNarrow<TypeParam>, TypeParam>(x.data(), narrow.data(), rows);
  run<copyBack<TypeParam>, TypeParam>(narrow.data(), y.data(), rows);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], to<float>(to<bf16>(x[i]))) << i;
}

template <class S> void addColumns(const float *x, const float *w, float *y, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows))
    tile.template store<4>(y, tile.template load<4>(x) + tile.template load_columns<4>(w));
}

TYPED_TEST(Tile, LoadsColumns) {
  constexpr int64 rows = 5, columns = TypeParam::columns;
  const std::vector<float> x = randomFloats(rows * columns), w = randomFloats(columns);
  std::vector<float> y(rows * columns, Untouched);
  run<addColumns<TypeParam>, TypeParam>(x.data(), w.data(), y.data(), rows);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], x[i] + w[i % columns]) << i;
}

//===-- Groups ------------------------------------------------------------===//

template <class S, int B_> struct Grouped : S { static constexpr int B = B_; };
template <class S> class Group : public testing::Test {};
using Grouping =
    testing::Types<Grouped<Shape<RowTile<32, 4, 128>, 32, 128>, 16>,    // a group is 4 lanes
                   Grouped<Shape<RowTile<32, 4, 1001>, 32, 1001>, 128>, // a whole warp, cut chunks
                   Grouped<Shape<RowTile<64, 16, 2048>, 64, 2048>, 8>,  // two groups a chunk
                   Grouped<Shape<RowTile<8, 4, 128, 4>, 32, 128>, 64>,  // two chunks of all lanes
                   Grouped<Shape<RowTile<8, 1, 7, 16>, 128, 7>, 128>,   // wider than the row
                   Grouped<Shape<RowTile<1, 1, 1, 64>, 64, 1>, 16>,
                   Grouped<Shape<RowTile<64, 4, 600, 1, 1>, 64, 600>, 64>,
                   Grouped<Shape<RowTile<32, 4, 1001, 1, 2, 4>, 32, 1001, 4>, 128>,
                   Grouped<Shape<RowTile<64, 8, 700, 1, 1, 2>, 64, 700, 2>, 16>,
                   Grouped<Shape<BlockTile<64, 4, 32, 32, 77>, 64, 77>, 16>,
                   Grouped<Shape<BlockTile<256, 16, 128, 128, 300>, 256, 300>, 128>>;
TYPED_TEST_SUITE(Group, Grouping);

/// Elements outside the matrix are 1 here, not 0: they must not count.
template <class S>
void reduceGroups(const float *x, float *sums, float *products, float *largest, float *smallest,
                  float *magnitudes, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto f = tile.template load<4>(x) + 1.0f;
    tile.template store_groups<S::B>(sums, tile.template sum_of_groups<S::B>(f));
    tile.template store_groups<S::B>(products,
                                     tile.template sum_of_groups_of_products<S::B>(f, f - 0.25f));
    tile.template store_groups<S::B>(largest, tile.template max_of_groups<S::B>(f - 9.0f));
    tile.template store_groups<S::B>(smallest, tile.template min_of_groups<S::B>(f + 9.0f));
    tile.template store_groups<S::B>(magnitudes, tile.template amax_of_groups<S::B>(f));
  }
}

TYPED_TEST(Group, ReducesWhatIsInside) {
  constexpr int64 rows = 5, columns = TypeParam::columns, B = TypeParam::B,
                  groups = (columns + B - 1) / B;
  const std::vector<float> x = randomFloats(rows * columns);
  std::vector<float> sums(rows * groups), products = sums, largest = sums, smallest = sums,
                                          magnitudes = sums;
  run<reduceGroups<TypeParam>, TypeParam>(x.data(), sums.data(), products.data(), largest.data(),
                                          smallest.data(), magnitudes.data(), rows);
  for (int64 row = 0; row < rows; ++row)
    for (int64 group = 0; group < groups; ++group) {
      double sum = 0, total = 0, product = 0, totalOfProducts = 0;
      float most = -INFINITY, least = INFINITY, magnitude = 0;
      for (int64 column = group * B; column < std::min(columns, (group + 1) * B); ++column) {
        const float f = x[row * columns + column] + 1.0f;
        sum += f, total += std::fabs(f);
        const double square = double(f) * (f - 0.25f);
        product += square, totalOfProducts += std::fabs(square);
        most = std::max(most, f - 9.0f), least = std::min(least, f + 9.0f);
        magnitude = std::max(magnitude, std::fabs(f));
      }
      const size_t at = row * groups + group;
      EXPECT_NEAR(sums[at], sum, total * 0x1p-20) << row << ", " << group;
      EXPECT_NEAR(products[at], product, totalOfProducts * 0x1p-20) << row << ", " << group;
      EXPECT_EQ(largest[at], most) << row << ", " << group;
      EXPECT_EQ(smallest[at], least) << row << ", " << group;
      EXPECT_EQ(magnitudes[at], magnitude) << row << ", " << group;
    }
}

template <class S> void spreadGroups(const float *scale, float *y, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto groups = tile.template load_groups<S::B, 2>(scale);
    tile.template store<4>(y, tile.template load<4>(y) + groups);
  }
}

TYPED_TEST(Group, LoadsOneValueForAllItsElements) {
  constexpr int64 rows = 5, columns = TypeParam::columns, B = TypeParam::B,
                  groups = (columns + B - 1) / B;
  const std::vector<float> scale = randomFloats((rows + 1) / 2 * groups);
  std::vector<float> y(rows * columns, 0.0f);
  run<spreadGroups<TypeParam>, TypeParam>(scale.data(), y.data(), rows);
  for (int64 row = 0; row < rows; ++row)
    for (int64 column = 0; column < columns; ++column)
      ASSERT_EQ(y[row * columns + column], scale[row / 2 * groups + column / B])
          << row << ", " << column;
}

/// What is read and written of groups that reach over a block's columns: each chunk's row has its
/// own.
template <class S> void moveGroups(const float *scale, float *y, float *scales, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto groups = tile.template load_groups<S::B>(scale);
    tile.template store<4>(y, tile.template load<4>(y) + groups);
    tile.template store_groups<S::B>(scales, groups);
  }
}

template <class S> class WideGroup : public testing::Test {};
using WideGrouping =
    testing::Types<Grouped<Shape<BlockTile<64, 4, 32, 32, 77>, 64, 77>, 64>,
                   Grouped<Shape<BlockTile<256, 16, 128, 128, 300>, 256, 300>, 256>,
                   Grouped<Shape<BlockTile<256, 16, 128, 64, 300>, 256, 300>, 512>>;
TYPED_TEST_SUITE(WideGroup, WideGrouping);

TYPED_TEST(WideGroup, IsOfEachRow) {
  constexpr int64 rows = 133, columns = TypeParam::columns, B = TypeParam::B,
                  groups = (columns + B - 1) / B;
  const std::vector<float> scale = randomFloats(rows * groups);
  std::vector<float> y(rows * columns, 0.0f), scales(rows * groups, Untouched);
  run<moveGroups<TypeParam>, TypeParam>(scale.data(), y.data(), scales.data(), rows);
  EXPECT_EQ(scales, scale);
  for (int64 row = 0; row < rows; ++row)
    for (int64 column = 0; column < columns; ++column)
      ASSERT_EQ(y[row * columns + column], scale[row * groups + column / B])
          << row << ", " << column;
}

//===-- Rows and blocks ---------------------------------------------------===//

template <class S> class RowReduction : public testing::Test {};
using RowShapes =
    testing::Types<Shape<RowTile<32, 4, 128>, 32, 128>, Shape<RowTile<8, 1, 7, 16>, 128, 7>,
                   Shape<RowTile<64, 8, 1000>, 64, 1000>, Shape<RowTile<96, 4, 1001>, 96, 1001>,
                   Shape<RowTile<1024, 2, 2500>, 1024, 2500>, Shape<RowTile<4, 2, 8, 3>, 12, 8>,
                   Shape<RowTile<64, 8, 700, 1, 1, 2>, 64, 700, 2>, // the second block half empty
                   Shape<RowTile<32, 4, 1000, 1, 2, 4>, 32, 1000, 4>,
                   Shape<RowTile<32, 4, 130, 1, 1, 8>, 32, 130, 8>,      // six blocks have nothing
                   Shape<RowTile<64, 2, 4096, 1, 4, 8>, 64, 4096, 8>,    // nothing is outside
                   Shape<RowTile<256, 1, 2047, 1, 1, 8>, 256, 2047, 8>>; // two values a lane
TYPED_TEST_SUITE(RowReduction, RowShapes);

/// Several reductions in a kernel, of which each must leave the next one's shared memory alone.
template <class S>
void reduceRows(const float *x, const float *offset, float *sums, float *magnitudes, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto f = tile.template load<4>(x) + 1.0f;
    const float sum = tile.sum(f);
    const float again = tile.sum(f - sum);
    tile.store_rows(sums, sum + 0.0f * again + tile.load_rows(offset));
    tile.store_rows(magnitudes, tile.amax(f) + tile.max(f) - tile.min(f));
  }
}

TYPED_TEST(RowReduction, CombinesWhatIsInside) {
  constexpr int64 rows = 9, columns = TypeParam::columns;
  const std::vector<float> x = randomFloats(rows * columns), offset = randomFloats(rows);
  std::vector<float> sums(rows, Untouched), magnitudes = sums;
  run<reduceRows<TypeParam>, TypeParam>(x.data(), offset.data(), sums.data(), magnitudes.data(),
                                        rows);
  for (int64 row = 0; row < rows; ++row) {
    double sum = 0, total = 0;
    float most = -INFINITY, least = INFINITY, magnitude = 0;
    for (int64 column = 0; column < columns; ++column) {
      const float f = x[row * columns + column] + 1.0f;
      sum += f, total += std::fabs(f);
      most = std::max(most, f), least = std::min(least, f);
      magnitude = std::max(magnitude, std::fabs(f));
    }
    EXPECT_NEAR(sums[row], sum + offset[row], total * 0x1p-20) << row;
    EXPECT_EQ(magnitudes[row], magnitude + most - least) << row;
  }
}

template <class S> class BlockReduction : public testing::Test {};
using BlockShapes = testing::Types<Shape<BlockTile<64, 4, 32, 32, 77>, 64, 77>,
                                   Shape<BlockTile<256, 16, 32, 128, 300>, 256, 300>,
                                   Shape<BlockTile<32, 4, 32, 32, 64>, 32, 64>>;
TYPED_TEST_SUITE(BlockReduction, BlockShapes);

template <class S> void reduceBlocks(const float *x, float *sums, float *magnitudes, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto f = tile.template load<4>(x) + 1.0f;
    tile.store_block(sums, tile.sum(f) + 0.0f * tile.load_block(sums));
    tile.store_block(magnitudes, tile.amax(f));
  }
}

TYPED_TEST(BlockReduction, CombinesWhatIsInside) {
  constexpr int64 rows = 41, columns = TypeParam::columns;
  constexpr int64 height = 32, width = columns == 300 ? 128 : 32,
                  across = (columns + width - 1) / width;
  const std::vector<float> x = randomFloats(rows * columns);
  std::vector<float> sums((rows + height - 1) / height * across, 0.0f), magnitudes = sums;
  run<reduceBlocks<TypeParam>, TypeParam>(x.data(), sums.data(), magnitudes.data(), rows);
  for (size_t block = 0; block < sums.size(); ++block) {
    double sum = 0, total = 0;
    float magnitude = 0;
    for (int64 row = block / across * height;
         row < rows && row < static_cast<int64>(block / across + 1) * height; ++row)
      for (int64 column = block % across * width;
           column < columns && column < static_cast<int64>(block % across + 1) * width; ++column) {
        const float f = x[row * columns + column] + 1.0f;
        sum += f, total += std::fabs(f);
        magnitude = std::max(magnitude, std::fabs(f));
      }
    EXPECT_NEAR(sums[block], sum, total * 0x1p-20) << block;
    EXPECT_EQ(magnitudes[block], magnitude) << block;
  }
}

//===-- The transpose -------------------------------------------------------===//

template <class S, class T_, int passes_ = 1> struct Turned : S {
  using T = T_;
  static constexpr int passes = passes_;
};
template <class S> class Transpose : public testing::Test {};
using Turnings = testing::Types<
    Turned<Shape<BlockTile<64, 4, 32, 32, 77, 4>, 64, 77>, float>,
    Turned<Shape<BlockTile<512, 16, 128, 128, 300, 2>, 512, 300>, bf16>,
    Turned<Shape<BlockTile<256, 16, 128, 128, 130, 4>, 256, 130>, float, 2>,
    Turned<Shape<BlockTile<512, 16, 128, 128, 300, 2>, 512, 300>, float>,   // 64 KiB at once
    Turned<Shape<BlockTile<1024, 16, 128, 128, 128>, 1024, 128>, float, 2>, // a chunk in two passes
    Turned<Shape<BlockTile<64, 8, 128, 16, 5, 4>, 64, 5>, bf16>,
    Turned<Shape<BlockTile<128, 16, 64, 128, 200, 4>, 128, 200>, e4m3>,
    Turned<Shape<BlockTile<128, 4, 16, 128, 300, 4>, 128, 300>, e4m3>, // squares of a thread's own
    Turned<Shape<BlockTile<32, 4, 16, 32, 77, 4>, 32, 77>, bf16>,
    Turned<Shape<BlockTile<32, 4, 8, 64, 77, 4>, 32, 77>, float>>;
TYPED_TEST_SUITE(Transpose, Turnings);

/// Twice in a tile, and many tiles a block: what comes later must not meet what came before.
template <class S, class T> void transposeTwice(const T *x, T *y, T *z, int64 pitch, int64 rows) {
  for (const typename S::Tile tile : S::Tile::over(rows)) {
    const auto transposed = tile.transposed();
    const auto values = tile.template load<sizeof(T)>(x);
    const auto turned = tile.template begin_transpose<S::passes>(values).end();
    const auto turning = tile.template begin_transpose<S::passes>(values);
    transposed.template store<sizeof(T)>(y, turned, pitch);
    transposed.template store<sizeof(T)>(z, turning.end(), pitch);
  }
}

TYPED_TEST(Transpose, MovesEachElementAndNoOther) {
  using T = typename TypeParam::T;
  constexpr int64 columns = TypeParam::columns;
  std::mt19937 random(5);
  for (int64 rows : {int64(1), int64(33), int64(261)}) {
    const int64 pitch = rows + 3;
    std::vector<T> x(static_cast<size_t>(rows * columns)),
        y(static_cast<size_t>(pitch * (columns + 1)));
    for (T &value : x) {
      const uint32_t word = random() & 0x3fffffffu;
      std::memcpy(&value, &word, sizeof(T));
    }
    std::memset(static_cast<void *>(y.data()), 0xff, y.size() * sizeof(T));
    std::vector<T> z = y;
    run<transposeTwice<TypeParam, T>, TypeParam>(x.data(), y.data(), z.data(), pitch, rows);
    std::vector<T> untouched(1);
    std::memset(static_cast<void *>(untouched.data()), 0xff, sizeof(T));
    for (int64 column = 0; column <= columns; ++column)
      for (int64 row = 0; row < pitch; ++row) {
        const bool inside = row < rows && column < columns;
        const T &expected = inside ? x[row * columns + column] : untouched[0];
        ASSERT_EQ(std::memcmp(&y[column * pitch + row], &expected, sizeof(T)), 0)
            << "row " << row << " of " << rows << ", column " << column;
        ASSERT_EQ(std::memcmp(&z[column * pitch + row], &expected, sizeof(T)), 0);
      }
  }
}

//===-- Order ------------------------------------------------------------===//

/// Of one block, the first tiles of a matrix, by the places of their first elements.
using Low = BlockTile<64, 16, 32, 32, 131072>;
constexpr int First = 6;
void firstTiles(int64 *places, int64 rows) {
  int n = 0;
  for (const Low tile : Low::over_columns(rows)) {
    if (n == First)
      return;
    if (arch::thread_index() == 0) {
      places[2 * n] = tile.first_row();
      places[2 * n + 1] = tile.first_column();
    }
    ++n;
  }
}

/// More than 12 million elements by columns, but where each row of the transpose begins a sector.
TEST(Order, IsDownWhereTilesShareSectors) {
  const auto placesOf = [](int64 rows) {
    std::vector<int64> places(2 * First);
    int64 *to = places.data();
    void *addresses[] = {&to, &rows};
    host::launch(entry<firstTiles>, {.grid = 1, .block = 64, .residentBlocks = 1}, addresses, {});
    return places;
  };
  const std::vector<int64> down = {0, 0, 32, 0, 64, 0, 96, 0, 0, 32, 32, 32},
                           across = {0, 0, 0, 32, 0, 64, 0, 96, 0, 128, 0, 160};
  EXPECT_EQ(placesOf(97), down);
  EXPECT_EQ(placesOf(112), down);
  EXPECT_EQ(placesOf(128), across);
  EXPECT_EQ(placesOf(96), across);
  EXPECT_EQ(placesOf(95), across);
}

//===-- NaN, and errors ---------------------------------------------------===//

using Warp = RowTile<32, 4, 128>;
template <class T> void magnitudes(const float *x, float *seen, float *ignored, int64 rows) {
  for (const Warp row : Warp::over(rows)) {
    const auto f = to<T>(row.load(x));
    row.store_rows(seen, row.amax(f));
    row.store_rows(ignored, row.amax_number(f));
  }
}

TEST(Amax, NanWinsUnlessItIsIgnored) {
  using S = Shape<Warp, 32, 128>;
  std::vector<float> x(2 * 128, -1.5f), seen(2), ignored(2);
  x[77] = -NAN, x[78] = INFINITY;
  const auto check = [&] {
    EXPECT_TRUE(std::isnan(seen[0]));
    EXPECT_EQ(ignored[0], INFINITY);
    EXPECT_EQ(seen[1], 1.5f);
    EXPECT_EQ(ignored[1], 1.5f);
  };
  run<magnitudes<float>, S>(x.data(), seen.data(), ignored.data(), int64{2});
  check();
  run<magnitudes<bf16>, S>(x.data(), seen.data(), ignored.data(), int64{2});
  check();
  run<magnitudes<f16>, S>(x.data(), seen.data(), ignored.data(), int64{2});
  check();
}

using Block = RowTile<64, 2, 128>;
constexpr int DivergentLine = __LINE__ + 5;
void leavesEarly(const float *x, float *y, int64 rows) {
  for (const Block row : Block::over(rows)) {
    if (arch::thread_index() == 40)
      return;
    row.store_rows(y, row.sum(row.load(x)));
  }
}

TEST(Divergence, IsAnErrorAtTheLineOfTheText) {
  std::vector<float> x(128), y(1);
  try {
    run<leavesEarly, Shape<Block, 64, 128>>(x.data(), y.data(), int64{1});
    FAIL() << "no error";
  } catch (const Error &error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("TileTest.cpp:" + std::to_string(DivergentLine)), what.npos) << what;
  }
}

void loadsMisaligned(const float *x, float *y, int64 rows) {
  for (const Warp row : Warp::over(rows))
    row.store(y, row.load(x + 1));
}

TEST(Alignment, IsCheckedAsTheHardwareDoes) {
  std::vector<float> x(132), y(128);
  using S = Shape<Warp, 32, 128>;
  EXPECT_THROW((run<loadsMisaligned, S>(x.data(), y.data(), int64{1})), Error);
}

void takesShared(int *taken) {
  struct Owner {};
  *taken = arch::launched_shared<Owner, float, 20000>() != nullptr;
}

TEST(LaunchedShared, IsNoMoreThanTheLaunchGives) {
  int taken = 0, *address = &taken;
  void *parameters[] = {&address};
  const auto launchWith = [&](uint64_t bytes) {
    host::launch(entry<takesShared>, {.grid = 1, .block = 1, .sharedBytes = bytes}, parameters, {});
  };
  launchWith(80000);
  EXPECT_EQ(taken, 1);
  try {
    launchWith(79999);
    FAIL() << "no error";
  } catch (const Error &error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("less shared memory than the text needs"), what.npos) << what;
  }
}

} // namespace
