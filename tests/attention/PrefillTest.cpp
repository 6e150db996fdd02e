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
  for (const int64_t d : {384, 512}) { // whose queries stay in shared memory
    add({.tokens = 200, .heads = 2, .kvHeads = 1, .d = d});
    add({.tokens = 150, .heads = 2, .kvHeads = 2, .d = d}, causal({.format = "e5m2"}));
  }
  for (const int64_t d : {160, 224}) // of which a thread has an odd number of pieces
    add({.tokens = 70, .heads = 1, .kvHeads = 1, .d = d}, {}, "auto",
        "attention<threads = 128, vector = 1, rows = 64, columns = 64, prefetch = 1, warpgroups = "
        "1>");
  add({.tokens = 150, .d = 128}, causal(), "auto",
      "attention<threads = 512, vector = 1, rows = 128, columns = 64, split = 2, prefetch = 1, "
      "warpgroups = 1>");
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
       {"attention<threads = 128, vector = 1, rows = 64, columns = 64, prefetch = 1, warpgroups = "
        "1>",
        "attention<threads = 256, vector = 1, rows = 128, columns = 64, prefetch = 1, warpgroups = "
        "1>",
        "attention<threads = 32, vector = 1, rows = 16, columns = 16>",
        "attention<threads = 64, vector = 1, rows = 64, columns = 128, resident = 1, prefetch = 1>",
        "attention<threads = 256, vector = 1, rows = 64, columns = 32, split = 2>",
        "attention<threads = 128, vector = 1, rows = 32, columns = 64, split = 4>",
        "attention<threads = 128, vector = 1, rows = 64, columns = 32, software = 1>"})
    add({.tokens = 150}, causal(), "auto", schedule);
  add({.tokens = 70, .d = 96}, causal(), "software",
      "attention<threads = 64, vector = 1, rows = 16, columns = 32, split = 2>");
  // Of so few tokens that each warp has the scores of all, as on targets of 64 KiB.
  for (const char *ahead : {"", ", prefetch = 1"})
    for (const int64_t d : {96, 512})
      add({.tokens = 150, .d = d}, *ahead ? causal() : OpParameters(), "software",
          "attention<threads = 64, vector = 1, rows = 16, columns = 16, split = 2" +
              std::string(ahead) + ">");
  for (const char *dtype : {"bf16", "f32"}) { // rows that lie apart, and begin anywhere
    for (const matrix::Layout layout : matrix::apart) {
      add({}, causal({.dtype = dtype}));
      cases.back().layout = layout;
    }
  }
  return cases;
}

/// What stands after attention: a gate and a residual.
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

TEST(Prefill, AgreesWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

TEST(Prefill, WhatStandsAfterAgreesOnTheDevice) {
  matrix::Case made = prefill({.tokens = 150}, causal());
  made.program = gated();
  made.options.dims.clear();
  made.dims = {{"s", 150}};
  made.inputs = inputsOf(made.program, made.dims, "normal", 5);
  matrix::Case without = made;
  for (matrix::Case *one : {&made, &without})
    for (HostTensor &input : one->inputs)
      if (input.dtype == DType::e4m3)
        for (std::byte &code : input.data)
          code &= std::byte(0xbf); // of magnitudes below 2, for they have no scales
  for (HostTensor &input : without.inputs)
    if (input.name == "v")
      std::fill(input.data.begin(), input.data.end(), std::byte(0));
  EXPECT_GT(wrongOf(made, runOnHost(without)), 150 * 4 * 64 / 2) << "attention that gives zeros";
  at_points::expectReference({made});
}

/// Scores of one element that rise from 0.1 to 30 as tokens go by, by powers of two, and fall: sums
/// are scaled anew where they rise by more than a kernel leaves room for, and tokens count to the
/// end, and from the beginning.
TEST(Prefill, BasesFollowTheScoresOnTheDevice) {
  std::vector<matrix::Case> all;
  for (const bool rises : {true, false})
    for (const auto &[codec, schedule] :
         {std::pair("software", ""),
          {"auto", "attention<threads = 128, vector = 1, rows = 64, columns = 64, prefetch = 1, "
                   "warpgroups = 1>"},
          {"software",
           "attention<threads = 64, vector = 1, rows = 16, columns = 32, split = 2>"}}) {
      matrix::Case made = prefill({.tokens = 300, .heads = 1, .kvHeads = 1, .d = 32},
                                  {.dtype = "f32"}, codec, schedule);
      for (const int scale : {int(queryScale), int(keyScale)})
        write(made.inputs[scale], std::vector<float>{scale == int(keyScale) ? 0.66f : 1.0f});
      std::fill(made.inputs[queries].data.begin(), made.inputs[queries].data.end(), std::byte(0));
      std::fill(made.inputs[keys].data.begin(), made.inputs[keys].data.end(), std::byte(0));
      for (int64_t token = 0; token < 300; ++token) {
        const int64_t step = (rises ? token : 299 - token) / 34; // 1 to 256
        made.inputs[keys].data[token * 32] = std::byte(0x38 + 0x08 * step);
        made.inputs[queries].data[token * 32] = std::byte(0x38);
      }
      matrix::Case without = made; // the first of the tokens that weigh most
      std::fill_n(without.inputs[values].data.begin() + (rises ? 280 : 0) * 32, 32, std::byte(0));
      EXPECT_GE(wrongOf(made, runOnHost(without)), 300 * 32 / 4) << schedule;
      all.push_back(std::move(made));
    }
  at_points::expectReference(all);
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
  EXPECT_GT(wrongAfter([&](matrix::Case &it) { // what follows the last whole tile
              std::fill_n(it.inputs[values].data.end() - 2 * 64, 2 * 64, std::byte(0));
            }),
            4 * 64 / 16)
      << "the last token";
  // A query in the place of its neighbour meets one token more or less than it should.
  const std::vector<HostTensor> right = runOnHost(made);
  for (const bool isLater : {true, false}) {
    matrix::Case moved = made;
    auto &from = moved.inputs[queries].data;
    const size_t row = 4 * 64, bytes = row * sizeof(float);
    auto turn = [](auto &data, size_t each, bool down) {
      std::rotate(data.begin(), down ? data.end() - each : data.begin() + each, data.end());
    };
    turn(from, row, isLater);
    std::vector<HostTensor> outputs = runOnHost(moved);
    turn(outputs[0].data, bytes, !isLater);
    // One query went around the end.
    const size_t around = isLater ? outputs[0].data.size() - bytes : 0;
    std::copy_n(right[0].data.begin() + around, bytes, outputs[0].data.begin() + around);
    EXPECT_GT(wrongOf(made, outputs), all / 4) << (isLater ? "one token more" : "one less");
  }
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

TEST(Prefill, NvrtcCompilesTheTexts) {
  const std::pair<int64_t, const char *> widest[] = {{128, "sm_75"},  {256, "sm_80"},
                                                     {512, "sm_75"},  {512, "sm_89"},
                                                     {512, "sm_90a"}, {256, "sm_120a"}};
  for (const auto &[d, target] : widest)
    expectNvrtc(prefill({.d = d}).program, prefill({.d = d}).options, target);
  expectNvrtc(3, [](size_t i, const std::string &) {
    const int64_t widths[] = {32, 96, 128};
    return prefill({.d = widths[i]}, i == 1 ? causal() : OpParameters());
  });
}

/// What warpgroups multiply is no text for a target without them.
TEST(Prefill, ATextForWarpgroupsIsForNoOtherTarget) {
  CacheOptions noCache;
  noCache.enabled = false;
  CompileOptions options = prefill({}).options;
  options.target = "sm_90a";
  const std::string text = emit(libraryOp("attention_prefill", {}), options, Stage::Cuda);
  ASSERT_THAT(text, HasSubstr("WarpgroupPrefill"));
  try {
    assemble(text, "sm_90", ImageKind::Cubin, noCache);
    FAIL() << "compiled";
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Machine)
      GTEST_SKIP() << error.what();
    EXPECT_THAT(error.what(), HasSubstr("compile for sm_90a"));
  }
}

TEST(Prefill, RefusesWhatNoKernelHas) {
  auto errorOf = [](const Prompt &shape, const std::string &schedule = "",
                    const char *target = "sm_90") {
    return attention_cases::errorOf(prefill(shape, {}, "auto", schedule), target);
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
              HasSubstr("rows are at most 64 of so many columns"));
  EXPECT_THAT(errorOf({.d = 512}, "attention<threads = 128, vector = 1, rows = 64, columns = 32>"),
              HasSubstr("a thread would hold"));
  EXPECT_THAT(errorOf({.d = 512},
                      "attention<threads = 256, vector = 1, rows = 64, columns = 64, split = 2>"),
              HasSubstr("KiB of shared memory"));
  EXPECT_THAT(errorOf({.d = 512}, "", "sm_75"), IsEmpty());
  const char *ofWarpgroups = "attention<threads = 256, vector = 1, rows = 128, columns = 64, "
                             "prefetch = 1, warpgroups = 1>";
  EXPECT_THAT(errorOf({}, ofWarpgroups, "sm_90a"), IsEmpty());
  EXPECT_THAT(errorOf({}, ofWarpgroups), HasSubstr("for sm_90a"));
  EXPECT_THAT(errorOf({.d = 288}, ofWarpgroups, "sm_90a"), HasSubstr("heads of up to 256"));
  EXPECT_THAT(errorOf({.d = 512}, ofWarpgroups, "sm_90a"), HasSubstr("split = 2 has two"));
  EXPECT_THAT(errorOf({},
                      "attention<threads = 256, vector = 1, rows = 64, columns = 64, "
                      "prefetch = 1, warpgroups = 1>",
                      "sm_90a"),
              HasSubstr("has 64 rows"));
}

/// Of all heads that the op has.
TEST(Prefill, EveryTargetHasAScheduleOfItsOwn) {
  for (const char *target : {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a",
                             "sm_100", "sm_110", "sm_120", "host"})
    for (int64_t d = 32; d <= 512; d += 32) {
      CompileOptions options = prefill({.d = d}).options;
      options.target = target;
      EXPECT_NO_THROW(emit(libraryOp("attention_prefill", {}), options, Stage::Cuda))
          << target << " " << d;
    }
}

/// A given schedule is for the kernel that attends, whatever stands after it.
TEST(Prefill, AScheduleIsOfTheKernelThatAttends) {
  CompileOptions options;
  options.target = "sm_90";
  options.schedule = "attention<threads = 32, vector = 1, rows = 16, columns = 16>";
  EXPECT_THAT(emit(gated(), options, Stage::Cuda), HasSubstr("/*rows=*/16,"));
  options.schedule = "attention<threads = 32, vector = 1, rows = 24, columns = 16>";
  EXPECT_THROW(emit(gated(), options, Stage::Cuda), Error);
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
  EXPECT_THAT(errorOf(), AllOf(HasSubstr("one shape, but for the last dim, and one format"),
                               HasSubstr("PrefillTest.cpp")));
  sequence.values = b.codes("w", e4m3, {tokens, 2, 64});
  sequence.queries = b.codes("r", e4m3, {other, 4, 64});
  EXPECT_THAT(errorOf(), HasSubstr("give both one first and one last dim"));
  sequence.queries = b.codes("t", e5m2, {tokens, 4, 64});
  EXPECT_THAT(errorOf(), HasSubstr("two formats"));
  sequence.queries = b.codes("u", e4m3, {tokens, 4, 64});
  sequence.key_scale = b.input("k_scale", f32, {1});
  EXPECT_THAT(errorOf(), HasSubstr("some scales are given"));
  sequence.query_scale = b.input("q_scale", f32, {2});
  EXPECT_THAT(errorOf(), HasSubstr("give as many of each"));
}
