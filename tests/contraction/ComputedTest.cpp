//===- ComputedTest.cpp - Products of rows that are computed --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <gtest/gtest.h>

using namespace eider;
using namespace eider::at_points;

namespace {

/// What a program has as rows of its product.
enum class Rows { bf16, codes, wholeRowCodes };

Value normed(const Value &x, const Value &weight) {
  Value squares = mean(x * x, /*axis=*/-1);
  return (x * rsqrt(squares + 1e-6f) * weight).named("normed");
}

Value times(const Value &rows, const Scaled &weights, Rows kind) {
  if (kind == Rows::bf16)
    return eider::matmul(cast(rows, bf16), weights);
  const int64_t block = kind == Rows::codes ? 128 : whole;
  return eider::matmul(quantize(rows, e4m3, {.block = {1, block}}), weights);
}

/// A norm, the product of its rows, and what follows.
Program normThenProduct(Rows kind) {
  Builder b("norm_matmul");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Value x = b.input("x", bf16, {m, k}), weight = b.input("weight", bf16, {k});
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  b.output("y", silu(times(normed(x, weight), w, kind)), bf16);
  return b.build();
}

/// Two products, of which the second multiplies what the first gives.
Program twoProducts(Rows kind) {
  Builder b("mlp");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k"), f = b.dim("f");
  Value x = b.input("x", bf16, {m, k}), weight = b.input("weight", bf16, {k});
  Scaled up = b.scaled_input("up", e4m3, {f, k}, {1, 128}, f32),
         down = b.scaled_input("down", e4m3, {n, f}, {1, 128}, f32);
  Value hidden = relu(times(normed(x, weight), up, kind)).named("hidden");
  b.output("y", times(hidden, down, kind) + b.input("residual", bf16, {m, n}), bf16);
  return b.build();
}

Dims extents(int64_t m) { return {{"m", m}, {"n", 72}, {"k", 400}, {"f", 256}}; }

matrix::Case caseOf(const Program &program, int64_t m) {
  Dims dims = extents(m);
  if (program.name() == "norm_matmul")
    dims.erase("f");
  return at_points::caseOf(program, dims, "m");
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  for (Rows kind : {Rows::bf16, Rows::codes, Rows::wholeRowCodes})
    for (int64_t m : {0, 1, 19, 70}) {
      cases.push_back(caseOf(normThenProduct(kind), m));
      if (kind != Rows::wholeRowCodes) // no kernel of a product holds its rows
        cases.push_back(caseOf(twoProducts(kind), m));
    }
  return cases;
}

} // namespace

TEST(ComputedRows, AgreeWithTheReferenceOnTheDevice) { expectReference(cases()); }

/// The bound shows a row's scale, the norm's weight or a product's tail that is missing.
TEST(ComputedRows, BoundsCatchMutations) {
  const matrix::Case made = caseOf(normThenProduct(Rows::bf16), 9);
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  EXPECT_GE(wrongWithout(made, 0, 800, 0, 64), 9 * 72 / 4) << "columns of x left out";
  EXPECT_GE(wrongWithout(made, 1, 800, 0, 64), 9 * 72 / 4) << "the norm's weight left out";
}

TEST(ComputedRows, NvrtcCompiles) {
  for (const char *target : {"sm_75", "sm_80", "sm_90a"})
    for (Rows kind : {Rows::bf16, Rows::codes}) {
      if (kind == Rows::bf16 && target == std::string("sm_75"))
        continue;
      CompileOptions options;
      options.dims = {{"n", 4096}, {"k", 4096}, {"f", 4096}};
      expectNvrtc(twoProducts(kind), options, target);
    }
}
