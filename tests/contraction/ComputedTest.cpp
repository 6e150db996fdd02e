//===- ComputedTest.cpp - Products of rows that are computed --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include "eider/compile.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using ::testing::HasSubstr;

namespace {

/// What a program has as rows of its product.
enum class Rows { bf16, rounded, codes, wholeRowCodes, wholeCodes };

Value normed(const Value &x, const Value &weight) {
  Value squares = mean(x * x, /*axis=*/-1);
  return (x * rsqrt(squares + 1e-6f) * weight).named("normed");
}

Value times(const Value &rows, const Scaled &weights, Rows kind) {
  if (kind == Rows::bf16)
    return eider::matmul(cast(rows, bf16), weights);
  if (kind == Rows::rounded) // f32 that are bf16
    return eider::matmul(round_to(rows, bf16), weights);
  const Block block = kind == Rows::codes           ? Block{1, 128}
                      : kind == Rows::wholeRowCodes ? Block{1, whole}
                                                    : Block{whole, whole};
  return eider::matmul(quantize(rows, e4m3, {.block = block}), weights);
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

/// The same of a residual that is updated, which the product adds.
Program residualNormThenProduct() {
  Builder b("residual_norm_matmul");
  Dim m = b.dim("m"), k = b.dim("k");
  Value residual = b.inout("residual", bf16, {m, k}), all = b.input("x", bf16, {m, k}) + residual;
  b.store(residual, all);
  Scaled w = b.scaled_input("w", e4m3, {k, k}, {1, 128}, f32);
  b.output("y", times(normed(all, b.input("weight", bf16, {k})), w, Rows::bf16) + all, bf16);
  return b.build();
}

/// An activation, and the product of its rows.
Program activationThenProduct() {
  Builder b("activation_matmul");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Value gate = b.input("gate", bf16, {m, k}), up = b.input("up", bf16, {m, k});
  Scaled w = b.scaled_input("w", e5m2, {n, k}, {1, 128}, f32);
  b.output("y", times(silu(gate) * up, w, Rows::bf16), bf16);
  return b.build();
}

/// Experts, in groups of rows: gate and up of one x that is computed, and a product of what they
/// give.
Program experts() {
  Builder b("experts");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k"), f = b.dim("f"), g = b.dim("groups");
  Value x = b.input("x", bf16, {m, k}), alpha = b.scalar("alpha", 0.5f);
  Scaled gate = b.scaled_input("gate", e4m3, {g, f, k}, {1, 1, 128}, f32),
         up = b.scaled_input("up", e4m3, {g, f, k}, {1, 1, 128}, f32),
         down = b.scaled_input("down", e4m3, {g, n, f}, {1, 1, 128}, f32);
  Value ends = b.input("ends", DType::i32, {g});
  Value rows = cast(alpha * x, bf16);
  Value hidden = silu(eider::matmul(rows, gate, ends)) * eider::matmul(rows, up, ends);
  b.output("y", eider::matmul(quantize(hidden, e4m3, {.block = {1, 128}}), down, ends), bf16);
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

matrix::Case caseOf(const Program &program, int64_t m, int64_t k = 400) {
  Dims dims = {{"m", m}, {"n", 72}, {"k", k}};
  if (program.name() != "norm_matmul")
    dims["f"] = 256;
  if (program.name() == "experts")
    dims["groups"] = 3;
  return at_points::caseOf(program, dims, "m");
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  for (Rows kind : {Rows::bf16, Rows::rounded, Rows::codes, Rows::wholeRowCodes, Rows::wholeCodes})
    for (int64_t m : {0, 1, 19, 70}) {
      if (m > 0 || kind != Rows::wholeCodes) // nothing has no amax
        cases.push_back(caseOf(normThenProduct(kind), m));
      if (kind == Rows::bf16 || kind == Rows::codes) // no kernel of a product holds its rows
        cases.push_back(caseOf(twoProducts(kind), m));
    }
  for (Rows kind :
       {Rows::bf16, Rows::rounded, Rows::codes}) { // rows that begin anywhere, and end so
    for (const matrix::Layout layout : matrix::apart) {
      cases.push_back(caseOf(twoProducts(kind), 19, 401));
      cases.back().layout = layout;
    }
  }
  for (int64_t m : {0, 19, 200})
    cases.push_back(caseOf(experts(), m));
  // Rows that leave their kernel as f16.
  auto asF16 = [&](const Program &program, const Dims &dims, const char *cut) {
    cases.push_back(at_points::caseOf(program, dims, "m",
                                      "contract<" + std::string(cut) +
                                          ", vector = 4, loads = 2, warpgroups = 1, f16 = 1>"));
  };
  asF16(normThenProduct(Rows::bf16), {{"m", 21}, {"n", 150}, {"k", 1152}},
        "threads = 256, rows = 32, columns = 128, prefetch = 3, cluster = 2");
  asF16(residualNormThenProduct(), {{"m", 13}, {"k", 384}},
        "threads = 128, rows = 16, columns = 64, prefetch = 3");
  asF16(activationThenProduct(), {{"m", 35}, {"n", 100}, {"k", 2048}},
        "threads = 128, rows = 64, columns = 64, prefetch = 3, split = 2");
  return cases;
}

} // namespace

TEST(ComputedRows, AgreeWithTheReferenceOnTheDevice) { expectReference(cases()); }

/// The bound shows columns of x, of the norm's weight, and scales that are left out.
TEST(ComputedRows, BoundsCatchMutations) {
  for (Rows kind : {Rows::bf16, Rows::codes}) {
    const matrix::Case made = caseOf(normThenProduct(kind), 9);
    ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
    EXPECT_GE(wrongWithout(made, 0, 800, 0, 64), 9 * 72 / 4) << "columns of x left out";
    EXPECT_GE(wrongWithout(made, 1, 800, 0, 64), 9 * 72 / 4) << "the norm's weight left out";
    EXPECT_GE(wrongWithout(made, 3, 16, 0, 4), 9 * 72 / 4) << "a group's scale dropped";
  }
}

TEST(ComputedRows, AreExplained) {
  CompileOptions options;
  options.target = "sm_90";
  options.dims = {{"n", 72}, {"k", 400}, {"f", 256}, {"groups", 3}};
  EXPECT_THAT(explain(experts(), options),
              HasSubstr("a product reads rows that a kernel before it computes"));
  const std::string text = emit(experts(), options, Stage::Cuda);
  const size_t last = text.rfind("extern \"C\"");
  EXPECT_THAT(text, HasSubstr("float alpha"));
  EXPECT_EQ(text.find("alpha", last), std::string::npos) << "a scalar of the first kernel alone";
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
