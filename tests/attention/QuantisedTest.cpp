//===- QuantisedTest.cpp - Attention whose result is codes ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"
#include "tests/points/Points.h"

#include <cstdlib>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](Cache shape, const OpParameters &parameters, const std::string &codec = "auto",
                 const std::string &schedule = "") {
    shape.quantised = true;
    cases.push_back(decode(shape, parameters, codec, schedule, "normal", cases.size()));
    cases.back().forAnyRows = cases.size() % 2;
  };
  for (const int64_t d : {64, 128, 512})
    for (const char *block : {"1x16", "1x32", "1x64"})
      add({.lengths = {45, 0, 3}, .d = d}, {.block = block});
  for (const char *format : {"e4m3", "e5m2"})
    for (const char *from : {"e4m3", "e5m2", "bf16", "f16"})
      add({.d = 128}, {.dtype = "f16", .format = format, .block = "1x128", .fromFormat = from});
  for (const char *block : {"1x128", "1x256", "1x512"})
    add({.lengths = {33, 7}, .heads = 32, .kvHeads = 1, .d = 576, .valueColumns = 512},
        {.block = block});
  for (const char *block : {"1x*", "*x*", "16x64", "4x32"})
    add({.lengths = {45, 3, 0}}, {.block = block});
  for (const char *block : {"1x64", "1x*", "*x*"})
    add({}, {.block = block, .scaleSource = "static"});
  add({}, {.block = "1x32", .scale = "e8m0", .mode = "mx"});
  add({}, {.block = "1x64", .scale = "bf16"});
  add({}, {.format = "e2m1", .block = "1x16", .scale = "e4m3"});
  add({.d = 128}, {.mode = "deepgemm"});
  add({}, {.block = "1x64", .copy = "bf16", .amax = "yes"}, "software");
  // Of few sequences two variants, whose parts are as many as each cuts for.
  add({.lengths = {45, 0, 3, 7, 12, 1, 33, 20}, .heads = 32, .kvHeads = 8, .d = 128},
      {.block = "1x128", .amax = "yes"});
  cases.back().forAnyRows = false;
  add({.scales = 2, .scaleAxes = 2},
      {.block = "1x64", .settings = {{"window", "40"}, {"softcap", "20"}}});
  add({}, {.block = "1x64"}, "auto",
      "attention<threads = 64, vector = 1, blocks = 16, prefetch = 3>");
  for (const matrix::Layout layout : matrix::apart) {
    add({}, {.block = "1x64"});
    cases.back().layout = layout;
  }
  for (const char *causal : {"0", "1"})
    for (const char *block : {"1x32", "1x64", "1x*"})
      cases.push_back(
          prefill({.quantised = true},
                  {.format = "e5m2", .block = block, .settings = {{"causal", causal}}}));
  return cases;
}
} // namespace

TEST(QuantisedAttention, AgreesWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

/// A token that is left out shows in the scales, of which the largest value alone decides, and
/// scales of heads that are exchanged in the codes, too, which are judged by the scales they have.
TEST(QuantisedAttention, BoundsCatchMutations) {
  const Cache cache = {.lengths = {45}, .heads = 8, .kvHeads = 2, .scales = 2, .quantised = true};
  matrix::Case made = decode(cache, {.dtype = "f32", .block = "1x32"});
  write(made.inputs[kScale], std::vector<float>{0.002f, 0.003f});
  write(made.inputs[vScale], std::vector<float>{0.5f, 0.25f});
  const int64_t elements = 8 * 64, blocks = 8 * 2, row = 2 * 64;
  auto wrongScalesAndCodes = [&](const matrix::Case &other) {
    const std::vector<Comparison> all = compare(made.program, made.inputs, runOnHost(other));
    return std::pair(all.at(0).wrong, all.at(1).wrong);
  };
  ASSERT_EQ(wrongScalesAndCodes(made), std::pair(int64_t(0), int64_t(0)));
  EXPECT_GE(wrongWithout(made, vCache, 16 * row, 7 * row, row), blocks / 2) << "a token's values";
  matrix::Case other = made;
  write(other.inputs[lengths], std::vector<int32_t>{44});
  EXPECT_GE(wrongScalesAndCodes(other).first, blocks / 2) << "a token";
  other = made;
  write(other.inputs[vScale], std::vector<float>{0.25f, 0.5f});
  EXPECT_EQ(wrongScalesAndCodes(other).first, blocks);
  EXPECT_GE(wrongScalesAndCodes(other).second, elements * 3 / 4);
}

TEST(QuantisedAttention, TextsArePure) {
  for (const char *block : {"1x64", "1x*", "16x64"}) {
    attention_cases::expectPure(decode({.quantised = true}, {.block = block}));
  }
}

TEST(QuantisedAttention, NvrtcCompilesTheTexts) {
  for (const char *target : {"sm_75", "sm_80", "sm_90a", "sm_120a"})
    for (const char *block : {"1x128", "1x*", "16x64"}) {
      const matrix::Case made =
          decode({.d = 128, .quantised = true}, {.dtype = "f16", .block = block});
      expectNvrtc(made.program, made.options, target);
    }
  const Cache latents = {.lengths = {45},
                         .heads = 128,
                         .kvHeads = 1,
                         .d = 576,
                         .page = 64,
                         .valueColumns = 512,
                         .quantised = true};
  const matrix::Case ofHeads = decode(latents, {.block = "1x512"});
  expectNvrtc(ofHeads.program, ofHeads.options, "sm_90a");
  const matrix::Case sequence = prefill({.quantised = true}, {.block = "1x64"});
  expectNvrtc(sequence.program, sequence.options, "sm_90a");
}

/// A block lies in one head, and heads are made of blocks; or it is whole rows.
TEST(QuantisedAttention, RefusesBlocksAcrossHeads) {
  auto errorOf = [](const char *block, int64_t d, const char *source = "") {
    return attention_cases::errorOf(
        decode({.d = d, .quantised = true}, {.block = block, .scaleSource = source}));
  };
  EXPECT_EQ(errorOf("1x32", 96), "");
  EXPECT_THAT(errorOf("1x64", 96), AllOf(HasSubstr("blocks of 1x64 in rows of 8x96"),
                                         HasSubstr("one row of the last, which is made of them")));
  EXPECT_THAT(errorOf("1x64", 96, "static"),
              AllOf(HasSubstr("d / 64"), HasSubstr("one row of the last, which is made of them")));
  EXPECT_THAT(errorOf("1x128", 64), HasSubstr("blocks of 1x128 in rows of 8x64"));
  EXPECT_THAT(errorOf("1x96", 96), HasSubstr("a power of two up to 512"));
}

/// In the DSL: of what stands around attention, blocks of one head each.
TEST(QuantisedAttention, TakesWhatStandsAround) {
  Builder b("gated");
  const Dim sequences = b.dim("b"), pages = b.dim("pages"), most = b.dim("max_pages");
  KVCache cache;
  cache.keys = b.codes("k_cache", e4m3, {pages, 16, 2, 64});
  cache.values = b.codes("v_cache", e4m3, {pages, 16, 2, 64});
  cache.block_table = b.input("block_table", DType::i32, {sequences, most});
  cache.lengths = b.input("lengths", DType::i32, {sequences});
  const eider::Shape shape = {sequences, 4, 64};
  const Value o = attention(b.input("q", bf16, shape), cache);
  const Value gated = o * sigmoid(b.input("gate", bf16, shape));
  b.output("y", quantize(gated, e4m3, {.block = {1, 1, 32}}));
  b.output("z", quantize(gated, e5m2, {.block = {1, 1, whole}}));
  matrix::Case made = decode({.heads = 4, .scales = 2});
  const std::vector<HostTensor> ofOp = made.inputs;
  made.program = b.build();
  made.options.dims.clear(); // it has them all
  made.dims = {
      {"b", 4}, {"pages", made.dims.at("pages")}, {"max_pages", made.dims.at("max_pages")}};
  made.inputs = inputsOf(made.program, made.dims, "normal", 5);
  for (HostTensor &input : made.inputs)
    for (const HostTensor &given : ofOp)
      if (given.name == input.name)
        input.data = given.data;
  at_points::expectReference(std::vector<matrix::Case>{made});
}
