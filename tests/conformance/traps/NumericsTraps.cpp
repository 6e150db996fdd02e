//===- NumericsTraps.cpp - What quantisations of others got wrong ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/conformance/traps/Trap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace eider;
using namespace eider::traps;

namespace {
constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> uniform(size_t count, float magnitude, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = (static_cast<float>(random() >> 8) * 0x1p-23f - 1) * magnitude;
  return values;
}
} // namespace

TEST(NumericsTraps, AllZeroBlock) {
  std::vector<float> x(256, 0.0f);
  x[1] = -0.0f;
  x[130] = 3;
  for (const char *format : {"e4m3", "e5m2"}) {
    auto outputs = run("quantize", parameters(format, "1x128"), {floats("x", {1, 256}, x)});
    EXPECT_EQ(floatsOf(outputs, "y_scale")[0], 1);
    std::vector<uint8_t> y = codesOf(outputs, "y");
    EXPECT_EQ(y[0], 0x00);
    EXPECT_EQ(y[1], 0x80);
    EXPECT_EQ(y[130], format == std::string("e4m3") ? 0x7e : 0x7b);
  }
}

TEST(NumericsTraps, TinyAmax) {
  // amax ≤ 448·2^-150 gives a scale of 0: a zero block. One step more gives the smallest scale.
  std::vector<float> x(32, 0.0f);
  x[0] = 224 * 0x1p-149f;
  x[16] = 225 * 0x1p-149f;
  auto outputs = run("quantize", parameters("e4m3", "1x16"), {floats("x", {1, 32}, x)});
  EXPECT_EQ(floatsOf(outputs, "y_scale"), (std::vector<float>{1, 0x1p-149f}));
  EXPECT_EQ(codesOf(outputs, "y")[0], 0x00);
  EXPECT_EQ(codesOf(outputs, "y")[16], 0x76) << "225 rounds to 224";
}

TEST(NumericsTraps, SubnormalScale) {
  std::vector<float> x = uniform(128, 0x1p-124f, 1);
  x[0] = 0x1p-124f;
  auto outputs = run("quantize", parameters("e4m3", "1x128"), {floats("x", {1, 128}, x)});
  float scale = floatsOf(outputs, "y_scale")[0];
  EXPECT_EQ(scale, 0x1p-124f / 448.0f);
  EXPECT_LT(scale, std::numeric_limits<float>::min());
  EXPECT_EQ(codesOf(outputs, "y")[0], 0x7e);
}

TEST(NumericsTraps, ScaleThatOverflowsWhenInverted) {
  std::vector<float> x = uniform(128, 0x1p-122f, 2);
  x[0] = 0x1p-122f;
  x[1] = 0;
  for (const char *arithmetic : {"divide", "reciprocal", "max_over_amax"}) {
    OpParameters given = parameters("e4m3", "1x128");
    given.numerics["arithmetic"] = arithmetic;
    std::vector<uint8_t> y = codesOf(run("quantize", given, {floats("x", {1, 128}, x)}), "y");
    EXPECT_EQ(y[1], 0x00) << arithmetic << ": 0 · Inf would be NaN";
    if (arithmetic == std::string("divide")) {
      EXPECT_EQ(y[0], 0x7e);
    }
  }
}

/// The NaN at every place of a block, of a row in one warp, of a row over several warps.
TEST(NumericsTraps, NaNIsLostInAMax) {
  for (auto [block, width] :
       {std::pair("1x128", 128), std::pair("1x*", 96), std::pair("1x*", 3000)}) {
    int rows = std::min(width, 128), step = width / rows;
    std::vector<float> x = uniform(static_cast<size_t>(rows) * width, 1, 3);
    for (int row = 0; row < rows; ++row)
      x[static_cast<size_t>(row) * width + row * step] = NaN;
    auto outputs = run("quantize", parameters("e4m3", block), {floats("x", {rows, width}, x)});
    for (float scale : floatsOf(outputs, "y_scale"))
      ASSERT_TRUE(std::isnan(scale)) << block;
  }
}

TEST(NumericsTraps, DivisionReplacedByAReciprocal) {
  // Scales are amax/448; of many values some have another code when multiplied with 1/s.
  std::vector<float> x = uniform(200 * 128, 1, 4);
  auto byDivision = run("quantize", parameters("e4m3", "1x128"), {floats("x", {200, 128}, x)});
  std::vector<float> scales = floatsOf(byDivision, "y_scale");
  std::vector<float> ties;
  // In [16, 32) codes stand for even numbers. A quotient is an odd one, a tie; the product with the
  // reciprocal is beside it and rounds to the other neighbour.
  for (float s : scales) {
    float tie = 0;
    for (int odd = 17; odd < 32 && tie == 0; odd += 2) {
      const auto code = static_cast<float>(odd);
      float value = code * s;
      if (value / s == code && std::nearbyint(value / s / 2) != std::nearbyint(value * (1 / s) / 2))
        tie = value;
    }
    ties.push_back(tie);
  }
  auto found = std::find_if(ties.begin(), ties.end(), [](float tie) { return tie != 0; });
  ASSERT_NE(found, ties.end()) << "no value tells the two apart";
  auto row = static_cast<size_t>(found - ties.begin());
  std::vector<float> block(x.begin() + static_cast<long>(row) * 128,
                           x.begin() + static_cast<long>(row + 1) * 128);
  auto largest = std::max_element(block.begin(), block.end(),
                                  [](float a, float b) { return std::abs(a) < std::abs(b); });
  block[largest == block.begin() ? 1 : 0] = *found;
  auto outputs = run("quantize", parameters("e4m3", "1x128"), {floats("x", {1, 128}, block)});
  EXPECT_EQ(floatsOf(outputs, "y_scale")[0], scales[row]) << "amax is as before";
}

/// The codes belong to the stored scale: each is the code nearest to x over that very number.
TEST(NumericsTraps, CodesAreThoseOfTheStoredScale) {
  std::vector<float> x = uniform(64 * 128, 100, 5);
  auto outputs = run("quantize", parameters("e4m3", "1x128"), {floats("x", {64, 128}, x)});
  std::vector<float> scales = floatsOf(outputs, "y_scale");
  std::vector<float> values = decoded("e4m3", codesOf(outputs, "y"), "software");
  for (size_t i = 0; i < x.size(); ++i) {
    double quotient = static_cast<double>(x[i]) / static_cast<double>(scales[i / 128]);
    double magnitude = std::max(std::abs(quotient), 0x1p-6);
    double half = std::ldexp(1.0, std::ilogb(magnitude) - 4); // half a step of e4m3
    EXPECT_LE(std::abs(static_cast<double>(values[i]) - quotient), half * (1 + 0x1p-20)) << i;
  }
}

TEST(NumericsTraps, CodeZeroOfE8m0IsNoZero) {
  std::vector<float> x(64, 0.0f);
  x[32] = 0x1p-140f;
  OpParameters given = parameters("e4m3", "1x32");
  given.mode = "mx";
  given.scale = "e8m0";
  auto outputs = run("quantize", given, {floats("x", {1, 64}, x)});
  EXPECT_EQ(codesOf(outputs, "y_scale"), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(codesOf(outputs, "y")[0], 0x00);
  EXPECT_EQ(codesOf(outputs, "y")[32], 0x00) << "2^-140 · 2^127 rounds to 0";
  OpParameters back = parameters("e4m3", "1x32");
  back.dtype = "f32";
  back.scale = "e8m0";
  outputs = run("dequantize", back,
                {codes("x", e4m3, {1, 32}, std::vector<uint8_t>(32, 0x38)),
                 codes("x_scale", DType::e8m0, {1, 1}, {0})});
  for (float value : floatsOf(outputs, "y"))
    EXPECT_EQ(value, 0x1p-127f);
}

TEST(NumericsTraps, QuantisedWithTheExactScaleButStoredRounded) {
  // By the exact scale 1 would become 448.
  std::vector<float> x(32, 0.0f);
  x[0] = 1.0f;
  x[1] = 0.9f;
  OpParameters given = parameters("e4m3", "1x32");
  given.scale = "e8m0";
  auto outputs = run("quantize", given, {floats("x", {1, 32}, x)});
  EXPECT_EQ(codesOf(outputs, "y_scale"), (std::vector<uint8_t>{127 - 8})) << "1/448, rounded up";
  EXPECT_EQ(codesOf(outputs, "y")[0], 0x78) << "1 · 2^8 is 256";
}

TEST(NumericsTraps, E2m1HasNoNaNAndTwoCodesAByte) {
  std::vector<float> x(64, 6.0f);
  x[1] = -0.0f;
  x[2] = -0.2f;
  x[3] = 0.25f;
  x[4] = 0.75f;
  x[40] = -NaN;
  OpParameters given = parameters("e2m1", "1x32");
  std::vector<uint8_t> result = codesOf(run("quantize", given, {floats("x", {1, 64}, x)}), "y");
  ASSERT_EQ(result.size(), 32u);
  EXPECT_EQ(result[0], 0x87) << "-0 has its sign; the first code is in the low bits";
  EXPECT_EQ(result[1], 0x08) << "-0.2 is -0, and the tie 1/4 is the even 0";
  EXPECT_EQ(result[2], 0x72) << "the tie 3/4 is the even 1";
  for (size_t i = 16; i < 32; ++i)
    EXPECT_EQ(result[i], 0x77) << "in a block with a NaN, whose scale is one";
}

TEST(NumericsTraps, TwoLevelsOfScales) {
  std::vector<float> x(64, 0.0f);
  for (int i = 0; i < 16; ++i)
    x[i] = 3.0f;                                     // 3 / (6 · 1/8) is 4
  x[16] = 0x1p-12f;                                  // 2^-12 / (6 · 1/8) rounds to 0 in e4m3
  std::fill(x.begin() + 32, x.begin() + 48, 1.0e6f); // beyond 448 · 6 / 8
  OpParameters given = parameters("e2m1", "1x16");
  given.scale = "e4m3";
  auto outputs =
      run("quantize", given, {floats("x", {1, 64}, x), floats("y_global_scale", {1}, {0.125f})});
  EXPECT_EQ(codesOf(outputs, "y_scale"), (std::vector<uint8_t>{0x48, 0x38, 0x7e, 0x38}))
      << "4; 1 for a block whose scale rounds to 0; the largest, 448; 1 for a block of zeros";
  std::vector<uint8_t> y = codesOf(outputs, "y");
  EXPECT_EQ(y[0], 0x77);
  EXPECT_EQ(y[8], 0x00);
  EXPECT_EQ(y[16], 0x77) << "saturated";
  OpParameters back = given;
  back.dtype = "f32";
  outputs = run("dequantize", back,
                {codes("x", e2m1, {1, 32}, y),
                 codes("x_scale", e4m3, {1, 4}, codesOf(outputs, "y_scale")),
                 floats("x_global_scale", {1}, {0.125f})});
  EXPECT_EQ(floatsOf(outputs, "y")[0], 3.0f);
  EXPECT_EQ(floatsOf(outputs, "y")[32], 6.0f * 448 / 8);
}

TEST(NumericsTraps, FnuzHasNoMinusZeroAndOneNaN) {
  std::vector<float> x(32, 1.0f);
  x[1] = -0.0f;
  x[2] = -1e-12f;
  x[3] = -1.0f;
  for (const char *format : {"e4m3fnuz", "e5m2fnuz"}) {
    OpParameters given = parameters(format, "1x16");
    std::vector<float> y = x;
    y[20] = -NaN;
    std::vector<uint8_t> result = codesOf(run("quantize", given, {floats("x", {1, 32}, y)}), "y");
    EXPECT_EQ(result[0], 0x7f);
    EXPECT_EQ(result[1], 0x00) << "0x80 would be NaN";
    EXPECT_EQ(result[2], 0x00) << "0x80 would be NaN";
    EXPECT_EQ(result[3], 0xff);
    for (size_t i = 16; i < 32; ++i)
      EXPECT_EQ(result[i], 0x80) << "a block with a NaN";
  }
}
