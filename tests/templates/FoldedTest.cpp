//===- FoldedTest.cpp - Codes of four bits times narrow scales ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/contraction/folded.cuh"
#include "eider/formats/e2m1.cuh"

#include <gtest/gtest.h>

#include <cmath>

using namespace eider;

namespace {

constexpr double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
double valueOf(uint32 nibble) { return (nibble & 8 ? -1 : 1) * magnitudes[nibble & 7]; }

double valueOf(e8m0 scale) { return scale.bits == 0xff ? NAN : std::ldexp(1.0, scale.bits - 127); }
double valueOf(e4m3 scale) {
  const int exponent = scale.bits >> 3 & 0xf, digits = scale.bits & 7;
  if ((scale.bits & 0x7f) == 0x7f)
    return NAN;
  const double magnitude =
      exponent ? std::ldexp(8 + digits, exponent - 10) : std::ldexp(digits, -9);
  return scale.bits & 0x80 ? -magnitude : magnitude;
}

/// Every code times every scale, beside each other scale that may change how it is met.
template <class S> void expectExact() {
  for (uint32 code = 0; code < 256; ++code)
    for (uint32 other : {0x00u, 0x38u, 0x7fu, 0x80u, 0xfeu, 0xffu}) {
      const S scales[] = {S{static_cast<unsigned char>(code)},
                          S{static_cast<unsigned char>(other)}};
      Fragment<S, 2> both{};
      for (int i = 0; i < 2; ++i)
        both.fill(i, scales[i]);
      const Fragment<e2m1, 16> codes = {{0x76543210u, 0xfedcba98u}};
      const ScaleFactors<e2m1, S, 2> factors(both);
      uint32 pairs[8];
      const auto scaleOf = [](int i) { return i / 2 % 2; };
      folded_pairs(codes, factors, scaleOf, pairs);
      for (int i = 0; i < 16; ++i) {
        const uint32 half = pairs[i / 8 * 4 + i % 4] >> (i % 8 / 4 * 16) & 0xffffu;
        const double met = std::ldexp(double{arch::as_float(half << 16)}, factors.lowered),
                     expected = valueOf(static_cast<uint32>(i)) * valueOf(scales[scaleOf(i)]);
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(met)) << code << ' ' << other << ' ' << i;
        else
          EXPECT_EQ(met, expected) << code << ' ' << other << ' ' << i;
      }
    }
}

} // namespace

TEST(Folded, CodesTimesE8m0AreExact) { expectExact<e8m0>(); }
TEST(Folded, CodesTimesE4m3AreExact) { expectExact<e4m3>(); }

/// Elements meet those codes that stand where they do.
TEST(Folded, ElementsStandWhereCodesDo) {
  Fragment<bf16, 16> halves{};
  Fragment<float, 16> floats{};
  for (int i = 0; i < 16; ++i) {
    halves.fill(i, bf16{static_cast<unsigned short>(i)});
    floats.fill(i, static_cast<float>(i));
  }
  const auto partedHalves = parted(halves);
  const auto partedFloats = parted(floats);
  for (int i = 0; i < 16; ++i) {
    const int element = i / 8 * 8 + i % 8 / 2 + i % 2 * 4;
    EXPECT_EQ(partedHalves[i].bits, element);
    EXPECT_EQ(partedFloats[i], static_cast<float>(element));
  }
}
