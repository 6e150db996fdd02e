//===- Fp8Test.cpp - The reference's own FP8 codec ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Fp8.h"

#include "tests/unit/interpreter/Support.h"

#include <bit>
#include <chrono>

using namespace eider;
using namespace eider::interpreter;
using eider::testing::Inf;
using eider::testing::NaN;

TEST(Fp8, KnownValues) {
  EXPECT_EQ(decodeFp8(e4m3, 0x7e), 448);
  EXPECT_EQ(decodeFp8(e4m3, 0x01), 0x1p-9);
  EXPECT_EQ(decodeFp8(e4m3, 0x38), 1);
  EXPECT_EQ(decodeFp8(e4m3, 0xb8), -1);
  EXPECT_TRUE(std::isnan(decodeFp8(e4m3, 0x7f)));
  EXPECT_TRUE(std::signbit(decodeFp8(e4m3, 0x80)));
  EXPECT_EQ(decodeFp8(e5m2, 0x7b), 57344);
  EXPECT_EQ(decodeFp8(e5m2, 0x01), 0x1p-16);
  EXPECT_EQ(decodeFp8(e5m2, 0xfc), -Inf);
  EXPECT_TRUE(std::isnan(decodeFp8(e5m2, 0x7d)));
  EXPECT_EQ(decodeFp8(DType::e4m3fnuz, 0x7f), 240);
  EXPECT_EQ(decodeFp8(DType::e4m3fnuz, 0x01), 0x1p-10);
  EXPECT_EQ(decodeFp8(DType::e5m2fnuz, 0xff), -57344);
  EXPECT_EQ(decodeFp8(DType::e5m2fnuz, 0x01), 0x1p-17);
}

TEST(Fp8, E2m1IsASmallTable) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; ++code) {
    EXPECT_EQ(decodeFp8(e2m1, code), values[code]);
    EXPECT_EQ(decodeFp8(e2m1, code | 8), -values[code]);
    EXPECT_TRUE(std::signbit(decodeFp8(e2m1, code | 8)));
    EXPECT_FALSE(isNaNCode(e2m1, code) || isNaNCode(e2m1, code | 8));
  }
  EXPECT_EQ(encodeFp8(e2m1, -0.0), 8);
  EXPECT_EQ(encodeFp8(e2m1, -Inf, {/*overflowToFormat=*/true, false}), 15);
  EXPECT_EQ(encodeFp8(e2m1, std::copysign(NaN, -1.0)), 7) << "there is no NaN, and no sign of one";
  EXPECT_EQ(encodeFp8(e2m1, std::copysign(NaN, -1.0), {false, /*ignoreNaN=*/true}), 15);
}

TEST(Fp8, FnuzHasOneNaNAndOneZero) {
  for (DType type : {DType::e4m3fnuz, DType::e5m2fnuz}) {
    for (int code = 0; code < 256; ++code) {
      EXPECT_EQ(isNaNCode(type, static_cast<uint8_t>(code)), code == 0x80);
      EXPECT_EQ(std::isnan(decodeFp8(type, static_cast<uint8_t>(code))), code == 0x80);
    }
    EXPECT_EQ(encodeFp8(type, -0.0), 0x00);
    EXPECT_EQ(encodeFp8(type, -1e-30), 0x00);
    EXPECT_EQ(encodeFp8(type, std::copysign(NaN, -1.0)), 0x80);
    EXPECT_EQ(encodeFp8(type, -1e9), 0xff);
    EXPECT_EQ(encodeFp8(type, -1e9, {/*overflowToFormat=*/true, false}), 0x80);
  }
  EXPECT_EQ(encodeFp8(DType::e4m3fnuz, 248, {/*overflowToFormat=*/true, false}), 0x80);
  EXPECT_EQ(encodeFp8(DType::e4m3fnuz, 247.99, {/*overflowToFormat=*/true, false}), 0x7f);
}

TEST(Fp8, EveryCodeEncodesItsValue) {
  for (DType type : {e4m3, e5m2, DType::e4m3fnuz, DType::e5m2fnuz, e2m1})
    for (int code = 0; code < (type == e2m1 ? 16 : 256); ++code) {
      double value = decodeFp8(type, static_cast<uint8_t>(code));
      EncodeRules rules = {/*overflowToFormat=*/true, false};
      if (!isNaNCode(type, static_cast<uint8_t>(code))) {
        EXPECT_EQ(encodeFp8(type, value, rules), code);
      }
    }
}

TEST(Fp8, TiesGoToEvenCodes) {
  for (DType type : {e4m3, e5m2, DType::e4m3fnuz, DType::e5m2fnuz, e2m1})
    for (int code = 0; decodeFp8(type, static_cast<uint8_t>(code)) < largestFp8(type); ++code) {
      double below = decodeFp8(type, static_cast<uint8_t>(code));
      double above = decodeFp8(type, static_cast<uint8_t>(code + 1)), middle = (below + above) / 2;
      EXPECT_EQ(encodeFp8(type, middle), code % 2 ? code + 1 : code);
      EXPECT_EQ(encodeFp8(type, std::nextafter(middle, 0)), code);
      EXPECT_EQ(encodeFp8(type, std::nextafter(middle, Inf)), code + 1);
      EXPECT_EQ(encodeFp8(type, -std::nextafter(middle, Inf)),
                (type == e2m1 ? 8 : 0x80) | (code + 1));
    }
}

TEST(Fp8, OverflowSaturatesUnlessTheFormatIsAsked) {
  EncodeRules format = {/*overflowToFormat=*/true, false};
  EXPECT_EQ(encodeFp8(e4m3, 464, format), 0x7e);
  EXPECT_EQ(encodeFp8(e4m3, 464.001, format), 0x7f);
  EXPECT_EQ(encodeFp8(e4m3, -Inf, format), 0xff);
  EXPECT_EQ(encodeFp8(e5m2, 61439.99, format), 0x7b);
  EXPECT_EQ(encodeFp8(e5m2, 61440, format), 0x7c);
  EXPECT_EQ(encodeFp8(e5m2, 1e300, format), 0x7c);
  EXPECT_EQ(encodeFp8(e4m3, 1e9), 0x7e);
  EXPECT_EQ(encodeFp8(e5m2, -Inf), 0xfb);
}

TEST(Fp8, NaNPropagatesUnlessIgnored) {
  EXPECT_EQ(encodeFp8(e4m3, NaN), 0x7f);
  EXPECT_EQ(encodeFp8(e4m3, std::copysign(NaN, -1.0)), 0xff);
  EXPECT_EQ(encodeFp8(e5m2, NaN, {false, /*ignoreNaN=*/true}), 0x7b);
}

TEST(Fp8, OrderOfCodesIsThatOfValues) {
  EXPECT_LT(orderOfCode(e4m3, 0xb8), orderOfCode(e4m3, 0x80));
  EXPECT_LT(orderOfCode(e4m3, 0x80), orderOfCode(e4m3, 0x00));
  EXPECT_LT(orderOfCode(e4m3, 0x00), orderOfCode(e4m3, 0x7e));
  EXPECT_LT(orderOfCode(e2m1, 0xf), orderOfCode(e2m1, 0x8));
  EXPECT_LT(orderOfCode(e2m1, 0x8), orderOfCode(e2m1, 0x0));
}

/// Every bf16 value, against the bit arithmetic of a double: an oracle of another kind.
TEST(Fp8, EveryBf16AgainstScaledRounding) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    double value = valueOf(bf16, bits);
    for (auto [type, mantissa, lowest] :
         {std::tuple(e4m3, 3, -6), std::tuple(e5m2, 2, -14), std::tuple(DType::e4m3fnuz, 3, -7),
          std::tuple(DType::e5m2fnuz, 2, -15), std::tuple(e2m1, 1, 0)}) {
      int exponent = std::max(value > 0 ? std::ilogb(value) : lowest, lowest);
      double rounded =
          std::ldexp(std::nearbyint(std::ldexp(value, mantissa - exponent)), exponent - mantissa);
      EXPECT_EQ(decodeFp8(type, encodeFp8(type, value)), std::min(rounded, largestFp8(type)));
    }
  }
}
