//===- QuantizeTest.cpp - Codes and scales --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/interpreter/Support.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::testing;
using ::testing::Each;
using ::testing::ElementsAre;

namespace {
/// y = quantize(x) in blocks of 1×4.
Program quantizer(const std::string &numerics, const std::string &format = "f8E4M3FN") {
  std::string type = "!eider.scaled<?x?x" + format +
                     ", dims = <tokens, hidden>, block = [1, 4], scale = f32, layout = row_major>";
  return program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.quantize %x numerics<)" +
                 numerics + "> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> " + type +
                 "\n eider.output \"y\", %y : " + type);
}

struct Quantized {
  std::vector<int> codes;
  std::vector<double> scales;
};

Quantized quantized(const std::string &numerics, const std::vector<double> &x,
                    const std::string &format = "f8E4M3FN") {
  auto width = static_cast<int64_t>(x.size());
  auto results = interpret(quantizer(numerics, format), {floats("x", f32, {1, width}, x)});
  return {codesOf(named(results, "y")), valuesOf(named(results, "y_scale"))};
}
} // namespace

TEST(Quantize, ScaleIsAmaxOverMaxCorrectlyRounded) {
  Quantized q = quantized("", {1, -2, 3, -7, 0.1f});
  EXPECT_THAT(q.scales, ElementsAre(7.0f / 448.0f, 0.1f / 448.0f));
  EXPECT_THAT(q.codes, ElementsAre(0x68, 0xf0, 0x74, 0xfe, 0x7e));
}

TEST(Quantize, E5m2) {
  Quantized q = quantized("", {1, -2, 3, -7}, "f8E5M2");
  EXPECT_THAT(q.scales, ElementsAre(7.0f / 57344.0f));
  EXPECT_EQ(q.codes[3], 0xfb);
}

TEST(Quantize, ZeroBlocksHaveScaleOneAndSignedZeros) {
  Quantized q = quantized("", {0, -0.0, 0, 0});
  EXPECT_THAT(q.scales, ElementsAre(1));
  EXPECT_THAT(q.codes, ElementsAre(0, 0x80, 0, 0));
  q = quantized("", {1e-45, -1e-45, 0, 0});
  EXPECT_THAT(q.scales, ElementsAre(1)) << "a scale that rounds to zero";
  EXPECT_THAT(q.codes, ElementsAre(0, 0x80, 0, 0));
  q = quantized("arithmetic = max_over_amax", {1e-41, 0, 0, 0}, "f8E5M2");
  EXPECT_THAT(q.scales, ElementsAre(1));
  EXPECT_THAT(q.codes, ElementsAre(0, 0, 0, 0));
}

TEST(Quantize, ZeroBlockByFormula) {
  Quantized q = quantized("amax_floor = 1.0e-4, zero_block = formula", {0, 0, 0, 0});
  EXPECT_THAT(q.scales, ElementsAre(1e-4f / 448.0f));
  q = quantized("zero_block = formula", {0, 0, 0, 0});
  EXPECT_THAT(q.scales, ElementsAre(0));
  EXPECT_THAT(q.codes, ElementsAre(0x7f, 0x7f, 0x7f, 0x7f)) << "0/0, as asked for";
}

TEST(Quantize, InfGivesAnInfiniteScale) {
  Quantized q = quantized("", {1, -1, Inf, -Inf});
  EXPECT_THAT(q.scales, ElementsAre(Inf));
  EXPECT_EQ(q.codes[0], 0x00);
  EXPECT_EQ(q.codes[1], 0x80);
  EXPECT_EQ(q.codes[2] & 0x7f, 0x7f);
  EXPECT_EQ(q.codes[3] & 0x7f, 0x7f);
}

TEST(Quantize, NaNPropagatesOrIsIgnored) {
  Quantized q = quantized("", {1, NaN, 3, 4});
  EXPECT_TRUE(std::isnan(q.scales[0]));
  for (int code : q.codes)
    EXPECT_EQ(code & 0x7f, 0x7f);
  q = quantized("nan = ignore", {1, NaN, 3, 4});
  EXPECT_THAT(q.scales, ElementsAre(4.0f / 448.0f));
  EXPECT_THAT(q.codes, ElementsAre(0x6e, 0x7e, 0x7a, 0x7e));
}

TEST(Quantize, EachFormulaStepIsRoundedInF32) {
  std::vector<double> x = {0.3f, 0.7f, 1.1f, 1.3f};
  Quantized q = quantized("scale = amax_times_inverse_max", x);
  EXPECT_THAT(q.scales, ElementsAre(1.3f * (1.0f / 448.0f)));
  q = quantized("amax_bound = 1.0", x);
  EXPECT_THAT(q.scales, ElementsAre(1.0f / 448.0f));
  EXPECT_EQ(q.codes[3], 0x7e) << "saturates";
  q = quantized("amax_bound = 1.0, overflow = format", x);
  EXPECT_EQ(q.codes[3], 0x7f);
  q = quantized("scale_floor = 0.5", x);
  EXPECT_THAT(q.scales, ElementsAre(0.5));
  q = quantized("multiplier_bound = 1.0, arithmetic = max_over_amax", x);
  EXPECT_EQ(q.codes[2], 0x39) << "1.1 times 1";
}

TEST(Quantize, GivenScales) {
  std::string type = "!eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [*, *], scale = "
                     "f32, layout = row_major>";
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %s = eider.input "scale" : tensor<1x1xf32, #eider.dims<1, 1>>
    %y = eider.quantize %x by %s : tensor<1x1xf32, #eider.dims<1, 1>> numerics<> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> )" +
                      type + "\n eider.output \"y\", %y : " + type);
  auto results =
      interpret(p, {floats("x", f32, {2, 2}, {1, 2, 4, -1e9}), floats("scale", f32, {1, 1}, {2})});
  EXPECT_EQ(results.size(), 1u) << "no y_scale where the scales are given";
  EXPECT_THAT(codesOf(results[0]), ElementsAre(0x30, 0x38, 0x40, 0xfe));
}

TEST(Dequantize, MultipliesCodesWithTheirScales) {
  std::string type = "!eider.scaled<?x?xf8E5M2, dims = <tokens, hidden>, block = [1, 2], scale = "
                     "f32, layout = row_major>";
  Program p = program("%x = eider.input \"x\" : " + type + "\n%y = eider.dequantize %x : " + type +
                      R"( -> tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  HostTensor scales = floats("x_scale", f32, {1, 2}, {2, 0.5});
  auto results = interpret(p, {codes("x", e5m2, {1, 3}, {0x3c, 0xfc, 0x40}), scales});
  EXPECT_THAT(valuesOf(results[0]), ElementsAre(2, -Inf, 1));
  EXPECT_EQ(messageOf([&] {
              interpret(p, {codes("x", e5m2, {1, 3}, {0, 0, 0})});
            }),
            "p: input 'x_scale' is missing; give it as f32 [tokens, hidden / 2]");
}
