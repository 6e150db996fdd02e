//===- Fp8Test.cpp - The reference's own FP8 codec ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Fp8.h"
#include "compiler/interpreter/Random.h"

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

TEST(Fp8, StochasticGoesUpWhereThePlaceAndTheNumberAddUp) {
  auto code = [](double value, uint16_t random) {
    return encodeFp8(e4m3, value, {.random = random});
  };
  EXPECT_EQ(code(1 + 0.125 / 4, 0), 0x38);
  EXPECT_EQ(code(1 + 0.125 / 4, 0xbfff), 0x38);
  EXPECT_EQ(code(1 + 0.125 / 4, 0xc000), 0x39) << "a quarter, and three quarters";
  EXPECT_EQ(code(-1 - 0.125 / 4, 0xc000), 0xb9) << "away from 0";
  EXPECT_EQ(code(1, 0xffff), 0x38) << "a code's own value stays";
  EXPECT_EQ(code(0x1p-9 * 0x1p-17, 0xffff), 1) << "subnormal: half of the last bit carries";
  EXPECT_EQ(code(0x1p-9 * 0x1p-18, 0xffff), 0);
  EXPECT_EQ(code(1000, 0), 0x7e);
  EXPECT_EQ(code(449, 0xffff), 0x7e) << "saturates";
  EXPECT_EQ(code(NaN, 7), 0x7f);
  auto four = [](double value, uint16_t random) {
    return encodeFp8(e2m1, value, {.random = random});
  };
  EXPECT_EQ(four(2.25, 0xbf), 4) << "codes of four bits have numbers of 8";
  EXPECT_EQ(four(-2.25, 0xc0), 0xd);
  EXPECT_EQ(four(0x1p-10, 0xff), 1) << "subnormal: half of the last bit carries";
  EXPECT_EQ(four(0x1p-11, 0xff), 0);
}

TEST(Random, KnownAnswersOfPhilox) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
}

/// Of all bytes: two numbers of which one's upper byte is the other's lower one.
TEST(Random, NeighboursCovaryBy2ToMinus10AtMost) {
  auto goesUp = [](double place, int upper, int lower) {
    const auto number = static_cast<uint16_t>(upper * 256 + lower);
    return encodeFp8(e4m3, 1 + 0.125 * place, {.random = number}) == 0x39;
  };
  // The places whose thresholds part the shared byte in halves, and others.
  const double first[] = {0.5 - 1.0 / 512, 0.5, 0.25, 0.001}, second[] = {0.5, 0.25, 0.7};
  double most = 0;
  for (double one : first)
    for (double other : second) {
      double both = 0, ones = 0, others = 0;
      for (int shared = 0; shared < 256; ++shared) {
        double up = 0, upOther = 0;
        for (int byte = 0; byte < 256; ++byte)
          up += goesUp(one, byte, shared), upOther += goesUp(other, shared, byte);
        both += up * upOther, ones += up, others += upOther;
      }
      const double count = 65536, covariance = both / count / 256 - ones / count * others / count;
      EXPECT_GE(covariance, 0);
      EXPECT_LE(covariance, 0x1p-10) << one << " " << other;
      most = std::max(most, covariance);
    }
  EXPECT_EQ(most, 0x1p-10);
}

TEST(Random, SixteenNeighboursShareAPhilox) {
  const int64_t seed = 0x123456789abcdef0, offset = -2, block = 0x500000007;
  const auto words = philox({7, 5, 0xfffffffe, 0xffffffff}, {0x9abcdef0, 0x12345678});
  for (int i = 0; i < 16; ++i) {
    const uint32_t own = words[i / 4] >> i % 4 * 8 & 0xff,
                   next = words[i / 4] >> (i + 1) % 4 * 8 & 0xff;
    EXPECT_EQ(randomBits(seed, offset, block * 16 + i, 8), own);
    EXPECT_EQ(randomBits(seed, offset, block * 16 + i, 16), own * 256 + next);
  }
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
