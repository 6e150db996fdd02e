//===- RoundingTest.cpp - The reference's own roundings -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/interpreter/Support.h"

#include <bit>
#include <random>

using namespace eider;
using namespace eider::interpreter;
using eider::testing::Inf;
using eider::testing::NaN;

TEST(Rounding, EverySmallFloatIsItself) {
  for (DType type : {bf16, f16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      double value = valueOf(type, bits);
      if (std::isnan(value))
        continue;
      ASSERT_EQ(bitsOf(type, value), bits);
      ASSERT_EQ(roundTo(type, value), value);
    }
}

/// Between each two neighbours: below the middle, the middle (to even), above it.
TEST(Rounding, GoesToTheNearestAndTiesToEven) {
  for (DType type : {bf16, f16})
    for (uint32_t bits = 0; std::isfinite(valueOf(type, bits + 1)); ++bits) {
      double below = valueOf(type, bits), above = valueOf(type, bits + 1),
             middle = (below + above) / 2;
      double nudge = (above - below) / 1024;
      ASSERT_EQ(roundTo(type, middle - nudge), below);
      ASSERT_EQ(roundTo(type, middle), bits % 2 ? above : below);
      ASSERT_EQ(roundTo(type, middle + nudge), above);
      ASSERT_EQ(roundTo(type, -(middle + nudge)), -above);
    }
}

TEST(Rounding, OverflowsWhereTheNextNumberWouldBegin) {
  EXPECT_EQ(roundTo(f16, 65519), 65504);
  EXPECT_EQ(roundTo(f16, 65520), Inf);
  EXPECT_EQ(roundTo(bf16, -3.39e38), -largestFinite(bf16));
  EXPECT_EQ(roundTo(bf16, -3.4e38), -Inf);
  EXPECT_EQ(roundTo(f32, 3.5e38), Inf);
  EXPECT_EQ(largestFinite(f32), std::numeric_limits<float>::max());
}

TEST(Rounding, KeepsZeroSignsAndSubnormals) {
  EXPECT_EQ(bitsOf(bf16, -0.0), 0x8000u);
  EXPECT_EQ(bitsOf(f16, -0x1p-24), 0x8001u);
  EXPECT_EQ(roundTo(f16, 0x1p-25), 0);
  EXPECT_EQ(roundTo(f32, 0x1p-149), 0x1p-149);
  EXPECT_TRUE(std::isnan(roundTo(bf16, NaN)));
  EXPECT_EQ(bitsOf(bf16, NaN), 0x7fc0u);
}

TEST(Rounding, Ulp) {
  EXPECT_EQ(ulpOfF32(1), 0x1p-23);
  EXPECT_EQ(ulpOfF32(std::nextafter(1.0f, 0.0f)), 0x1p-24);
  EXPECT_EQ(ulpOfF32(0), 0x1p-149);
  EXPECT_EQ(ulpOfF32(0x1p-130), 0x1p-149);
}

/// The claim on which the whole reference rests: double arithmetic rounded to f32 is f32
/// arithmetic.
TEST(Rounding, DoubleRoundingIsInnocent) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    auto a = std::bit_cast<float>(static_cast<uint32_t>(random()));
    auto b = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(a) || std::isnan(b))
      continue;
    double x = a, y = b;
    auto check = [&](double exact, float direct) {
      if (!std::isnan(direct)) {
        ASSERT_EQ(roundTo(f32, exact), direct) << a << " and " << b;
      }
    };
    check(x + y, a + b);
    check(x * y, a * b);
    check(x / y, a / b);
    check(std::sqrt(x), std::sqrt(a));
  }
}
