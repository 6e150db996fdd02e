//===- ScaleMemoryTest.cpp - Scales in the layouts of memory --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/ScaleMemory.h"

#include "tests/unit/interpreter/Support.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::interpreter;
using namespace eider::testing;
using ::testing::ElementsAre;

namespace {
/// Scales 1, 2, 3, … row by row, as powers of two of e8m0 (codes 127 + i).
Tensor grid(DType dtype, int64_t rows, int64_t columns) {
  Tensor scales(dtype, {rows, columns});
  for (int64_t i = 0; i < scales.size(); ++i)
    scales.values[i] = dtype == DType::e8m0 ? std::ldexp(1.0, static_cast<int>(i % 100))
                                            : static_cast<double>(i + 1);
  return scales;
}
} // namespace

TEST(ScaleMemory, ColumnsOneAfterAnotherFromWholeSixteenBytes) {
  HostTensor y = toHost("s", grid(DType::f32, 5, 2), {ScaleLayout::mn_major_aligned});
  EXPECT_THAT(y.shape, ElementsAre(2, 8));
  EXPECT_THAT(valuesOf(y), ElementsAre(1, 3, 5, 7, 9, 0, 0, 0, 2, 4, 6, 8, 10, 0, 0, 0));
}

TEST(ScaleMemory, FourExponentsAWordTheFirstLowest) {
  HostTensor y = toHost("s", grid(DType::e8m0, 1, 5), {ScaleLayout::packed_ue8m0});
  EXPECT_EQ(y.dtype, DType::i32);
  EXPECT_THAT(y.shape, ElementsAre(2, 4));
  std::vector<uint32_t> words(8);
  std::memcpy(words.data(), y.data.data(), 32);
  EXPECT_THAT(words, ElementsAre(0x8281807f, 0, 0, 0, 0x83, 0, 0, 0));
}

/// Of cuBLAS' documentation: rows 0, 32, 64 and 96 share 16 bytes.
TEST(ScaleMemory, TilesOfFiveHundredTwelveBytes) {
  HostTensor y = toHost("s", grid(DType::e8m0, 130, 5), {ScaleLayout::swizzled_128x4});
  EXPECT_THAT(y.shape, ElementsAre(2, 1024));
  auto at = [&](size_t i) { return static_cast<int>(y.data[i]); };
  auto code = [](int row, int column) { return 127 + (5 * row + column) % 100; };
  EXPECT_EQ(at(0), code(0, 0));
  EXPECT_EQ(at(3), code(0, 3));
  EXPECT_EQ(at(4), code(32, 0));
  EXPECT_EQ(at(16), code(1, 0));
  EXPECT_EQ(at(31 * 16 + 3 * 4 + 2), code(127, 2));
  EXPECT_EQ(at(512), code(0, 4));
  EXPECT_EQ(at(513), 0);
  EXPECT_EQ(at(1024 + 16), code(129, 0));
  EXPECT_EQ(at(1024 + 4), 0);
}

TEST(ScaleMemory, WeightsOfAGemmRowByRow) {
  HostTensor y = toHost("s", grid(DType::f32, 2, 3), {ScaleLayout::te_gemm_ready, false});
  EXPECT_THAT(y.shape, ElementsAre(2, 4));
  EXPECT_THAT(valuesOf(y), ElementsAre(1, 2, 3, 0, 4, 5, 6, 0));
  HostTensor rows = toHost("s", grid(DType::f32, 2, 3), {ScaleLayout::te_gemm_ready, true});
  EXPECT_THAT(rows.shape, ElementsAre(3, 4));
}

TEST(ScaleMemory, ReadsBackWhatItWroteAndSeesDirtyPadding) {
  for (ScaleLayout layout : {ScaleLayout::packed_ue8m0, ScaleLayout::swizzled_128x4}) {
    const Tensor scales = grid(DType::e8m0, 37, 6);
    HostTensor memory = toHost("s", scales, {layout});
    EXPECT_EQ(scalesFromHost(memory, {layout}, DType::e8m0, {37, 6}).values, scales.values);
    EXPECT_EQ(dirtyPadding(memory, {layout}, DType::e8m0, {37, 6}), "");
    memory.data.back() = std::byte{1};
    EXPECT_NE(dirtyPadding(memory, {layout}, DType::e8m0, {37, 6}), "");
  }
}

TEST(ScaleMemory, ANonzeroPaddingIsAWrongResult) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.quantize %x numerics<> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [1, 2], scale = f32, layout = mn_major_aligned>
    eider.output "y", %y : !eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [1, 2], scale = f32, layout = mn_major_aligned>)");
  const std::vector<HostTensor> inputs = {floats("x", f32, {1, 3}, {1, -2, 3})};
  std::vector<HostTensor> outputs = interpret(p, inputs);
  for (const Comparison &comparison : compare(p, inputs, outputs))
    EXPECT_EQ(comparison.wrong, 0) << comparison.firstWrong;
  for (HostTensor &tensor : outputs)
    if (tensor.name == "y_scale")
      tensor.data[5] = std::byte{1};
  std::string found;
  for (const Comparison &comparison : compare(p, inputs, outputs))
    found += comparison.firstWrong;
  EXPECT_EQ(found, "y_scale[0, 1]: the layout's padding is not zero");
}
