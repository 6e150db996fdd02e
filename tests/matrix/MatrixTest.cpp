//===- MatrixTest.cpp - Does the matrix see what it should? ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Pairwise.h"
#include "tests/matrix/Values.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <span>

using namespace eider;
using namespace eider::matrix;

TEST(Pairwise, HoldsEveryPairInFewCells) {
  std::vector<Cell> cells = pairwiseCells(1);
  EXPECT_EQ(uncoveredPairs(cells), 0u);
  EXPECT_LT(cells.size(), 600u);
  for (const Cell &cell : cells)
    EXPECT_TRUE(isValid(cell)) << cell.name();
  cells.resize(cells.size() / 2);
  EXPECT_NE(uncoveredPairs(cells), 0u) << "the count sees what is missing";
}

TEST(Pairwise, IsTheSameForASeedAndDiffersBetweenSeeds) {
  EXPECT_EQ(pairwiseCells(1), pairwiseCells(1));
  EXPECT_NE(pairwiseCells(1), pairwiseCells(2));
}

TEST(WholeProduct, HoldsEveryCombinationAndEveryPair) {
  std::vector<Cell> cells = wholeProduct();
  size_t quantising = 0, plain = 0;
  for (const OpInfo &op : ops())
    ++(std::ranges::count(op.parameters, "block") ? quantising : plain);
  // dtypes × formats with their codecs × blocks × widths, × rows for the representatives;
  // requantize has no dtype; cast_transpose's rows have blocks of at most 256, and codes of a byte.
  const size_t blocks = infoOf(Axis::Block).values.size();
  EXPECT_EQ(cells.size(), (6u * 3 + 1) * 8 * blocks * 7 * 6 +
                              (quantising - 8) * 3 * 8 * blocks * 7 + 3 * 6 * (blocks - 2) * 7 +
                              plain * 3 * 7 * 6);
  EXPECT_EQ(uncoveredPairs(cells), 0u);
  EXPECT_TRUE(std::all_of(cells.begin(), cells.end(), isValid));
}

/// One of each op, format, block, layout and numerics that go together with some type and source of
/// scales and some codec, and no other.
TEST(NumericsProduct, HoldsEveryCombinationOnce) {
  constexpr Axis product[] = {Axis::Op, Axis::Format, Axis::Block, Axis::ScaleLayout,
                              Axis::Numerics};
  std::set<std::vector<int>> held, possible;
  const auto combinationOf = [&](const Cell &cell) {
    std::vector<int> values;
    for (const Axis axis : product)
      values.push_back(cell[axis]);
    return values;
  };
  const std::vector<Cell> cells = numericsProduct();
  for (const Cell &cell : cells) {
    EXPECT_TRUE(isValid(cell)) << cell.name();
    held.insert(combinationOf(cell));
  }
  EXPECT_EQ(held.size(), cells.size());
  Cell cell;
  for (int &value : cell.at)
    value = 0;
  const std::function<void(std::span<const Axis>)> visit = [&](std::span<const Axis> axes) {
    if (axes.empty()) {
      if (isValid(cell))
        possible.insert(combinationOf(cell));
      return;
    }
    for (int value = 0; value < static_cast<int>(infoOf(axes[0]).values.size()); ++value) {
      cell[axes[0]] = value;
      visit(axes.subspan(1));
    }
  };
  constexpr Axis all[] = {Axis::Op,       Axis::Format, Axis::Block,  Axis::ScaleLayout,
                          Axis::Numerics, Axis::Scale,  Axis::Source, Axis::Codec};
  visit(all);
  EXPECT_EQ(held, possible);
}

TEST(Cells, HaveNamesThatReadBack) {
  for (const Cell &cell : pairwiseCells(3))
    EXPECT_EQ(cellNamed(cell.name()), cell);
  EXPECT_THROW(cellNamed("quantize · bf16"), Error);
}

TEST(Placements, PutRowsWhereTheLayoutSays) {
  HostTensor tensor{"x", e4m3, {2, 3}, std::vector<std::byte>(6, std::byte{7})};
  Placement placement(e4m3, {2, 3}, {/*padding=*/2, /*shift=*/1});
  EXPECT_EQ(placement.offset() % 256, 1u);
  EXPECT_EQ(placement.strides(), (std::vector<int64_t>{5, 1}));
  std::vector<std::byte> image = placement.image(std::byte{0xff}, &tensor);
  EXPECT_EQ(image[placement.offset() + 5], std::byte{7});
  EXPECT_EQ(placement.extract("x", image).data, tensor.data);
  EXPECT_TRUE(placement.guardsHold(image, std::byte{0xff}));
  for (size_t outside : {size_t(0), placement.offset() + 3, image.size() - 1}) {
    std::vector<std::byte> written = image;
    written[outside] = std::byte{0};
    EXPECT_FALSE(placement.guardsHold(written, std::byte{0xff})) << outside;
  }
}

TEST(Values, SpecialsAreAmongThem) {
  HostTensor x = ValueSource("specials", 1).tensor("x", bf16, {8, 256});
  const auto *bits = reinterpret_cast<const uint16_t *>(x.data.data());
  auto count = [&](uint16_t magnitude) {
    return std::count_if(bits, bits + 8 * 256,
                         [&](uint16_t value) { return (value & 0x7fff) == magnitude; });
  };
  EXPECT_GT(count(0x7fff), 0) << "NaN";
  EXPECT_GT(count(0x7f80), 0) << "Inf";
  EXPECT_GT(count(0x7f7f), 0) << "the largest";
  EXPECT_GT(count(0x0001), 0) << "the smallest";
  EXPECT_GT(count(0), 64) << "zeros, whole blocks of them";
}

/// Rows of whole accesses that lie apart need not be shifted, nor those that begin anywhere.
TEST(Harness, TakesTheVariantOfTheLayout) {
  Harness harness("host");
  for (auto [memory, variant] : {std::pair<const char *, const char *>{"few rows", "few_rows"},
                                 {"contiguous", "contiguous"},
                                 {"padded", "aligned"},
                                 {"strided", "general"},
                                 {"misaligned", "general"}}) {
    const Cell cell =
        cellNamed("rms_norm_quant · bf16 · e4m3 · f32 · 1x64 · row_major · software · "
                  "dynamic · default · 4B · several · " +
                  std::string(memory) + " · normal");
    EXPECT_EQ(harness.variantOf(harness.add(makeCase(cell, 1))), variant) << memory;
  }
}

/// A kernel of other numerics than the reference is asked about is found out.
TEST(Harness, SeesAWrongKernel) {
  Cell cell = cellNamed(
      "quantize · f32 · e4m3 · f32 · 1x64 · row_major · software · dynamic · default · odd · "
      "several · strided · specials");
  Case right = makeCase(cell, 1);
  Harness harness("host");
  size_t number = harness.add(right);
  harness.build();
  EXPECT_EQ(harness.texts(), 1u);
  EXPECT_EQ(harness.variantOf(number), "general");
  std::vector<HostTensor> outputs = harness.run(number);
  for (const Comparison &comparison : compare(right.program, right.inputs, outputs))
    EXPECT_EQ(comparison.wrong, 0) << comparison.firstWrong;
  cell[Axis::Numerics] = cellNamed("quantize · f32 · e4m3 · f32 · 1x64 · row_major · software · "
                                   "dynamic · deepgemm · odd · several · "
                                   "strided · specials")[Axis::Numerics];
  Case other = makeCase(cell, 1);
  int64_t wrong = 0;
  for (const Comparison &comparison : compare(other.program, other.inputs, outputs))
    wrong += comparison.wrong;
  EXPECT_GT(wrong, 0);
}
