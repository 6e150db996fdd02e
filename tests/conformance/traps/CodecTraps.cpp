//===- CodecTraps.cpp - What codecs of others got wrong -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/conformance/traps/Trap.h"

#include <cmath>
#include <limits>

using namespace eider;
using namespace eider::traps;

using CodecTraps = Trap;

TEST_F(CodecTraps, LargeValuesBecomeNaNByACarryOutOfTheMantissa) {
  const std::vector<float> large = {448.0001f, 463.9f, 464, 465, 479, 480, 511, 512, 1e5f, 3e38f};
  const std::vector<float> wide = {57345, 61439, 61440, 65535, 65536, 1e6f, 3e38f};
  for (const std::string &codec : codecs()) {
    for (uint8_t code : encoded("e4m3", large, codec))
      EXPECT_EQ(code, 0x7e);
    for (uint8_t code : encoded("e5m2", wide, codec))
      EXPECT_EQ(code, 0x7b);
  }
}

TEST_F(CodecTraps, TheNaNCodeIsDecodedAs480) {
  for (const std::string &codec : codecs())
    for (float value : decoded("e4m3", {0x7f, 0xff}, codec))
      EXPECT_TRUE(std::isnan(value)) << value;
}

TEST_F(CodecTraps, SubnormalCodesAreDecodedAsZero) {
  for (const std::string &codec : codecs()) {
    std::vector<float> values = decoded("e4m3", {1, 2, 3, 4, 5, 6, 7, 0x81}, codec);
    for (int i = 0; i < 7; ++i)
      EXPECT_EQ(values[i], std::ldexp(static_cast<float>(i + 1), -9));
    EXPECT_EQ(values[7], -0x1p-9f);
    EXPECT_EQ(decoded("e5m2", {1, 2, 3}, codec),
              (std::vector<float>{0x1p-16f, 0x1p-15f, 3 * 0x1p-16f}));
  }
}

TEST_F(CodecTraps, SubnormalResultsAreFlushedToZero) {
  for (const std::string &codec : codecs())
    EXPECT_EQ(encoded("e4m3", {0x1p-9f, 0x1.8p-9f, -0x1p-10f, 0x1.01p-10f, -0x1p-12f}, codec),
              (std::vector<uint8_t>{0x01, 0x02, 0x80, 0x01, 0x80}));
}

/// Just above a tie, so near that bf16 and f16 round onto it: the second rounding would go to even.
TEST_F(CodecTraps, DoubleRounding) {
  std::vector<float> above, below;
  std::vector<uint8_t> up, down;
  for (uint8_t code = 0x30; code < 0x40; code += 2) {
    float value = 0.5f * (1 + static_cast<float>(code % 8) / 8) * (code >= 0x38 ? 2 : 1);
    float tie = value * (1 + 1 / static_cast<float>(16 + 2 * (code % 8)));
    above.push_back(std::nextafter(tie, 4.0f));
    up.push_back(static_cast<uint8_t>(code + 1));
    below.push_back(std::nextafter(tie, 0.0f));
    down.push_back(code);
  }
  for (const std::string &codec : codecs()) {
    EXPECT_EQ(encoded("e4m3", above, codec), up);
    EXPECT_EQ(encoded("e4m3", below, codec), down);
  }
}
