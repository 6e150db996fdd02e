//===- CompareTest.cpp - What counts as right -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/interpreter/Support.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::testing;
using ::testing::HasSubstr;

namespace {
/// y = op(x) over [tokens, hidden] f32.
Program map(const std::string &op) {
  return program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = )" + op +
                 R"( : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
}

Comparison judged(const Program &p, const std::vector<double> &x, const std::vector<double> &y) {
  auto width = static_cast<int64_t>(x.size());
  return compare(p, {floats("x", f32, {1, width}, x)}, {floats("y", f32, {1, width}, y)}).at(0);
}

const char *ScaledCodes = "!eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [1, 4], "
                          "scale = f32, layout = row_major>";

/// y = quantize(x), or quantize(exp(x)).
Program quantizer(bool approximate) {
  return program(std::string(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %e = math.exp %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.quantize )") +
                 (approximate ? "%e" : "%x") +
                 " numerics<> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> " + ScaledCodes +
                 "\n eider.output \"y\", %y : " + ScaledCodes);
}

std::vector<Comparison> judgedCodes(const Program &p, const std::vector<double> &x,
                                    const std::vector<int> &y, double scale) {
  return compare(p, {floats("x", f32, {1, 4}, x)},
                 {codes("y", e4m3, {1, 4}, y), floats("y_scale", f32, {1, 1}, {scale})});
}
} // namespace

TEST(Compare, ExactResultsMustBeBitEqual) {
  Program p = map("arith.addf %x, %x");
  Comparison right = judged(p, {1, 0, NaN}, {2, 0, -NaN});
  EXPECT_TRUE(right.exact);
  EXPECT_EQ(right.elements, 3);
  EXPECT_EQ(right.wrong, 0);
  EXPECT_EQ(right.different, 0) << "any NaN is a NaN";
  EXPECT_EQ(right.leastBound, 0);
  Comparison wrong = judged(p, {1, 1}, {2, std::nextafter(2.0f, 3.0f)});
  EXPECT_EQ(wrong.wrong, 1);
  EXPECT_EQ(wrong.different, 1);
  EXPECT_FLOAT_EQ(wrong.largestError, 0x1p-23);
  EXPECT_EQ(wrong.firstWrong, "y[0, 1]: 2.00000024 (0x40000001), reference 2 (0x40000000)");
  EXPECT_EQ(judged(p, {0}, {-0.0}).wrong, 1) << "the sign of a zero is a bit";
}

TEST(Compare, ApproximateResultsLieWithinTheirUlps) {
  Program p = map("math.exp %x");
  auto reference = static_cast<float>(std::exp(1.0));
  float near = reference, far = reference;
  for (int i = 0; i < 2; ++i)
    near = std::nextafter(near, 10.0f);
  for (int i = 0; i < 4; ++i)
    far = std::nextafter(far, 10.0f);
  Comparison right = judged(p, {1}, {near});
  EXPECT_FALSE(right.exact);
  EXPECT_EQ(right.different, 1);
  EXPECT_EQ(right.wrong, 0);
  EXPECT_GE(right.leastBound, near - reference);
  EXPECT_LT(right.leastBound, far - reference);
  EXPECT_LT(judged(p, {1, -5}, {near, 0}).leastBound, right.leastBound);
  EXPECT_EQ(judged(p, {1, -5}, {near, 0}).mostBound, right.mostBound);
  EXPECT_GE(right.mostBound, right.leastBound);
  Comparison wrong = judged(p, {1}, {far});
  EXPECT_EQ(wrong.wrong, 1);
  EXPECT_THAT(wrong.firstWrong, HasSubstr(" within ["));
  EXPECT_EQ(judged(p, {1000, -1000, Inf, -Inf}, {Inf, 0, Inf, 0}).wrong, 0);
  EXPECT_EQ(judged(p, {Inf}, {1e38}).wrong, 1);
  EXPECT_EQ(judged(p, {1}, {NaN}).wrong, 1);
  EXPECT_EQ(judged(p, {NaN}, {1}).wrong, 1);
}

TEST(Compare, ASubnormalSigmoidMayBeZero) {
  Program p = map("eider.sigmoid %x");
  EXPECT_EQ(judged(p, {-90}, {8.194013e-40}).wrong, 0);
  EXPECT_EQ(judged(p, {-90}, {0}).wrong, 0);
  EXPECT_EQ(judged(p, {-90}, {1e-37}).wrong, 1);
  EXPECT_EQ(judged(p, {-80}, {0}).wrong, 1);
}

TEST(Compare, GeluTurnsAndVanishes) {
  Program p = map("eider.gelu %x");
  EXPECT_EQ(judged(p, {0, 1, -1, Inf, -Inf}, {0, 0.841344746, -0.158655254, Inf, -0.0}).wrong, 0);
  EXPECT_EQ(judged(p, {-12}, {0}).wrong, 1);
  EXPECT_EQ(judged(p, {-13}, {-0.0}).wrong, 0);
  EXPECT_EQ(judged(p, {1}, {0.8415}).wrong, 1);
  // About -0.75, within 0.06: gelu is least between the ends.
  Program around = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %e = math.exp %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %d = arith.subf %e, %e : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %c = arith.constant -0.75 : f32
    %b = eider.broadcast %c : f32 to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %s = arith.addf %d, %b : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.gelu %s : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  EXPECT_EQ(judged(around, {12}, {-0.16996}).wrong, 0);
  EXPECT_EQ(judged(around, {12}, {-0.1701}).wrong, 1);
}

TEST(Compare, ErrorsPropagate) {
  // exp(x) − e is all error: its size is that of exp's, not of the result's.
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %e = math.exp %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %c = arith.constant 2.71828175 : f32
    %b = eider.broadcast %c : f32 to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = arith.subf %e, %b : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  EXPECT_EQ(judged(p, {1}, {4.5e-7}).wrong, 0);
  EXPECT_EQ(judged(p, {1}, {1e-5}).wrong, 1);
}

TEST(Compare, SummedProductsMayBeUnrounded) {
  auto wrong = [](const std::string &factor, const std::vector<double> &x, double y) {
    Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %n = arith.negf %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %p = arith.mulf %x, %)" +
                        factor + R"( : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.reduce sum %p over [1, *] : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    eider.output "y", %y : tensor<?x1xf32, #eider.dims<tokens, 1>>)");
    return compare(p, {floats("x", f32, {1, static_cast<int64_t>(x.size())}, x)},
                   {floats("y", f32, {1, 1}, {y})})
        .at(0)
        .wrong;
  };
  EXPECT_EQ(wrong("n", {0x1p64, 1}, -1e30), 0) << "what is beyond the largest may come back";
  EXPECT_EQ(wrong("n", {0x1p60, 1}, -1e30), 1);
  EXPECT_EQ(wrong("n", {Inf, 1}, -1e30), 1) << "an infinite factor does not";
  EXPECT_EQ(wrong("x", {0x1p64, 1}, 1e30), 1) << "squares have one sign";
}

/// Also those of codes and scales, of rows that are chosen, too.
TEST(Compare, SummedValuesOfCodesMayBeUnrounded) {
  auto wrong = [](bool isChosen, double scale, double y) {
    const std::string type = "tensor<?x?xf32, #eider.dims<tokens, hidden>>";
    const std::string gather =
        "%g = eider.gather %x by %i : " + type + ", tensor<?xi64, #eider.dims<tokens>> -> " + type;
    Program p = program(R"(
    %s = eider.input "x" : !eider.scaled<?x?xf8E5M2, dims = <tokens, hidden>, block = [1, *], scale = f32, layout = row_major>
    %i = eider.input "i" : tensor<?xi64, #eider.dims<tokens>>
    %x = eider.dequantize %s : !eider.scaled<?x?xf8E5M2, dims = <tokens, hidden>, block = [1, *], scale = f32, layout = row_major> -> )" +
                        type + "\n" + (isChosen ? gather : "") + R"(
    %y = eider.reduce sum )" +
                        (isChosen ? "%g" : "%x") + " over [1, *] : " + type +
                        R"( -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    eider.output "y", %y : tensor<?x1xf32, #eider.dims<tokens, 1>>)");
    const HostTensor codes = {"x", e5m2, {1, 2}, {std::byte{0x7b}, std::byte{0xfb}}};
    const HostTensor index = {"i", i64, {1}, std::vector<std::byte>(8)};
    return compare(p, {codes, floats("x_scale", f32, {1, 1}, {scale}), index},
                   {floats("y", f32, {1, 1}, {y})})
        .at(0)
        .wrong;
  };
  for (const bool isChosen : {false, true}) {
    EXPECT_EQ(wrong(isChosen, 1e38, Inf), 0) << "an infinity less what is beyond the largest";
    EXPECT_EQ(wrong(isChosen, 1, Inf), 1);
    EXPECT_EQ(wrong(isChosen, 1, 0), 0);
    EXPECT_EQ(wrong(isChosen, Inf, Inf), 1) << "an infinite scale makes a NaN";
  }
}

TEST(Compare, SumsLieWithinTheBoundOfTheirDepth) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.reduce sum %x over [1, *] : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    eider.output "y", %y : tensor<?x1xf32, #eider.dims<tokens, 1>>)");
  auto wrong = [&](const std::vector<double> &x, double y) {
    return compare(p, {floats("x", f32, {1, static_cast<int64_t>(x.size())}, x)},
                   {floats("y", f32, {1, 1}, {y})})
        .at(0)
        .wrong;
  };
  std::vector<double> ones(1024, 1);
  EXPECT_EQ(wrong(ones, 1024 * (1 + 12 * 0x1p-24)), 0);
  EXPECT_EQ(wrong(ones, 1024 * (1 + 20 * 0x1p-24)), 1);
  EXPECT_EQ(wrong({1, 2}, 3), 0);
  EXPECT_EQ(wrong({1, 2}, 3.000002), 1);
  EXPECT_EQ(wrong({1e30, -1e30, 1}, 0), 0) << "cancellation: the bound is of the magnitudes";
  EXPECT_EQ(wrong({Inf, 1}, Inf), 0);
  EXPECT_EQ(wrong({Inf, 1}, 1), 1);
  EXPECT_EQ(wrong({Inf, -Inf}, NaN), 0);
  EXPECT_EQ(wrong({Inf, -Inf}, 0), 1);
  EXPECT_EQ(wrong({3e38, 3e38}, Inf), 0);
  EXPECT_EQ(wrong({3e38, 3e38}, 3e38), 1);
}

TEST(Compare, ExactCodes) {
  Program p = quantizer(false);
  auto right = judgedCodes(p, {1, 2, 3, 4.48}, {0x6c, 0x74, 0x79, 0x7e}, 4.48f / 448.0f);
  EXPECT_TRUE(right[0].exact && right[1].exact);
  EXPECT_EQ(right[0].name, "y_scale");
  EXPECT_EQ(right[0].wrong + right[1].wrong, 0) << right[1].firstWrong;
  auto wrong = judgedCodes(p, {1, 2, 3, 4.48}, {0x6c, 0x74, 0x7a, 0x7e}, 4.48f / 448.0f);
  EXPECT_EQ(wrong[1].wrong, 1);
  EXPECT_EQ(wrong[1].firstWrong,
            "y[0, 2]: 0x7a, reference 0x79 (encodes 300, scale 0.00999999978)");
}

TEST(Compare, CodesAreJudgedByTheScaleThatCameWithThem) {
  // Twice the scale: the scale is wrong, the codes are right for it.
  auto judged = judgedCodes(quantizer(false), {1, 2, 4, 448}, {0x30, 0x38, 0x40, 0x76}, 2);
  EXPECT_EQ(judged[0].wrong, 1);
  EXPECT_EQ(judged[1].wrong, 0);
  EXPECT_EQ(judged[1].different, 4);
}

TEST(Compare, InexactCodesMayDifferOnlyNearATie) {
  Program p = quantizer(true);
  double top = std::log(448.0), tie = std::log(17.0), clear = std::log(16.5);
  std::vector<double> x = {tie, clear, 0, top};
  double scale = static_cast<double>(
                     static_cast<float>(std::exp(static_cast<double>(static_cast<float>(top))))) /
                 448;
  for (int code : {0x58, 0x59}) {
    auto judged = judgedCodes(p, x, {code, 0x58, 0x38, 0x7e}, scale);
    EXPECT_FALSE(judged[1].exact);
    EXPECT_EQ(judged[1].wrong, 0) << judged[1].firstWrong;
  }
  EXPECT_EQ(judgedCodes(p, x, {0x58, 0x59, 0x38, 0x7e}, scale)[1].wrong, 1);
}

/// A sum that has cancelled may be anything in between, whatever the codes of its bounds are.
TEST(Compare, CodesWithinARangeWhoseEndsOverflow) {
  for (auto [name, format] :
       {std::pair("f8E4M3FN", e4m3), std::pair("f8E5M2", e5m2),
        std::pair("f8E4M3FNUZ", DType::e4m3fnuz), std::pair("f8E5M2FNUZ", DType::e5m2fnuz)}) {
    const std::string type = std::string("tensor<?x1x") + name + ", #eider.dims<tokens, 1>>";
    Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %s = eider.reduce sum %x over [1, *] : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    %y = eider.encode %s {overflow_to_format} : tensor<?x1xf32, #eider.dims<tokens, 1>> -> )" +
                        type + "\n eider.output \"y\", %y : " + type);
    for (int code : {0x00, 0x38, 0xb8}) {
      auto judged = compare(p, {floats("x", f32, {1, 2}, {1e30, -1e30})},
                            {codes("y", format, {1, 1}, {code})});
      EXPECT_EQ(judged[0].wrong, 0) << name << ": " << judged[0].firstWrong;
    }
  }
}

TEST(Compare, ScalesOfApproximateValuesStayWithinSixteenUlp) {
  Program p = quantizer(true);
  std::vector<double> x = {0, 0, 0, 0};
  auto scale = 1.0f / 448.0f, far = scale;
  for (int i = 0; i < 20; ++i)
    far = std::nextafter(far, 1.0f);
  EXPECT_EQ(judgedCodes(p, x, {0x7e, 0x7e, 0x7e, 0x7e}, scale)[0].wrong, 0);
  EXPECT_EQ(judgedCodes(p, x, {0x7e, 0x7e, 0x7e, 0x7e}, far)[0].wrong, 1);
}

/// exp(1) − 2.718: the 2 ulp of exp are some thousand of what is left.
TEST(Compare, ScalesOfWhatHasCancelledStayWithinTheirRange) {
  Program p = program(std::string(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %e = math.exp %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %number = arith.constant 2.718 : f32
    %near = eider.broadcast %number : f32 to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %rest = arith.subf %e, %near : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = eider.quantize %rest numerics<> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> )") +
                      ScaledCodes + "\n eider.output \"y\", %y : " + ScaledCodes);
  const float scale = (static_cast<float>(std::exp(1.0)) - 2.718f) / 448;
  auto wrongScales = [&](double result) {
    return judgedCodes(p, {1, 1, 1, 1}, {0x7e, 0x7e, 0x7e, 0x7e}, result)[0].wrong;
  };
  EXPECT_EQ(wrongScales(scale), 0);
  EXPECT_EQ(wrongScales(scale + 100 * (std::nextafter(scale, 1.0f) - scale)), 0);
  EXPECT_EQ(wrongScales(scale * 1.01f), 1);
}

TEST(Compare, NaNCodesKeepAKnownSign) {
  Program p = quantizer(false);
  std::vector<double> x = {-NaN, NaN, 1, 2};
  EXPECT_EQ(judgedCodes(p, x, {0xff, 0x7f, 0x7f, 0xff}, NaN)[1].wrong, 0)
      << "1 / NaN and 2 / NaN may have either sign";
  EXPECT_EQ(judgedCodes(p, x, {0x7f, 0x7f, 0x7f, 0x7f}, NaN)[1].wrong, std::signbit(-NaN) ? 1 : 0);
  EXPECT_EQ(judgedCodes(p, x, {0xff, 0x7f, 0x00, 0x7f}, NaN)[1].wrong, 1);
}

TEST(Compare, OutputsAreChecked) {
  Program p = map("arith.addf %x, %x");
  HostTensor x = floats("x", f32, {1, 2}, {1, 2});
  EXPECT_EQ(messageOf([&] { compare(p, {x}, {}); }),
            "p: output 'y' is missing; give it as f32 [1, 2]");
  EXPECT_THAT(messageOf([&] {
                compare(p, {x}, {floats("y", f32, {2}, {1, 2})});
              }),
              HasSubstr("tensor 'y' is f32 [2], expected f32 [1, 2]"));
}
