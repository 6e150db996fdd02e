//===- FloatQueriesTest.cpp - Prefill whose queries are no codes ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"
#include "eider/dsl.h"
#include "tests/attention/Cases.h"
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"
#include "tests/text/Purity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {
/// The inputs of attention_prefill of such queries.
enum { queries, keys, values, keyScale, valueScale };

const char *const ofSplits = "attention<threads = 64, vector = 1, rows = 16, columns = 32, "
                             "split = 2>";

OpParameters with(const char *dtype, OpParameters parameters = {}) {
  parameters.dtype = dtype;
  parameters.settings.emplace("float_queries", "1");
  return parameters;
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Prompt &shape, const OpParameters &parameters,
                 const std::string &codec = "auto", const std::string &schedule = "",
                 const std::string &values = "normal") {
    cases.push_back(prefill(shape, parameters, codec, schedule, values, cases.size()));
  };
  for (const char *dtype : {"bf16", "f16"}) {
    for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
      for (const char *codec : {"hardware", "software"})
        if (codec == std::string("software") || !std::string(format).ends_with("fnuz"))
          add({}, with(dtype, {.format = format}), codec);
    for (const int64_t tokens : {0, 1, 65, 130})
      for (const char *causal : {"0", "1"})
        add({.tokens = tokens, .heads = 2, .kvHeads = 1, .d = 32},
            with(dtype, {.settings = {{"causal", causal}}}));
    for (const int64_t d : {96, 128, 160, 512})
      add({.tokens = 70, .heads = 2, .kvHeads = 1, .d = d}, with(dtype));
    for (const char *schedule :
         {"attention<threads = 32, vector = 1, rows = 16, columns = 16>",
          "attention<threads = 64, vector = 1, rows = 64, columns = 32, prefetch = 1>", ofSplits})
      add({.tokens = 90, .scales = 2}, with(dtype, {.settings = {{"causal", "1"}}}), "software",
          schedule);
    add({}, with(dtype, {.settings = {{"scaled", "0"}}}));
    add({}, with(dtype, {.settings = {{"softcap", "20"}, {"alibi", "1"}}}));
    add({.lengths = {70, 0, 33}}, with(dtype, {.settings = {{"causal", "1"}}}));
    add({.tokens = 40}, with(dtype), "software", "", "specials");
    for (const matrix::Layout layout : matrix::apart) {
      add({}, with(dtype)); // rows that lie apart, and begin anywhere
      cases.back().layout = layout;
    }
  }
  return cases;
}
} // namespace

TEST(FloatQueries, AgreeWithTheReferenceOnTheDevice) {
  std::vector<matrix::Case> all = cases();
  std::erase_if(all, [&](const matrix::Case &made) { // what an older target has not
    const char *older = std::getenv("EIDER_TARGET");
    return older && older == std::string("sm_75") && made.inputs[queries].dtype == bf16;
  });
  at_points::expectReference(all);
}

/// Of a NaN in a query its own head is NaN, and nothing else.
TEST(FloatQueries, NansReachTheirOwn) {
  for (const auto &[dtype, nan] : {std::pair<const char *, uint16_t>{"bf16", 0x7fc0},
                                   std::pair<const char *, uint16_t>{"f16", 0x7e00}}) {
    matrix::Case made = prefill({.tokens = 20, .heads = 4, .kvHeads = 2, .d = 32}, with(dtype));
    std::memcpy(&made.inputs[queries].data[((7 * 4 + 1) * 32 + 5) * 2], &nan, sizeof nan);
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    const auto *found = reinterpret_cast<const uint16_t *>(outputs.at(0).data.data());
    EXPECT_EQ(std::count_if(found, found + 20 * 4 * 32,
                            [&](uint16_t x) { return (x & nan) == nan && (x & 0x7fff) != 0; }),
              32);
  }
}

/// The bound is tight enough to see queries whose last bits are lost, whose elements change places,
/// and a scale that is left out.
TEST(FloatQueries, BoundsCatchMutations) {
  const Prompt shape = {.tokens = 60, .heads = 2, .kvHeads = 1, .d = 64};
  const int64_t all = 60 * 2 * 64;
  for (const char *dtype : {"bf16", "f16"}) {
    matrix::Case made = prefill(shape, with(dtype));
    write(made.inputs[keyScale], std::vector<float>{0.05f});
    ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
    auto wrongAfter = [&](auto mutate) {
      matrix::Case mutated = made;
      mutate(mutated);
      return wrongOf(made, runOnHost(mutated));
    };
    EXPECT_GT(wrongAfter([](matrix::Case &it) {
                for (size_t i = 0; i < it.inputs[queries].data.size(); i += 2)
                  it.inputs[queries].data[i] &= std::byte(0xf0); // three or six bits are left
              }),
              all / 4)
        << dtype;
    EXPECT_GT(wrongAfter([](matrix::Case &it) {
                auto begin = it.inputs[queries].data.begin();
                for (auto at = begin; at != it.inputs[queries].data.end(); at += 4)
                  std::swap_ranges(at, at + 2, at + 2);
              }),
              all / 2)
        << dtype;
    for (const int scale : {int(keyScale), int(valueScale)})
      EXPECT_GT(
          wrongAfter([&](matrix::Case &it) { write(it.inputs[scale], std::vector<float>{1.25f}); }),
          all / 2)
          << dtype;
  }
}

TEST(FloatQueries, RefusesOtherTypesAndScales) {
  Builder b("wrong");
  Dim tokens = b.dim("s");
  Sequence sequence = {.queries = b.input("wide", f32, {tokens, 4, 64}),
                       .keys = b.codes("k", e4m3, {tokens, 2, 64}),
                       .values = b.codes("v", e4m3, {tokens, 2, 64})};
  auto errorOf = [&] {
    try {
      attention(sequence);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(errorOf(), HasSubstr("the queries are neither codes, bf16 nor f16"));
  sequence.queries = b.input("q", bf16, {tokens, 4, 64});
  EXPECT_THAT(errorOf(), IsEmpty());
  const Value scale = b.input("scale", f32, {1});
  sequence.key_scale = scale;
  EXPECT_THAT(errorOf(), HasSubstr("some scales are given"));
  sequence.value_scale = scale;
  EXPECT_THAT(errorOf(), IsEmpty());
  sequence.query_scale = scale;
  EXPECT_THAT(errorOf(), HasSubstr("the queries are no codes, and have scales"));
}

/// By shuffles they would take minutes to compile, and as long to run.
TEST(FloatQueries, OfBf16NeedProductsOfBf16) {
  CompileOptions options = prefill({}, with("f16")).options;
  options.target = "sm_75";
  EXPECT_NO_THROW(emit(libraryOp("attention_prefill", with("f16")), options, Stage::Cuda));
  try {
    emit(libraryOp("attention_prefill", with("bf16")), options, Stage::Cuda);
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("give codes or f16"));
  }
}

/// Products of warpgroups have no queries that are not codes.
TEST(FloatQueries, NoWarpgroupsMultiplyThem) {
  CompileOptions options = prefill({}, with("bf16")).options;
  options.target = "sm_90a";
  options.schedule = "attention<threads = 128, vector = 1, rows = 64, columns = 64, prefetch = 1, "
                     "warpgroups = 1>";
  EXPECT_NO_THROW(emit(libraryOp("attention_prefill", {}), options, Stage::Cuda));
  try {
    emit(libraryOp("attention_prefill", with("bf16")), options, Stage::Cuda);
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("queries and keys of E4M3 or E5M2"));
  }
}

TEST(FloatQueries, TextsArePure) {
  for (const char *target : {"sm_80", "sm_90a"}) {
    CompileOptions options = prefill({}, with("bf16")).options;
    options.target = target;
    const std::string text =
        emit(libraryOp("attention_prefill", with("bf16")), options, Stage::Cuda);
    EXPECT_THAT(text, HasSubstr("(o, q, nullptr, k, k_scale, v, v_scale, s)"));
    EXPECT_THAT(text, HasSubstr("AttentionPrefill<"));
    EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
    EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
  }
}

TEST(FloatQueries, NvrtcCompilesTheTexts) {
  for (const char *target : {"sm_75", "sm_80", "sm_90a", "sm_120a"})
    for (const char *dtype : {"bf16", "f16"})
      for (const int64_t d : {96, 128}) {
        if (target == std::string("sm_75") && dtype == std::string("bf16"))
          continue; // no product
        expectNvrtc(libraryOp("attention_prefill", with(dtype)), prefill({.d = d}).options, target);
      }
}
