//===- ErrorTest.cpp - What the DSL says of a wrong op --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/dsl.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>

using namespace eider;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {
/// The error of `action`, which must be one of Request.
Error errorOf(const std::function<void()> &action) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::Internal, "");
}

struct ErrorTest : testing::Test {
  Builder b{"op"};
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", bf16, {tokens, hidden});
  Value s = b.scalar("s", 1);

  /// The error names the op and a line of this file, and says what to do.
  void expect(const std::function<void()> &action, const std::string &what) {
    Error error = errorOf(action);
    EXPECT_THAT(error.what(), HasSubstr(what));
    EXPECT_THAT(error.where(), MatchesRegex("op \\(ErrorTest.cpp:[0-9]+\\)"));
    EXPECT_FALSE(error.remedy().empty()) << error.what();
  }
};

TEST_F(ErrorTest, theWholeLine) {
  Value wide = b.input("wide", bf16, {tokens, 2 * hidden});
  int line = 0;
  Error error = errorOf([&] {
    line = __LINE__ + 1;
    x + wide;
  });
  EXPECT_EQ(
      std::string(error.what()),
      "op (ErrorTest.cpp:" + std::to_string(line) +
          "): +: shapes [tokens, hidden] and [tokens, 2 * hidden] do not match; dims align at the "
          "end; each is equal, 1, or the number of blocks of the other");
}

TEST_F(ErrorTest, linesOfFunctions) {
  int line = __LINE__ + 1;
  auto wrong = [&] { mean(x, 2); };
  EXPECT_EQ(errorOf(wrong).where(), "op (ErrorTest.cpp:" + std::to_string(line) + ")");
  line = __LINE__ + 1;
  auto wrongOutput = [&] { b.output("y", s); };
  EXPECT_EQ(errorOf(wrongOutput).where(), "op (ErrorTest.cpp:" + std::to_string(line) + ")");
}

TEST_F(ErrorTest, operands) {
  Builder other("other");
  Value y = other.input("y", f32, {other.dim("n")});
  expect([&] { x + Value(); }, "an operand is an empty value");
  expect([&] { x + y; }, "the operands are of two Builders");
  EXPECT_THAT(errorOf([] { dequantize(Scaled()); }).what(),
              HasSubstr("the operand is an empty value"));
  EXPECT_THAT(errorOf([] { Scaled().shape(); }).what(), HasSubstr("is an empty value"));
  EXPECT_THAT(errorOf([] { Value().shape(); }).what(), HasSubstr("is an empty value"));
  expect([&] { x * 1e300; }, "the number 1e+300 is none of f32");
  expect([&] { x *std::nan(""); }, "the number nan is none of f32");
  EXPECT_THAT(errorOf([] { eider::exp(1.0); }).what(),
              MatchesRegex("exp \\(ErrorTest.cpp:[0-9]+\\): the operands are numbers alone; .*"));
  EXPECT_THAT(errorOf([] { eider::max(1.0, 2.0); }).what(),
              HasSubstr("the operands are numbers alone"));
}

TEST_F(ErrorTest, namesAndDims) {
  expect([&] { b.input("x", f32, {hidden}); }, "input 'x': the name 'x' is taken");
  expect([&] { b.dim("tokens"); }, "the name 'tokens' is taken");
  expect([&] { b.input("tokens", f32, {hidden}); }, "the name 'tokens' is taken");
  expect([&] { b.input("a-b", f32, {hidden}); }, "the name 'a-b' is not an identifier");
  expect([&] { b.input("", f32, {hidden}); }, "a name is empty");
  expect([&] { b.input("__x", f32, {hidden}); }, "'__x' is not an identifier");
  expect([&] { b.input("float", f32, {hidden}); }, "'float' is a word of CUDA C++ or of Eider");
  expect([&] { b.input(std::string(65, 'a'), f32, {hidden}); }, "longer than 64 characters");
  expect([&] { x.named("a b"); }, "the name 'a b' is not an identifier");
  expect([&] { b.dim("d", -1); }, "a static extent of -1");
  EXPECT_THAT(errorOf([] { Builder("2x"); }).what(), HasSubstr("'2x' is not an identifier"));
  EXPECT_THAT(errorOf([&] { 0 * hidden; }).what(), HasSubstr("0 * hidden is out of range"));
  EXPECT_THAT(errorOf([&] { INT64_MAX *(2 * hidden); }).what(), HasSubstr("out of range"));
  EXPECT_THAT(errorOf([&] { 2 * ceildiv(hidden, 2); }).what(), HasSubstr("a number of blocks"));
  EXPECT_THAT(errorOf([&] { ceildiv(hidden, 0); }).what(), HasSubstr("blocks of 0 elements"));
}

TEST_F(ErrorTest, arguments) {
  Builder other("other");
  Dim foreign = other.dim("foreign");
  expect([&] { b.input("i", e5m2, {hidden}); }, "an input cannot be f8E5M2");
  expect([&] { b.inout("j", DType::i32, {hidden}); }, "an in-out cannot be i32");
  expect([&] { b.inout("k", e5m2, {hidden}); }, "an in-out cannot be f8E5M2");
  expect([&] { b.input("l", f32, {}); }, "a tensor of rank 0");
  expect(
      [&] {
        b.input("m", f32, {tokens, tokens, tokens, tokens, hidden});
      },
      "a tensor of rank 5");
  expect([&] { b.codes("cache", bf16, {tokens, hidden}); }, "codes cannot be bf16");
  expect([&] { b.input("n", f32, {foreign}); }, "'foreign' is not a dim of this op");
  expect([&] { b.input("o", f32, {0}); }, "an extent of 0");
  expect([&] { b.scalar("p", INFINITY); }, "is not finite");
  expect([&] { b.scaled_input("q", bf16, {hidden}, {128}); }, "the format cannot be bf16");
  expect([&] { b.scaled_input("r", e4m3, {hidden}, {1, 128}); }, "a block of rank 2 for [hidden]");
}

TEST_F(ErrorTest, scaledNamesCollide) {
  b.input("q_scale", f32, {hidden});
  expect([&] { b.scaled_input("q", e4m3, {hidden}, {128}); }, "the name 'q_scale' is taken");
  expect([&] { b.output("q", quantize(x, e4m3, {.block = {1, 128}})); }, "the name 'q' is taken");
}

TEST_F(ErrorTest, results) {
  Value residual = b.inout("residual", bf16, {tokens, hidden});
  Builder other("other");
  Value y = other.input("y", f32, {other.dim("n")});
  expect([&] { b.store(x, x); }, "the target is not an in-out");
  expect([&] { b.store(residual, b.input("w", f32, {2 * hidden})); },
         "shapes [2 * hidden] and [tokens, hidden] do not match");
  expect([&] { b.output("z", s); }, "the value is a scalar");
  expect([&] { b.output("zz", x, e4m3); }, "an output cannot be f8E4M3FN");
  EXPECT_THAT(errorOf([&] { b.output("z2", y); }).what(), HasSubstr("of another Builder"));
  b.output("u", x);
  expect([&] { b.build(); }, "the in-out 'residual' is never stored");
  b.store(residual, x * 2);
  expect([&] { b.store(residual, x); }, "the in-out 'residual' is stored twice");
  b.build();
  b.dim("unused");
  expect([&] { b.build(); }, "the dim 'unused' is in no input's shape");
}

TEST_F(ErrorTest, noResult) {
  expect([&] { b.build(); }, "there is no output and no store");
}

TEST_F(ErrorTest, storeOfALargerShape) {
  Value row = b.inout("row", f32, {hidden});
  expect([&] { b.store(row, x); }, "the in-out 'row' is [hidden], not [tokens, hidden]");
}

TEST_F(ErrorTest, shapes) {
  expect([&] { first_half(x); }, "the last axis of [tokens, hidden] is not twice a whole dim");
  expect([&] { second_half(s); }, "a scalar or an index has no halves");
  expect([&] { broadcast(x, {hidden}); }, "does not repeat over [hidden]");
  expect([&] { broadcast(x, {tokens, 1}); }, "does not repeat over [tokens, 1]");
  expect([&] { cast(x, e4m3); }, "the type of a cast cannot be f8E4M3FN");
  expect([&] { round_to(x, f32); }, "arithmetic is f32 already");
}

TEST_F(ErrorTest, reductions) {
  expect([&] { sum(x, 2); }, "there is no axis 2 in [tokens, hidden]");
  expect([&] { sum(x, -3); }, "there is no axis -3 in [tokens, hidden]");
  expect([&] { mean(s, 0); }, "there is no axis 0 in []");
  expect([&] { amax(s, {1, 128}); }, "a scalar has nothing to reduce");
  expect([&] { max(x, {1, 0}); }, "a block's extent cannot be 0");
  expect([&] { min(x, {1, -5}); }, "a block's extent cannot be -5");
  expect([&] { amax(x, {1, int64_t(1) << 40}); }, "a block's extent cannot be 1099511627776");
  expect([&] { sum(x, {1, 2, 3}); }, "a block of rank 3 for [tokens, hidden]");
}

TEST_F(ErrorTest, quantisations) {
  expect([&] { quantize(x, e4m3, {}); }, "quantize: the block is not said");
  expect([&] { quantize(x, e4m3, {.block = {1, 0}}); }, "a block's extent cannot be 0");
  expect([&] { quantize(x, e4m3, {.block = {128}}); }, "a block of rank 1 for [tokens, hidden]");
  expect([&] { quantize(x, bf16, {.block = {1, 128}}); }, "the format cannot be bf16");
  expect([&] { quantize(x, DType::e8m0, {.block = {1, 128}}); }, "the format cannot be f8E8M0FNU");
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 128}, .scale = e5m2});
      },
      "the scales cannot be f8E5M2");
  expect(
      [&] {
        quantize(x, e2m1, {.block = {1, 16}, .scale = e4m3});
      },
      "scales of f8E4M3FN have a second level");
  expect(
      [&] {
        quantize(x, e2m1, {.block = {1, 16}, .scale = e4m3, .global = s});
      },
      "the second level of the scales is a scalar");
  Value one = b.input("one", f32, {1});
  expect(
      [&] {
        quantize(x, e2m1, {.block = {1, 16}, .global = one});
      },
      "scales of f32 have no second level");
  expect([&] { quantize(s, e4m3, {.block = {1, 128}}); }, "a scalar has no blocks");
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 128}, .mode = "mystery"});
      },
      "no mode 'mystery'; they are default, deepgemm, tilekernels, vllm_group, vllm_token, "
      "sglang_group, trtllm_token, te_current, mx");
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 128}, .numerics = {{"speed", "high"}}});
      },
      "no numerics parameter 'speed'; they are scale, power_of_two, arithmetic, amax_floor");
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 128}, .numerics = {{"nan", "maybe"}}});
      },
      "numerics parameter 'nan' cannot be 'maybe'; possible: propagate, ignore");
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 128}, .numerics = {{"amax_floor", "-1"}}});
      },
      "numerics parameter 'amax_floor' cannot be '-1'; possible: a number of at least 0");
}

TEST_F(ErrorTest, boundsThatLeaveNoScale) {
  auto with = [&](std::map<std::string, std::string> numerics) {
    return [this, numerics] { quantize(x, e4m3, {.block = {1, 128}, .numerics = numerics}); };
  };
  expect(with({{"amax_floor", "inf"}}), "cannot be infinite");
  expect(with({{"scale_floor", "inf"}}), "cannot be infinite");
  expect(with({{"amax_bound", "0"}}), "cannot be 0");
  expect(with({{"multiplier_bound", "0"}}), "cannot be 0");
  expect(with({{"amax_floor", "2"}, {"amax_bound", "1"}}), "amax_floor is above amax_bound");
}

TEST_F(ErrorTest, numericsThatTheScalesCannotHave) {
  auto with = [&](DType scale, std::map<std::string, std::string> numerics) {
    return [this, scale, numerics] {
      quantize(x, e4m3, {.block = {1, 32}, .scale = scale, .numerics = numerics});
    };
  };
  expect(with(DType::e8m0, {{"power_of_two", "none"}}),
         "scales of e8m0 are powers of two, but power_of_two is none");
  for (DType scale : {bf16, DType::e8m0})
    expect(with(scale, {{"arithmetic", "max_over_amax"}}),
           "arithmetic max_over_amax multiplies by the inverse of a scale that was not rounded");
  expect(with(f32, {{"arithmetic", "max_over_amax"}, {"power_of_two", "floor"}}),
         "arithmetic max_over_amax multiplies by the inverse of a scale that was not rounded");
  expect(with(f32, {{"scale", "inverse_of_max_over_amax"}}),
         "scale inverse_of_max_over_amax goes with arithmetic max_over_amax alone");
  expect(with(bf16, {{"scale", "inverse_of_max_over_amax"}, {"arithmetic", "max_over_amax"}}),
         "scale inverse_of_max_over_amax is stored in f32, or rounded by power_of_two rceil");
  expect(with(f32, {{"zero_block", "one_if_not_finite"}}),
         "zero_block one_if_not_finite goes with scale inverse_of_max_over_amax alone");
}

TEST_F(ErrorTest, stochasticRounding) {
  Value seed = b.integer("seed", 0), offset = b.integer("offset", 0), none;
  auto with = [&](const char *rounding, const Value &one, const Value &two,
                  const char *overflow = "saturate") {
    return [=, this] {
      quantize(x, e4m3,
               {.block = {1, 128},
                .numerics = {{"rounding", rounding}, {"overflow", overflow}},
                .seed = one,
                .offset = two});
    };
  };
  expect(with("stochastic", none, none), "stochastic rounding draws random bits");
  expect(with("stochastic", seed, none), "stochastic rounding draws random bits");
  expect(with("stochastic", seed, s), "`seed` and `offset` are integers");
  expect(with("stochastic", seed, offset, "format"), "stochastic rounding saturates");
  expect(with("nearest_even", none, offset), "nothing is drawn by rounding nearest_even");
  Builder another{"another"};
  expect(with("stochastic", seed, another.integer("offset", 0)),
         "the operands are of two Builders");
}

/// An integer is for indices and what draws random bits.
TEST_F(ErrorTest, integersAreNoValues) {
  Value seed = b.integer("seed", 0);
  const std::string what = "an operand is an integer of the launch, with which nothing computes";
  expect([&] { x + seed; }, "an operand is not an index");
  expect([&] { cast(seed, bf16); }, what);
  expect([&] { broadcast(seed, {tokens, hidden}); }, what);
  expect([&] { b.output("y", seed); }, what);
  expect([&] { b.integer("seed", 1); }, "the name 'seed' is taken");
}

TEST_F(ErrorTest, integersHaveDefaultsThatALaunchHolds) {
  b.integer("seed", (1LL << 53) + 1);
  b.output("y", x);
  EXPECT_THAT(errorOf([&] { b.build(); }).what(),
              HasSubstr("the default of integer 'seed' is beyond 2^53"));
}

TEST_F(ErrorTest, givenScales) {
  Value powers = b.input("powers", DType::e8m0, {tokens, ceildiv(hidden, 32)});
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 32}, .scale = bf16, .scales = powers});
      },
      "the given scales are f8E8M0FNU, not bf16");
  Value scale = b.input("scale", f32, {tokens, ceildiv(hidden, 128)});
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 64}, .scales = scale});
      },
      "the given scales are [tokens, hidden / 128], not [tokens, hidden / 64]");
  expect(
      [&] {
        quantize(x, e4m3, {.block = {1, 128}, .mode = "tilekernels", .scales = scale});
      },
      "arithmetic max_over_amax needs an amax, but the scales are given");
  EXPECT_THAT(errorOf([&] {
                blocks_of({tokens, hidden}, {128});
              }).what(),
              HasSubstr("a block of rank 1 for a shape of rank 2"));
  EXPECT_THAT(errorOf([&] { blocks_of({hidden}, {0}); }).what(),
              HasSubstr("a block's extent cannot be 0"));
}

/// Four dims are those of a cache that attention reads.
TEST_F(ErrorTest, fourDimsAreACache) {
  b.output("y", b.input("wide", bf16, {tokens, 2, 3, 64}) * 2.0f, bf16);
  expect([&] { b.build(); }, "input 'wide' is of rank 4");
}
} // namespace
