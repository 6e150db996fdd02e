//===- ComputedTest.cpp - Attention of queries that are computed ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/dsl.h"
#include "tests/attention/Cases.h"
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"
#include "tests/text/Purity.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {
/// A norm of each head, as models have it of queries, and a factor that turns them.
Value normed(Builder &b, const eider::Shape &shape, DType type) {
  const Value x = b.input("q", bf16, shape), factor = b.scalar("factor", -1.25f);
  const Value y = x * rsqrt(mean(x * x, Block{1, 1, 64}) + 1e-6f) * factor;
  return type == f32 ? y : cast(y, type);
}

/// attention_decode, but for its queries, which are of that type; and what may stand after it.
Program decoding(DType type, bool isGated = false) {
  Builder b("computed_decode");
  const Dim sequences = b.dim("b"), heads = b.dim("h"), d = b.dim("d"), pages = b.dim("pages"),
            page = b.dim("page"), kvHeads = b.dim("kv_heads"), most = b.dim("max_pages");
  const eider::Shape shape = {sequences, heads, d};
  const Value q = normed(b, shape, type);
  KVCache cache =
      b.cache({.format = e4m3}, {pages, page, kvHeads, d}, {b.dim("scales")}, {"k", "v"});
  cache.block_table = b.input("block_table", DType::i32, {sequences, most});
  cache.lengths = b.input("lengths", DType::i32, {sequences});
  Value o = attention(q, cache);
  if (isGated)
    o = o * sigmoid(b.input("gate", bf16, shape));
  b.output("o", o, bf16);
  return b.build();
}

matrix::Case decodingOf(DType type) {
  matrix::Case made = decode({});
  made.program = decoding(type);
  return made;
}

/// A sequence over itself, of the same queries.
Program prefilling(DType type) {
  Builder b("computed_prefill");
  const Dim tokens = b.dim("s"), heads = b.dim("h"), kvHeads = b.dim("kv_heads"), d = b.dim("d"),
            scales = b.dim("scales");
  Sequence sequence;
  sequence.queries = normed(b, {tokens, heads, d}, type);
  sequence.keys = b.codes("k", e4m3, {tokens, kvHeads, d});
  sequence.values = b.codes("v", e4m3, {tokens, kvHeads, d});
  sequence.key_scale = b.input("k_scale", f32, {scales});
  sequence.value_scale = b.input("v_scale", f32, {scales});
  b.output("o", attention(sequence, {.causal = true}), bf16);
  return b.build();
}

matrix::Case prefillingOf(DType type) {
  OpParameters parameters = causally("1");
  parameters.settings["float_queries"] = "1";
  matrix::Case made = prefill({.tokens = 70}, parameters);
  made.program = prefilling(type);
  return made;
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  for (const DType type : {f32, bf16, f16})
    cases.push_back(decodingOf(type));
  for (const DType type : {bf16, f16})
    cases.push_back(prefillingOf(type));
  for (matrix::Case made : {decodingOf(f32), prefillingOf(f16)}) { // that begin anywhere
    made.layout = {/*padding=*/0, /*shift=*/1};
    cases.push_back(made);
  }
  return cases;
}
} // namespace

TEST(ComputedQueries, AgreeWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

/// The bound is tight enough to tell queries that are taken as they are.
TEST(ComputedQueries, BoundsCatchQueriesThatAreNotComputed) {
  for (const DType type : {f32, bf16, f16}) {
    matrix::Case other = decode({.lengths = {45}, .heads = 8, .kvHeads = 2, .d = 64});
    write(other.inputs[kScale], std::vector<float>{0.002f});
    write(other.inputs[vScale], std::vector<float>{0.5f});
    matrix::Case made = other;
    made.program = decoding(type);
    ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
    EXPECT_GT(wrongOf(made, runOnHost(other)), 8 * 64 / 2);
  }
}

TEST(ComputedQueries, HaveAKernelBefore) {
  for (const char *target : {"sm_75", "sm_90a"})
    for (const matrix::Case &made : {decodingOf(f32), prefillingOf(f16)}) {
      const std::string text = textFor(made, target);
      EXPECT_THAT(text, HasSubstr(made.program.name() + "_q("));
      EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
      EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
      expectNvrtc(made.program, made.options, target);
    }
}

/// What stands before and after is of one program.
TEST(ComputedQueries, WhatStandsAfterAgreesOnTheDevice) {
  matrix::Case made = decode({});
  made.program = decoding(f32, /*isGated=*/true);
  const std::vector<HostTensor> had = made.inputs;
  made.inputs = inputsOf(made.program, made.dims, "normal", 3);
  for (HostTensor &input : made.inputs)
    for (const HostTensor &known : had)
      if (known.name == input.name)
        input = known;
  at_points::expectReference({made});
}
