//===- ProgramTest.cpp - Programs, op by op -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/interpreter/Support.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {
/// A program y = body(x, z), all [tokens, hidden] f32; `body` ends with a value %y.
Program map(const std::string &body) {
  return program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %z = eider.input "z" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    )" + body + R"(
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
}

std::vector<double> evaluate(const Program &p, const std::vector<double> &x,
                             const std::vector<double> &z) {
  auto width = static_cast<int64_t>(x.size());
  return valuesOf(
      named(interpret(p, {floats("x", f32, {1, width}, x), floats("z", f32, {1, width}, z)}), "y"));
}

std::vector<double> evaluate(const std::string &op, const std::vector<double> &x,
                             const std::vector<double> &z) {
  return evaluate(map("%y = " + op + " %x, %z : tensor<?x?xf32, #eider.dims<tokens, hidden>>"), x,
                  z);
}

std::vector<double> evaluate(const std::string &op, const std::vector<double> &x) {
  return evaluate(map("%y = " + op + " %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>"), x, x);
}
} // namespace

TEST(Elementwise, IsCorrectlyRounded) {
  EXPECT_THAT(evaluate("arith.addf", {1, 16777216}, {0x1p-24, 1}), ElementsAre(1, 16777216));
  EXPECT_THAT(evaluate("arith.divf", {1, 0, -1}, {3, 5, 0}), ElementsAre(1.0f / 3.0f, 0, -Inf));
  EXPECT_THAT(evaluate("arith.mulf", {1.1f}, {1.1f}), ElementsAre(1.1f * 1.1f));
  EXPECT_THAT(evaluate("arith.subf", {1, 3e38}, {4, -3e38}), ElementsAre(-3, Inf));
}

TEST(Elementwise, MaximumPropagatesNaNAndMaxnumDoesNot) {
  EXPECT_TRUE(std::isnan(evaluate("arith.maximumf", {NaN}, {1})[0]));
  EXPECT_TRUE(std::isnan(evaluate("arith.minimumf", {1}, {NaN})[0]));
  EXPECT_THAT(evaluate("arith.maxnumf", {NaN, 2}, {1, 3}), ElementsAre(1, 3));
  EXPECT_THAT(evaluate("arith.minnumf", {NaN, 2}, {1, 3}), ElementsAre(1, 2));
  EXPECT_FALSE(std::signbit(evaluate("arith.maximumf", {-0.0}, {0.0})[0]));
  EXPECT_TRUE(std::signbit(evaluate("arith.minimumf", {0.0}, {-0.0})[0]));
}

TEST(Elementwise, Functions) {
  EXPECT_THAT(evaluate("math.exp", {0, 1000, -1000}), ElementsAre(1, Inf, 0));
  EXPECT_FLOAT_EQ(evaluate("math.log", {10})[0], 2.302585);
  EXPECT_FLOAT_EQ(evaluate("math.log2", {10})[0], 3.3219281);
  EXPECT_THAT(evaluate("math.exp2", {10, -149}), ElementsAre(1024, 0x1p-149));
  EXPECT_THAT(evaluate("math.sqrt", {2, 9}), ElementsAre(std::sqrt(2.0f), 3));
  EXPECT_THAT(evaluate("math.rsqrt", {4, 0}), ElementsAre(0.5, Inf));
  EXPECT_FLOAT_EQ(evaluate("math.tanh", {0.5})[0], 0.46211716);
  EXPECT_FLOAT_EQ(evaluate("math.erf", {0.5})[0], 0.5204999);
  EXPECT_THAT(evaluate("eider.sigmoid", {0, -1000}), ElementsAre(0.5, 0));
  EXPECT_THAT(evaluate("math.absf", {-2, 3}), ElementsAre(2, 3));
  EXPECT_THAT(evaluate("arith.negf", {-2, 3}), ElementsAre(2, -3));
}

TEST(Elementwise, FusedMultiplyAddRoundsOnce) {
  Program p = map("%y = math.fma %x, %x, %z : tensor<?x?xf32, #eider.dims<tokens, hidden>>");
  // (1 + 2^-12)² = 1 + 2^-11 + 2^-24: the last part survives only without a rounding of the
  // product.
  EXPECT_THAT(evaluate(p, {1 + 0x1p-12}, {-1 - 0x1p-11}), ElementsAre(0x1p-24));
}

TEST(Elementwise, CompareAndSelect) {
  Program p = map(R"(
    %c = arith.cmpf ogt, %x, %z : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = arith.select %c, %x, %z : tensor<?x?xi1, #eider.dims<tokens, hidden>>, tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  EXPECT_THAT(evaluate(p, {1, 5, NaN}, {2, 3, 7}), ElementsAre(2, 5, 7));
}

TEST(Elementwise, CastsRoundOnce) {
  Program p = map(R"(
    %n = arith.truncf %x : tensor<?x?xf32, #eider.dims<tokens, hidden>> to tensor<?x?xbf16, #eider.dims<tokens, hidden>>
    %y = arith.extf %n : tensor<?x?xbf16, #eider.dims<tokens, hidden>> to tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  EXPECT_THAT(evaluate(p, {1.00390625, 1.01171875, 3.4e38}, {0, 0, 0}),
              ElementsAre(1, 1.015625, Inf));
}

/// Of f16 by an instruction that does not keep it.
TEST(Elementwise, WideningKeepsTheSignOfANaNOfBf16Alone) {
  for (const auto &[name, type] : {std::pair{"bf16", bf16}, {"f16", f16}}) {
    const std::string of = std::string("tensor<?x?x") + name + ", #eider.dims<tokens, hidden>>";
    const Program p = program(R"(
      %x = eider.input "x" : )" +
                              of + R"(
      %y = arith.extf %x : )" +
                              of + R"( to tensor<?x?xf32, #eider.dims<tokens, hidden>>
      eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
    const auto y = valuesOf(named(interpret(p, {floats("x", type, {1, 2}, {-NaN, -2})}), "y"));
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(std::signbit(y[0]), type == bf16) << name;
    EXPECT_EQ(y[1], -2);
  }
}

TEST(Elementwise, ScalarsHaveDefaults) {
  Program p = map(R"(
    %s = eider.scalar "s" = 2.0
    %b = eider.broadcast %s : f32 to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = arith.mulf %x, %b : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  std::vector<HostTensor> inputs = {floats("x", f32, {1, 1}, {3}), floats("z", f32, {1, 1}, {0})};
  EXPECT_THAT(valuesOf(interpret(p, inputs)[0]), ElementsAre(6));
  EXPECT_THAT(valuesOf(interpret(p, inputs, {{"s", 0.5}})[0]), ElementsAre(1.5));
  EXPECT_EQ(messageOf([&] {
              interpret(p, inputs, {{"t", 1}});
            }),
            "p: there is no scalar 't'; set only scalars of the program");
}

TEST(Shapes, ReduceOverBlocksWithAPartialOne) {
  auto reduced = [](const std::string &kind, const std::vector<double> &x) {
    Program p = program(
        R"(
      %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
      %y = eider.reduce )" +
        kind +
        R"( %x over [1, 2] : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> tensor<?x?xf32, #eider.dims<tokens, hidden / 2>>
      eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden / 2>>)");
    HostTensor y = interpret(p, {floats("x", f32, {2, 3}, x)})[0];
    EXPECT_THAT(y.shape, ElementsAre(2, 2));
    return valuesOf(y);
  };
  EXPECT_THAT(reduced("sum", {1, 2, 3, 4, 5, 6}), ElementsAre(3, 3, 9, 6));
  EXPECT_THAT(reduced("mean", {1, 2, 3, 4, 5, 6}), ElementsAre(1.5, 3, 4.5, 6));
  EXPECT_THAT(reduced("max", {1, -2, -3, 4, 5, 6}), ElementsAre(1, -3, 5, 6));
  EXPECT_THAT(reduced("min", {1, -2, -3, 4, 5, 6}), ElementsAre(-2, -3, 4, 6));
  EXPECT_THAT(reduced("amax", {1, -2, -3, 4, 5, 6}), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(reduced("amax_number", {NaN, -2, NaN, 4, 5, 6}), ElementsAre(2, 0, 5, 6));
  EXPECT_TRUE(std::isnan(reduced("amax", {NaN, -2, -3, 4, 5, 6})[0]));
  EXPECT_TRUE(std::isnan(reduced("max", {1, NaN, -3, 4, 5, 6})[0]));
}

TEST(Shapes, BroadcastsAlignAtTheEnd) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %w = eider.input "w" : tensor<?xf32, #eider.dims<hidden>>
    %s = eider.reduce max %x over [2, 2] : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> tensor<?x?xf32, #eider.dims<tokens / 2, hidden / 2>>
    %a = eider.broadcast %s : tensor<?x?xf32, #eider.dims<tokens / 2, hidden / 2>> to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %b = eider.broadcast %w : tensor<?xf32, #eider.dims<hidden>> to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = arith.addf %a, %b : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  HostTensor y =
      interpret(p, {floats("x", f32, {3, 3}, x), floats("w", f32, {3}, {10, 20, 30})})[0];
  EXPECT_THAT(valuesOf(y), ElementsAre(15, 25, 36, 15, 25, 36, 18, 28, 39));
}

TEST(Shapes, HalvesOfTheLastAxis) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf16, #eider.dims<tokens, 2 * hidden>>
    %a = eider.half second %x : tensor<?x?xf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x?xf16, #eider.dims<tokens, hidden>>
    eider.output "y", %a : tensor<?x?xf16, #eider.dims<tokens, hidden>>)");
  HostTensor y = interpret(p, {floats("x", f16, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})})[0];
  EXPECT_THAT(y.shape, ElementsAre(2, 2));
  EXPECT_THAT(valuesOf(y), ElementsAre(3, 4, 7, 8));
}

TEST(Results, InOutsGiveTheNewValue) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %r = eider.inout "r" : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %h = arith.addf %x, %r : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.store "r", %h : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    %y = arith.addf %x, %r : tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  auto results = interpret(p, {floats("x", f32, {1, 1}, {1}), floats("r", f32, {1, 1}, {2})});
  EXPECT_THAT(valuesOf(named(results, "r")), ElementsAre(3));
  EXPECT_THAT(valuesOf(named(results, "y")), ElementsAre(3)) << "the old value is one SSA value";
}

TEST(Results, NoRowsGiveEmptyResults) {
  Program p = map("%y = arith.addf %x, %z : tensor<?x?xf32, #eider.dims<tokens, hidden>>");
  HostTensor y = interpret(p, {floats("x", f32, {0, 4}, {}), floats("z", f32, {0, 4}, {})})[0];
  EXPECT_THAT(y.shape, ElementsAre(0, 4));
  EXPECT_TRUE(y.data.empty());
}

TEST(Errors, NameTensorAndExpectation) {
  Program p = map("%y = arith.addf %x, %z : tensor<?x?xf32, #eider.dims<tokens, hidden>>");
  HostTensor x = floats("x", f32, {1, 2}, {1, 2});
  EXPECT_EQ(messageOf([&] { interpret(p, {x}); }),
            "p: input 'z' is missing; give it as f32 [tokens, hidden]");
  EXPECT_THAT(messageOf([&] {
                interpret(p, {x, floats("z", bf16, {1, 2}, {1, 2})});
              }),
              HasSubstr("tensor 'z' is bf16 [1, 2], expected f32 [tokens, hidden]"));
  EXPECT_THAT(messageOf([&] {
                interpret(p, {x, floats("z", f32, {2}, {1, 2})});
              }),
              HasSubstr("tensor 'z' is f32 [2], expected f32 [tokens, hidden]"));
  EXPECT_THAT(messageOf([&] {
                interpret(p, {x, floats("z", f32, {1, 3}, {1, 2, 3})});
              }),
              HasSubstr("dim 'hidden' is 3 in tensor 'z' but 2 in 'x'"));
  EXPECT_THAT(messageOf([&] {
                interpret(p, {x, floats("z", f32, {1, 2}, {1})});
              }),
              HasSubstr("tensor 'z', f32 [1, 2], has 4 bytes, not 8"));
  EXPECT_THAT(messageOf([&] { interpret(p, {x, x}); }), HasSubstr("tensor 'x' is given twice"));
  EXPECT_THAT(messageOf([&] {
                interpret(p, {x, floats("z", f32, {int64_t(1) << 40, int64_t(1) << 40}, {})});
              }),
              HasSubstr("tensor 'z', f32 [1099511627776, 1099511627776], is no shape of memory"));
  EXPECT_THAT(messageOf([&] {
                interpret(p, {x, floats("z", f32, {-1, 2}, {})});
              }),
              HasSubstr("tensor 'z', f32 [-1, 2], is no shape of memory"));
}

TEST(Errors, OpsThatTheReferenceLacks) {
  Program p = map("%y = math.sin %x : tensor<?x?xf32, #eider.dims<tokens, hidden>>");
  EXPECT_THAT(messageOf([&] {
                interpret(p, {floats("x", f32, {1, 1}, {1}), floats("z", f32, {1, 1}, {1})});
              }),
              HasSubstr("the reference has no op 'math.sin'"));
}

TEST(Errors, StaticDimsAndMultiplesAreChecked) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x8xf32, #eider.dims<tokens, 2 * hidden>>
    eider.output "y", %x : tensor<?x8xf32, #eider.dims<tokens, 2 * hidden>>)",
                      "tokens, hidden = 4");
  EXPECT_THAT(messageOf([&] {
                interpret(p, {floats("x", f32, {1, 6}, {1, 2, 3, 4, 5, 6})});
              }),
              HasSubstr("dim 'hidden' is 3 in tensor 'x' but 4 in the program"));
  EXPECT_THAT(messageOf([&] {
                interpret(p, {floats("x", f32, {1, 3}, {1, 2, 3})});
              }),
              HasSubstr("tensor 'x' is f32 [1, 3], expected f32 [tokens, 2 * hidden] = [1, 8]"));
}

TEST(Elementwise, WidensScalesOfACodeType) {
  Program p = program(R"(
    %x = eider.input "x" : tensor<?x?xf8E4M3FN, #eider.dims<tokens, hidden>>
    %y = arith.extf %x : tensor<?x?xf8E4M3FN, #eider.dims<tokens, hidden>> to tensor<?x?xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %y : tensor<?x?xf32, #eider.dims<tokens, hidden>>)");
  EXPECT_THAT(valuesOf(named(interpret(p, {codes("x", e4m3, {1, 3}, {0x38, 0xc0, 0x7e})}), "y")),
              ElementsAre(1, -2, 448));
}
