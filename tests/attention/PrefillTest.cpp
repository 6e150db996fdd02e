//===- PrefillTest.cpp - A sequence over itself ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/dsl.h"
#include "eider/runtime.h"
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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {
/// The inputs of attention_prefill.
enum { queries, keys, values, queryScale, keyScale, valueScale };

OpParameters causal(OpParameters parameters = {}) {
  parameters.settings["causal"] = "1";
  return parameters;
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Prompt &shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "",
                 const std::string &values = "normal") {
    cases.push_back(prefill(shape, parameters, codec, schedule, values, cases.size()));
  };
  for (const int64_t tokens : {0, 1, 16, 63, 64, 65, 130, 200})
    for (const OpParameters &parameters : {OpParameters(), causal()})
      add({.tokens = tokens, .heads = 2, .kvHeads = 1, .d = 32}, parameters);
  for (const int64_t d : {32, 64, 96, 128, 160, 192, 224, 256, 384, 512})
    add({.tokens = 70, .heads = 1, .kvHeads = 1, .d = d}, causal({.dtype = "f32"}));
  for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>{1, 1}, {6, 2}, {5, 1}, {4, 4}, {40, 2}})
    for (const int64_t scales : {int64_t(1), kvHeads})
      add({.heads = heads, .kvHeads = kvHeads, .scales = scales}, causal());
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *codec : {"hardware", "software"})
      if (codec == std::string("software") || format == std::string("e4m3") ||
          format == std::string("e5m2"))
        for (const char *dtype : {"bf16", "f16", "f32"})
          add({}, {.dtype = dtype, .format = format}, codec);
  for (const char *format : {"e4m3", "e5m2"})
    for (const OpParameters &parameters : {OpParameters(), causal()}) {
      OpParameters given = parameters;
      given.format = format;
      add({.tokens = 40}, given, "software", "", "specials");
    }
  add({}, causal({.settings = {{"scaled", "0"}}}));
  for (const char *schedule :
       {"attention<threads = 128, vector = 1, rows = 64, columns = 64, warpgroups = 1>",
        "attention<threads = 256, vector = 1, rows = 128, columns = 64, warpgroups = 1>",
        "attention<threads = 32, vector = 1, rows = 16, columns = 16>",
        "attention<threads = 64, vector = 1, rows = 64, columns = 128, resident = 1>",
        "attention<threads = 256, vector = 1, rows = 64, columns = 32, split = 2>",
        "attention<threads = 128, vector = 1, rows = 32, columns = 64, split = 4>",
        "attention<threads = 128, vector = 1, rows = 64, columns = 32, software = 1>"})
    add({.tokens = 150}, causal(), "auto", schedule);
  add({.tokens = 70, .d = 96}, causal(), "software",
      "attention<threads = 64, vector = 1, rows = 16, columns = 32, split = 2>");
  for (const char *dtype : {"bf16", "f32"}) { // rows that lie apart, and begin anywhere
    add({}, causal({.dtype = dtype}));
    cases.back().layout = {/*padding=*/3, /*shift=*/1};
  }
  return cases;
}

/// What stands after attention: a gate and a residual, of half the head.
Program gated() {
  Builder b("gated");
  Dim tokens = b.dim("s");
  Sequence sequence;
  sequence.queries = b.codes("q", e4m3, {tokens, 4, 64});
  sequence.keys = b.codes("k", e4m3, {tokens, 2, 64});
  sequence.values = b.codes("v", e4m3, {tokens, 2, 64});
  const eider::Shape shape = {tokens, 4, 64};
  Value o = attention(sequence, {.causal = true});
  Value residual = b.inout("residual", bf16, shape);
  b.store(residual, o * sigmoid(b.input("gate", bf16, shape)) + residual);
  return b.build();
}
} // namespace

TEST(Prefill, AgreesWithTheReferenceOnTheDevice) {
  std::vector<matrix::Case> all = cases();
  const char *older = std::getenv("EIDER_TARGET"); // one that has no instructions for FP8
  std::erase_if(all, [&](const matrix::Case &made) {
    return older && (made.options.codec == "hardware" ||
                     made.options.schedule.find("warpgroups") != std::string::npos);
  });
  at_points::expectReference(all);
}

TEST(Prefill, WhatStandsAfterAgreesOnTheDevice) {
  matrix::Case made = prefill({.tokens = 150}, causal());
  const std::vector<HostTensor> ofOp = std::move(made.inputs);
  made.program = gated();
  made.options.dims.clear();
  made.dims = {{"s", 150}};
  made.inputs = inputsOf(made.program, made.dims, "normal", 5);
  at_points::expectReference({made});
}

/// Many tokens: largest scores that rise from tile to tile, and fall.
TEST(Prefill, BasesFollowTheScoresOnTheDevice) {
  for (const bool rises : {true, false}) {
    matrix::Case made =
        prefill({.tokens = 300, .heads = 1, .kvHeads = 1, .d = 32}, {.dtype = "f32"}, "software");
    for (int64_t token = 0; token < 300; ++token)
      for (int64_t i = 0; i < 32; ++i) {
        const int64_t step = (rises ? token : 299 - token) / 20; // powers of two, 1/128 to 128
        made.inputs[keys].data[token * 32 + i] = std::byte(0x08 * std::min<int64_t>(15, step));
        made.inputs[queries].data[token * 32 + i] = std::byte(0x38 + token % 2 * 0x80); // 1, -1
      }
    at_points::expectReference({made});
  }
}

/// Of one token the weights are its value's alone.
TEST(Prefill, OfOneTokenIsItsValue) {
  matrix::Case made =
      prefill({.tokens = 1, .heads = 2, .kvHeads = 1, .d = 32}, causal({.dtype = "f32"}));
  const float scale = 0.5f;
  write(made.inputs[valueScale], std::vector<float>{scale});
  std::vector<float> expected(2 * 32);
  for (int i = 0; i < 32; ++i) {
    made.inputs[values].data[i] = std::byte(0x38 + i % 2 * 8); // 1 and 2
    expected[i] = expected[32 + i] = scale * static_cast<float>(1 + i % 2);
  }
  EXPECT_THAT(floatsOf(runOnHost(made).at(0)),
              ::testing::Pointwise(::testing::FloatNear(1e-6f), expected));
}

/// A NaN of a key is all of the queries that meet it, and of their heads alone; of a query its own.
TEST(Prefill, NansReachWhatTheyMeet) {
  const Prompt shape = {.tokens = 20, .heads = 4, .kvHeads = 2, .d = 32};
  for (const int where : {int(queries), int(keys)}) {
    matrix::Case made = prefill(shape, causal({.dtype = "f32"}), "software");
    const int64_t heads = where == keys ? 2 : 4;
    made.inputs[where].data[(7 * heads + 1) * 32 + 5] = std::byte(0xff); // token 7, head 1
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    const std::vector<float> found = floatsOf(outputs.at(0));
    EXPECT_EQ(std::count_if(found.begin(), found.end(), [](float x) { return std::isnan(x); }),
              where == keys ? 13 * 2 * 32 : 32);
  }
}

/// The bound is tight enough to see what a kernel may get wrong.
TEST(Prefill, BoundsCatchMutations) {
  const Prompt shape = {.tokens = 90, .heads = 4, .kvHeads = 2, .d = 64, .scales = 2};
  const matrix::Case made = prefill(shape, causal({.dtype = "f32"}));
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  auto wrongAfter = [&](auto mutate) {
    matrix::Case mutated = made;
    mutate(mutated);
    return wrongOf(made, runOnHost(mutated));
  };
  const int64_t all = 90 * 4 * 64;
  for (const int scale : {int(queryScale), int(keyScale), int(valueScale)})
    EXPECT_GT(
        wrongAfter([&](matrix::Case &it) { write(it.inputs[scale], std::vector<float>{1.0f}); }), 0)
        << "a scale that is left out: " << scale;
  EXPECT_GT(wrongAfter([&](matrix::Case &it) {
              it.program = libraryOp("attention_prefill", {.dtype = "f32"});
            }),
            all / 2)
      << "later tokens that are met";
  EXPECT_GT(wrongAfter([&](matrix::Case &it) { // a tile's last token of one head
              for (int i = 0; i < 64; ++i)
                it.inputs[values].data[63 * 2 * 64 + i] = std::byte(0);
            }),
            all / 64)
      << "a token that is missing";
  EXPECT_GT(wrongAfter([&](matrix::Case &it) { // heads of keys that change places
              for (int token = 0; token < 90; ++token)
                std::swap_ranges(it.inputs[keys].data.begin() + token * 128,
                                 it.inputs[keys].data.begin() + token * 128 + 64,
                                 it.inputs[keys].data.begin() + token * 128 + 64);
            }),
            all / 2)
      << "another head's keys";
}

TEST(Prefill, TextsArePure) {
  for (const auto &[scaled, target] : {std::pair("0", "sm_90"), {"1", "sm_90"}, {"1", "sm_90a"}}) {
    const matrix::Case made = prefill({.d = 96}, causal({.settings = {{"scaled", scaled}}}));
    CompileOptions options = made.options;
    options.target = target;
    const std::string text = emit(made.program, options, Stage::Cuda);
    EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
    EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
  }
}

TEST(Prefill, RefusesWhatNoKernelHas) {
  auto errorOf = [](const Prompt &shape, const std::string &schedule = "",
                    const char *target = "sm_90") {
    const matrix::Case made = prefill(shape, {}, "auto", schedule);
    CompileOptions options = made.options;
    options.target = target;
    try {
      emit(made.program, options, Stage::Cuda);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(errorOf({}), IsEmpty());
  EXPECT_THAT(errorOf({.heads = 3}), HasSubstr("give a multiple"));
  EXPECT_THAT(errorOf({.d = 80}), HasSubstr("a multiple of 32 up to 512"));
  EXPECT_THAT(errorOf({.scales = 3}), HasSubstr("give one, or one a head"));
  EXPECT_THAT(errorOf({}, "map<threads = 32, vector = 4>"), HasSubstr("needs family attention"));
  EXPECT_THAT(errorOf({}, "attention<threads = 48, vector = 1, rows = 16, columns = 16>"),
              HasSubstr("whole warps"));
  EXPECT_THAT(errorOf({}, "attention<threads = 64, vector = 1, rows = 16, columns = 16>"),
              HasSubstr("rows are 16 or 32 times"));
  EXPECT_THAT(errorOf({}, "attention<threads = 32, vector = 1, rows = 16, columns = 24>"),
              HasSubstr("multiples of 16"));
  EXPECT_THAT(errorOf({}, "attention<threads = 128, vector = 1, rows = 128, columns = 16>"),
              HasSubstr("four times columns"));
  EXPECT_THAT(errorOf({.d = 512}, "attention<threads = 128, vector = 1, rows = 64, columns = 32>"),
              HasSubstr("fit its registers"));
  EXPECT_THAT(errorOf({.d = 512},
                      "attention<threads = 256, vector = 1, rows = 64, columns = 64, split = 2>"),
              HasSubstr("KiB of shared memory"));
  EXPECT_THAT(errorOf({.d = 256}, "", "sm_75"), IsEmpty());
  const char *ofWarpgroups =
      "attention<threads = 256, vector = 1, rows = 128, columns = 64, warpgroups = 1>";
  EXPECT_THAT(errorOf({}, ofWarpgroups, "sm_90a"), IsEmpty());
  EXPECT_THAT(errorOf({}, ofWarpgroups), HasSubstr("for sm_90a"));
  EXPECT_THAT(errorOf({.d = 512}, ofWarpgroups, "sm_90a"), HasSubstr("heads of up to 256"));
  EXPECT_THAT(errorOf({},
                      "attention<threads = 256, vector = 1, rows = 64, columns = 64, "
                      "warpgroups = 1>",
                      "sm_90a"),
              HasSubstr("has 64 rows"));
}

TEST(Prefill, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  Dim tokens = b.dim("s"), other = b.dim("other");
  Sequence sequence;
  sequence.queries = b.codes("q", e4m3, {tokens, 4, 64});
  sequence.keys = b.codes("k", e4m3, {tokens, 2, 64});
  sequence.values = b.codes("v", e5m2, {tokens, 2, 64});
  auto errorOf = [&] {
    try {
      attention(sequence);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(errorOf(),
              AllOf(HasSubstr("one shape and one format"), HasSubstr("PrefillTest.cpp")));
  sequence.values = b.codes("w", e4m3, {tokens, 2, 64});
  sequence.queries = b.codes("r", e4m3, {other, 4, 64});
  EXPECT_THAT(errorOf(), HasSubstr("give both one first and one last dim"));
  sequence.queries = b.codes("t", e5m2, {tokens, 4, 64});
  EXPECT_THAT(errorOf(), HasSubstr("two formats"));
  sequence.queries = b.input("x", bf16, {tokens, 4, 64});
  EXPECT_THAT(errorOf(), HasSubstr("the queries are no codes"));
  sequence.queries = b.codes("u", e4m3, {tokens, 4, 64});
  sequence.key_scale = b.input("k_scale", f32, {1});
  EXPECT_THAT(errorOf(), HasSubstr("some scales are given"));
  sequence.query_scale = b.input("q_scale", f32, {2});
  EXPECT_THAT(errorOf(), HasSubstr("give as many of each"));
}
