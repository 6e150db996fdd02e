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
Program quantizer(const std::string &numerics, const std::string &format,
                  const std::string &scale) {
  std::string type = "!eider.scaled<?x?x" + format +
                     ", dims = <tokens, hidden>, block = [1, 4], scale = " + scale +
                     ", layout = row_major>";
  return program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.quantize %x numerics<)" +
                 numerics + "> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> " + type +
                 "\n eider.output \"y\", %y : " + type);
}

std::vector<double> asDoubles(const std::vector<int> &codes) {
  return {codes.begin(), codes.end()};
}

struct Quantized {
  std::vector<int> codes;
  std::vector<double> scales;
};

Quantized quantized(const std::string &numerics, const std::vector<double> &x,
                    const std::string &format = "f8E4M3FN", const std::string &scale = "f32") {
  auto width = static_cast<int64_t>(x.size());
  auto results = interpret(quantizer(numerics, format, scale), {floats("x", f32, {1, width}, x)});
  const HostTensor &scales = named(results, "y_scale");
  if (scales.dtype == DType::e8m0)
    return {codesOf(named(results, "y")), asDoubles(codesOf(scales))};
  return {codesOf(named(results, "y")), valuesOf(scales)};
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

TEST(Quantize, PowersOfTwo) {
  // amax 7: 7 / 448 = 2^-6 exactly; 7 lies between 2^2 and 2^3, over 2^8.
  std::vector<double> x = {1, -2, 3, -7};
  EXPECT_THAT(quantized("power_of_two = rceil", x).scales, ElementsAre(0x1p-6));
  EXPECT_THAT(quantized("power_of_two = floor", x).scales, ElementsAre(0x1p-6));
  EXPECT_THAT(quantized("power_of_two = ceil", x).scales, ElementsAre(0x1p-5));
  // 7.75 is the first that rounds to 8 with four digits; with three it is 7.5.
  x[3] = 7.75;
  EXPECT_THAT(quantized("power_of_two = rceil", x).scales, ElementsAre(0x1p-5));
  EXPECT_THAT(quantized("power_of_two = floor", x).codes, ElementsAre(0x68, 0xf0, 0x74, 0x7e))
      << "saturates";
  EXPECT_THAT(quantized("power_of_two = even", x).scales, ElementsAre(0x1p-5));
  x[3] = std::nextafter(7.75f, 0.0f);
  EXPECT_THAT(quantized("power_of_two = even", x).scales, ElementsAre(0x1p-6));
  EXPECT_THAT(quantized("power_of_two = even", {7.5}, "f8E5M2").scales, ElementsAre(0x1p-12));
  EXPECT_THAT(quantized("power_of_two = even", {7.49f}, "f8E5M2").scales, ElementsAre(0x1p-13));
}

TEST(Quantize, E8m0Scales) {
  const std::string rceil = "power_of_two = rceil", fp8 = "f8E4M3FN", e8m0 = "f8E8M0FNU";
  EXPECT_THAT(quantized(rceil, {1, -2, 3, -7}, fp8, e8m0).scales, ElementsAre(127 - 6));
  EXPECT_THAT(quantized(rceil, {0, -0.0, 1e-45, 0}, fp8, e8m0).scales, ElementsAre(127));
  const std::string formula = rceil + ", zero_block = formula";
  EXPECT_THAT(quantized(formula, {0, 0, 0, 0}, fp8, e8m0).scales, ElementsAre(0));
  EXPECT_THAT(quantized(formula, {0, 0, 0, 0}, fp8, e8m0).codes, ElementsAre(0, 0, 0, 0));
  Quantized infinite = quantized(rceil, {1, -Inf, 0x1p127, 0}, fp8, e8m0);
  EXPECT_THAT(infinite.scales, ElementsAre(254));
  EXPECT_THAT(infinite.codes, ElementsAre(0, 0xfe, 0x38, 0));
  Quantized nan = quantized(rceil, {1, NaN, 3, 0}, fp8, e8m0);
  EXPECT_THAT(nan.scales, ElementsAre(255));
  for (int code : nan.codes)
    EXPECT_EQ(code & 0x7f, 0x7f);
}

TEST(Quantize, NarrowScalesQuantiseAsTheyAreStored) {
  // 1/448 is between two bf16; 1 over the nearest of them is not 448.
  Quantized q = quantized("", {1, 0, 0, 0}, "f8E4M3FN", "bf16");
  ASSERT_THAT(q.scales, ElementsAre(interpreter::roundTo(bf16, 1.0 / 448)));
  EXPECT_NE(q.scales[0], 1.0f / 448.0f);
  q = quantized("overflow = format", {1.0f, 0.9375f * 1.0f, 0, 0}, "f8E4M3FN", "bf16");
  EXPECT_EQ(q.codes[0], 0x7e);
  EXPECT_THAT(quantized("", {448 * 0x1p-136, 0, 0, 0}, "f8E4M3FN", "bf16").scales, ElementsAre(1))
      << "rounds to zero in bf16";
}

TEST(Quantize, InverseOfTheMultiplier) {
  const std::string current = "scale = inverse_of_max_over_amax, arithmetic = max_over_amax, "
                              "zero_block = one_if_not_finite";
  EXPECT_THAT(quantized(current, {3, 1, 0, 0}).scales, ElementsAre(1.0f / (448.0f / 3.0f)));
  for (double amax : {0.0, Inf, NaN})
    EXPECT_THAT(quantized(current, {1 * amax, 0, 0, 0}).scales, ElementsAre(1));
  EXPECT_THAT(quantized(current, {1, Inf, -1000, 0}).codes, ElementsAre(0x38, 0x7e, 0xfe, 0));
  EXPECT_THAT(quantized(current + ", power_of_two = rceil", {3, 1, 0, 0}).scales,
              ElementsAre(0x1p-7));
  EXPECT_THAT(quantized(current, {0x1p-140, 0, 0, 0}).scales,
              ElementsAre(1.0f / std::numeric_limits<float>::max()));
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
