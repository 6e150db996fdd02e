//===- CodesTest.cpp - Queries that meet keys as codes --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"
#include "tests/attention/Cases.h"
#include "tests/points/Points.h"
#include "tests/text/Purity.h"

#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {
/// The inputs of attention_prefill.
enum { queries, keys, values, queryScale, keyScale, valueScale };

/// Schedules of heads up to 128, up to 256 and longer; each next without tokens that come ahead.
const char *const ofShort = "attention<threads = 64, vector = 1, rows = 64, columns = 64, "
                            "prefetch = 1, codes = 1>",
                  *const ofLong = "attention<threads = 64, vector = 1, rows = 32, columns = 32, "
                                  "prefetch = 1, codes = 1>",
                  *const ofSplits = "attention<threads = 64, vector = 1, rows = 16, columns = 32, "
                                    "split = 2, prefetch = 1, codes = 1>",
                  *const waiting = "attention<threads = 64, vector = 1, rows = 32, columns = 16, "
                                   "codes = 1>",
                  *const splitAndWaiting = "attention<threads = 64, vector = 1, rows = 16, "
                                           "columns = 32, split = 2, codes = 1>";

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Prompt &shape, const OpParameters &parameters, const char *schedule) {
    cases.push_back(prefill(shape, parameters, "auto", schedule, "normal", cases.size()));
  };
  for (const char *causal : {"0", "1"}) {
    for (const int64_t d : {32, 64, 96, 128})
      for (const char *schedule : {ofShort, waiting})
        add({.tokens = 150, .heads = 2, .kvHeads = 1, .d = d}, causally(causal, {.dtype = "f32"}),
            schedule);
    for (const int64_t d : {160, 192, 256})
      for (const char *schedule : {ofLong, waiting})
        add({.tokens = 70, .heads = 1, .kvHeads = 1, .d = d}, causally(causal, {.dtype = "f32"}),
            schedule);
    for (const int64_t d : {288, 384, 512})
      for (const char *schedule : {ofSplits, splitAndWaiting})
        add({.tokens = 70, .heads = 1, .kvHeads = 1, .d = d}, causally(causal, {.dtype = "f32"}),
            schedule);
    for (const char *schedule : {ofShort, ofSplits, waiting}) {
      add({.heads = 6, .kvHeads = 2, .scales = 2}, causally(causal), schedule);
      add({.d = 128}, causally(causal, {.dtype = "f16", .format = "e5m2"}), schedule);
      add({.heads = 2, .kvHeads = 1, .lengths = {65, 0, 1, 130, 2}}, causally(causal), schedule);
      add({}, causally(causal, {.settings = {{"alibi", "1"}, {"softcap", "20"}}}), schedule);
      add({}, causally(causal, {.settings = {{"scaled", "0"}}}), schedule);
      for (const matrix::Layout layout : matrix::apart) {
        add({}, causally(causal), schedule); // rows that lie apart, and begin anywhere
        cases.back().layout = layout;
      }
    }
  }
  for (const int64_t tokens : {0, 1, 16, 63, 64, 65})
    add({.tokens = tokens, .heads = 2, .kvHeads = 1, .d = 32}, causally("1"), ofShort);
  for (const char *format : {"e4m3", "e5m2"}) {
    cases.push_back(prefill({.tokens = 40}, {.format = format}, "auto", ofShort, "specials"));
    add({.quantised = true}, {.block = "1x64", .fromFormat = format}, ofShort);
  }
  return cases;
}

std::string textFor(const char *target, const Prompt &shape, const OpParameters &parameters = {},
                    const std::string &codec = "auto", const std::string &schedule = "") {
  return attention_cases::textFor(prefill(shape, parameters, codec, schedule), target);
}
} // namespace

TEST(PrefillOfCodes, AgreesWithTheReferenceOnTheDevice) {
  if (std::getenv("EIDER_TARGET"))
    GTEST_SKIP() << "an older target has no products of codes";
  at_points::expectReference(cases());
}

/// Of a score whose first product is 2^17 the others, of the second 128 along the length, are all
/// below what one sum of codes keeps beside it: they count where each 128 are a sum of their own.
TEST(PrefillOfCodes, Each128AreASumOfTheirOwn) {
  for (const char *schedule : {ofLong, waiting, ofSplits}) {
    matrix::Case made = prefill({.tokens = 2, .heads = 1, .kvHeads = 1, .d = 256},
                                causally("0", {.dtype = "f32"}), "auto", schedule);
    for (const int scale : {int(queryScale), int(keyScale), int(valueScale)})
      write(made.inputs[scale], std::vector<float>{scale == int(queryScale) ? 0.03125f : 1.0f});
    for (const int input : {int(queries), int(keys), int(values)})
      std::fill(made.inputs[input].data.begin(), made.inputs[input].data.end(), std::byte(0));
    for (int token = 0; token < 2; ++token) {
      for (const int input : {int(queries), int(keys)})
        made.inputs[input].data[token * 256] = std::byte(0x7e); // 448
      for (int i = 128; i < 256; ++i)
        made.inputs[queries].data[token * 256 + i] = std::byte(0x40); // 2
    }
    for (int i = 128; i < 256; ++i) { // token 0's alone
      made.inputs[keys].data[i] = std::byte(0x40);
      made.inputs[values].data[i] = std::byte(0x38); // 1
    }
    const std::vector<float> found = floatsOf(runOnHost(made).at(0));
    const float more = std::exp(128 * 4 * 0.03125f / 16);
    EXPECT_NEAR(found[128], more / (1 + more), 1e-3) << schedule;
    EXPECT_EQ(found[0], 0.0f);
  }
}

/// A NaN of a key is all of the queries that meet it, and of their heads alone; of a query its own.
TEST(PrefillOfCodes, NansReachWhatTheyMeet) {
  const Prompt shape = {.tokens = 20, .heads = 4, .kvHeads = 2, .d = 64};
  for (const char *schedule : {ofShort, splitAndWaiting})
    for (const int where : {int(queries), int(keys)}) {
      matrix::Case made = prefill(shape, causally("1", {.dtype = "f32"}), "auto", schedule);
      const int64_t heads = where == keys ? 2 : 4;
      made.inputs[where].data[(7 * heads + 1) * 64 + 5] = std::byte(0xff); // token 7, head 1
      const std::vector<HostTensor> outputs = runOnHost(made);
      EXPECT_EQ(wrongOf(made, outputs), 0);
      const std::vector<float> found = floatsOf(outputs.at(0));
      EXPECT_EQ(std::count_if(found.begin(), found.end(), [](float x) { return std::isnan(x); }),
                where == keys ? 13 * 2 * 64 : 64);
    }
}

/// By default where the target has an instruction, and the program such queries and keys.
TEST(PrefillOfCodes, AreForTargetsThatMultiplyThem) {
  const char *meets = "/*meets_codes=*/true";
  for (const char *target : {"sm_89", "sm_120", "sm_120a", "sm_121"}) {
    for (int64_t d = 32; d <= 512; d += 32)
      EXPECT_THAT(textFor(target, {.d = d}), HasSubstr(meets)) << target << " " << d;
    EXPECT_THAT(textFor(target, {}, {.format = "e5m2"}), HasSubstr(meets));
    EXPECT_THAT(textFor(target, {}, {}, "software"), Not(HasSubstr(meets)));
    EXPECT_THAT(textFor(target, {}, {.format = "e4m3fnuz"}), Not(HasSubstr(meets)));
    EXPECT_THAT(textFor(target, {}, {.settings = {{"float_queries", "1"}}}), Not(HasSubstr(meets)));
  }
  for (const char *target : {"sm_75", "sm_80", "sm_86", "sm_90", "sm_90a", "sm_100a", "host"})
    EXPECT_THAT(textFor(target, {}), Not(HasSubstr(meets))) << target;
  for (const char *target : {"sm_90", "sm_90a", "sm_100", "sm_110a"})
    EXPECT_THAT(textFor(target, {}, {}, "auto", ofShort), HasSubstr(meets)) << target;
}

TEST(PrefillOfCodes, RefusesWhatCannotMeetSo) {
  auto errorOf = [](const char *target, const OpParameters &parameters = {},
                    const std::string &codec = "auto", const std::string &schedule = ofShort) {
    return attention_cases::errorOf(prefill({}, parameters, codec, schedule), target);
  };
  EXPECT_THAT(errorOf("sm_89"), IsEmpty());
  const auto isRefused = AllOf(HasSubstr("queries and keys of E4M3 or E5M2 meet as codes by the "
                                         "hardware codec, from sm_89 on: leave codes out"),
                               HasSubstr("codes = 1"));
  EXPECT_THAT(errorOf("sm_80"), isRefused);
  EXPECT_THAT(errorOf("sm_89", {}, "software"), isRefused);
  EXPECT_THAT(errorOf("sm_89", {.format = "e4m3fnuz"}), isRefused);
  EXPECT_THAT(errorOf("sm_89", {.settings = {{"float_queries", "1"}}}), isRefused);
  EXPECT_THAT(errorOf("sm_89", {}, "auto",
                      "attention<threads = 64, vector = 1, rows = 32, columns = 32, codes = 1, "
                      "software = 1>"),
              isRefused);
  EXPECT_THAT(errorOf("sm_89", {}, "auto",
                      "attention<threads = 64, vector = 1, rows = 32, columns = 32, codes = 2>"),
              HasSubstr("codes is 1, or 0"));
  EXPECT_THAT(errorOf("sm_90a", {}, "auto",
                      "attention<threads = 256, vector = 1, rows = 128, columns = 64, prefetch = "
                      "1, warpgroups = 1, codes = 1>"),
              HasSubstr("warpgroups multiply codes anyway: leave codes out"));
}

TEST(PrefillOfCodes, TextsArePure) {
  const std::string text = textFor("sm_89", {.d = 96, .lengths = {30, 40}}, causally("1"));
  EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
  EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
}

TEST(PrefillOfCodes, NvrtcCompilesTheTexts) {
  for (const int64_t d : {32, 96, 128, 256, 512}) {
    SCOPED_TRACE("heads of " + std::to_string(d));
    const bool isEvery = d == 128 || d == 512; // target: of others one by each kind of products
    for (const char *target : {"sm_89", "sm_120", "sm_121a"})
      if (isEvery || target == std::string("sm_89"))
        expectNvrtc(prefill({.d = d}).program, prefill({.d = d}).options, target);
    const matrix::Case given =
        prefill({.d = d}, causally("1", {.format = "e5m2"}), "auto", d > 256 ? ofSplits : ofLong);
    for (const char *target : {"sm_90", "sm_90a", "sm_100a", "sm_110"})
      if (isEvery || target == std::string("sm_90"))
        expectNvrtc(given.program, given.options, target);
  }
}
