//===- CodecTraps.cpp - What codecs of others got wrong -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/conformance/traps/Trap.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace eider;
using namespace eider::traps;

TEST(CodecTraps, LargeValuesBecomeNaNByACarryOutOfTheMantissa) {
  const std::vector<float> large = {448.0001f, 463.9f, 464, 465, 479, 480, 511, 512, 1e5f, 3e38f};
  const std::vector<float> wide = {57345, 61439, 61440, 65535, 65536, 1e6f, 3e38f};
  for (const std::string &codec : codecs()) {
    for (uint8_t code : encoded("e4m3", large, codec))
      EXPECT_EQ(code, 0x7e);
    for (uint8_t code : encoded("e5m2", wide, codec))
      EXPECT_EQ(code, 0x7b);
  }
}

TEST(CodecTraps, TheNaNCodeIsDecodedAs480) {
  for (const std::string &codec : codecs())
    for (float value : decoded("e4m3", {0x7f, 0xff}, codec))
      EXPECT_TRUE(std::isnan(value)) << value;
}

TEST(CodecTraps, SubnormalCodesAreDecodedAsZero) {
  for (const std::string &codec : codecs()) {
    std::vector<float> values = decoded("e4m3", {1, 2, 3, 4, 5, 6, 7, 0x81}, codec);
    for (int i = 0; i < 7; ++i)
      EXPECT_EQ(values[i], std::ldexp(static_cast<float>(i + 1), -9));
    EXPECT_EQ(values[7], -0x1p-9f);
    EXPECT_EQ(decoded("e5m2", {1, 2, 3}, codec),
              (std::vector<float>{0x1p-16f, 0x1p-15f, 3 * 0x1p-16f}));
  }
}

TEST(CodecTraps, SubnormalResultsAreFlushedToZero) {
  for (const std::string &codec : codecs())
    EXPECT_EQ(encoded("e4m3", {0x1p-9f, 0x1.8p-9f, -0x1p-10f, 0x1.01p-10f, -0x1p-12f}, codec),
              (std::vector<uint8_t>{0x01, 0x02, 0x80, 0x01, 0x80}));
}

/// Just above a tie, so near that bf16 and f16 round onto it: the second rounding would go to even.
TEST(CodecTraps, DoubleRounding) {
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

/// Of the same values by OCP's codes and by FNUZ's: those of one bias more, so that codes stay what
/// they are while scales are doubled or halved; but for -0, which FNUZ lacks, and NaN, and FNUZ's
/// largest, for which OCP's E4M3 has no code.
TEST(CodecTraps, FnuzIsImportedAndExportedCodeForCode) {
  std::vector<uint8_t> all(256);
  std::iota(all.begin(), all.end(), 0);
  auto converted = [&](const std::string &from, const std::string &to, DType type, float scale,
                       float scaleThen) {
    OpParameters given = parameters(to, "*x*");
    given.dtype.clear();
    given.fromFormat = from;
    given.fromBlock = "*x*";
    given.scaleSource = "static";
    return codesOf(run("requantize", given,
                       {codes("x", type, {1, 256}, all), floats("x_scale", {1, 1}, {scale}),
                        floats("scale", {1, 1}, {scaleThen})}),
                   "y");
  };
  for (const float scale : {1.0f, 0.0123f, 7e9f})
    for (const bool isE4m3 : {true, false}) {
      const std::string ocp = isE4m3 ? "e4m3" : "e5m2", fnuz = ocp + "fnuz";
      const int nan = isE4m3 ? 0x7f : 0x7d, infinity = isE4m3 ? 0x80 : 0x7c;
      const std::vector<uint8_t> in = converted(ocp, fnuz, isE4m3 ? e4m3 : e5m2, scale, scale * 2);
      const std::vector<uint8_t> out =
          converted(fnuz, ocp, isE4m3 ? DType::e4m3fnuz : DType::e5m2fnuz, scale, scale / 2);
      for (int code = 0; code < 256; ++code) {
        const int magnitude = code & 0x7f;
        SCOPED_TRACE(ocp + " " + std::to_string(code) + " of scale " + std::to_string(scale));
        if (magnitude >= nan)
          EXPECT_EQ(in[code], 0x80) << "NaN";
        else if (magnitude == infinity)
          EXPECT_EQ(in[code], (code & 0x80) | 0x7f) << "saturates";
        else
          EXPECT_EQ(in[code], code == 0x80 ? 0 : code);
        if (code == 0x80)
          EXPECT_GE(out[code] & 0x7f, nan) << "NaN";
        else if (magnitude >= infinity || magnitude == 0x7f)
          EXPECT_EQ(out[code], (code & 0x80) | (isE4m3 ? 0x7e : 0x7b)) << "saturates";
        else
          EXPECT_EQ(out[code], code);
      }
    }
}
