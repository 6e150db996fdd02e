//===- ValuesTest.cpp - Values of other columns than keys -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"
#include "eider/dsl.h"
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
/// As models have them: rows that begin with their values, and keys and values apart.
Prompt latents(int64_t tokens, int64_t heads = 2) {
  return {.tokens = tokens, .heads = heads, .kvHeads = 1, .d = 576, .valueColumns = 512};
}
Prompt apart(int64_t tokens, int64_t heads = 2) {
  return {.tokens = tokens, .heads = heads, .kvHeads = heads, .d = 192, .valueDim = 128};
}
/// Of few columns.
Prompt narrow(int64_t tokens) {
  return {.tokens = tokens, .heads = 4, .kvHeads = 2, .d = 96, .valueColumns = 64};
}

const char *const ofWarps = "attention<threads = 64, vector = 1, rows = 64, columns = 64, "
                            "prefetch = 1>",
                  *const ofSplits = "attention<threads = 64, vector = 1, rows = 16, columns = 32, "
                                    "split = 2>",
                  *const waiting = "attention<threads = 64, vector = 1, rows = 32, columns = 16>",
                  *const ofCodes = "attention<threads = 64, vector = 1, rows = 32, columns = 32, "
                                   "prefetch = 1, codes = 1>",
                  *const ofWarpgroups = "attention<threads = 128, vector = 1, rows = 64, "
                                        "columns = 64, prefetch = 1, warpgroups = 1>",
                  *const codesThatWait = "attention<threads = 64, vector = 1, rows = 16, "
                                         "columns = 32, split = 2, codes = 1>",
                  *const ofFew = "attention<threads = 64, vector = 1, rows = 16, columns = 16, "
                                 "split = 2, prefetch = 1>",
                  *const ofFewCodes = "attention<threads = 64, vector = 1, rows = 16, "
                                      "columns = 16, split = 2, prefetch = 1, codes = 1>";

OpParameters floats(const char *dtype, OpParameters parameters = {}) {
  parameters.dtype = dtype;
  parameters.settings["float_queries"] = "1";
  return parameters;
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Prompt &shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "") {
    cases.push_back(prefill(shape, parameters, codec, schedule, "normal", cases.size()));
  };
  for (const char *causal : {"0", "1"}) {
    for (const Prompt &shape : {latents(70), apart(150)}) {
      for (const char *format : {"e4m3", "e5m2"})
        add(shape, causally(causal, {.dtype = "f32", .format = format}));
      add(shape, causally(causal), "software");
      for (const char *dtype : {"bf16", "f16"})
        add(shape, causally(causal, floats(dtype)));
    }
    Prompt packed = narrow(0);
    packed.lengths = {65, 0, 1, 30};
    for (const char *schedule :
         {ofWarps, ofSplits, waiting, ofCodes, codesThatWait, ofFew, ofFewCodes}) {
      const bool areCodes = std::string(schedule).find("codes") != std::string::npos;
      for (const Prompt &shape :
           {narrow(150), packed, Prompt{.tokens = 100, .d = 64, .scales = 2, .valueDim = 96},
            Prompt{.tokens = 100, .d = 128, .valueDim = 32},
            Prompt{.tokens = 100, .d = 64, .valueDim = 32}}) {
        add(shape, causally(causal, {.dtype = "f32"}), "auto", schedule);
        if (areCodes)
          continue;
        add(shape, causally(causal), "software", schedule);
        for (const char *dtype : {"bf16", "f16"})
          add(shape, causally(causal, floats(dtype)), "auto", schedule);
      }
      for (const matrix::Layout layout : matrix::apart) {
        add(narrow(100), causally(causal), "auto",
            schedule); // rows that lie apart, and begin anywhere
        cases.back().layout = layout;
      }
    }
    add(latents(40), causally(causal), "auto", codesThatWait);
    for (const char *schedule : {waiting, ofCodes}) // of which sm_75 has room for the first
      add(apart(70), causally(causal), "auto", schedule);
    for (const auto &[d, columns] : {std::pair(64, 96), {64, 32}, {256, 128}, {96, 224}})
      add({.tokens = 150, .d = d, .valueDim = columns}, causally(causal, {.dtype = "f32"}), "auto",
          ofWarpgroups);
    add(narrow(100), causally(causal, {.settings = {{"alibi", "1"}, {"softcap", "20"}}}));
    add(narrow(100), causally(causal, {.settings = {{"scaled", "0"}}}));
  }
  for (const auto &[d, columns] : {std::pair(32, 32), {160, 128}, {288, 256}, {512, 512}})
    add({.tokens = 40, .heads = 1, .kvHeads = 1, .d = d, .valueColumns = columns}, causally("1"));
  add({.tokens = 40, .heads = 1, .kvHeads = 1, .d = 1024, .valueColumns = 512}, causally("1"));
  Prompt quantised = narrow(70);
  quantised.quantised = true;
  for (const char *block : {"1x64", "1x*"})
    add(quantised, {.block = block});
  return cases;
}

std::string textFor(const Prompt &shape, const char *target, const OpParameters &parameters = {},
                    const std::string &schedule = "") {
  return attention_cases::textFor(prefill(shape, parameters, "auto", schedule), target);
}
} // namespace

TEST(PrefillValues, AgreeWithTheReferenceOnTheDevice) {
  std::vector<matrix::Case> all = cases();
  std::erase_if(all, [](const matrix::Case &made) { // what an older target has not
    const char *older = std::getenv("EIDER_TARGET");
    const bool isOfBf16 =
        made.inputs.front().dtype == bf16 && older && older == std::string("sm_75");
    const bool isTooLong =
        older && older == std::string("sm_75") && made.options.dims.at("d") > 576;
    return older &&
           (isOfBf16 || isTooLong || made.options.schedule.find("codes") != std::string::npos);
  });
  at_points::expectReference(all);
}

/// One query meets one key: the result is the row's beginning, or the value.
TEST(PrefillValues, OfOneTokenAreTheResult) {
  for (const Prompt &shape : {latents(1), apart(1)})
    for (const char *schedule : {"", shape.d == 576 ? codesThatWait : ofCodes}) {
      matrix::Case made = prefill(shape, {.dtype = "f32"}, "auto", schedule);
      const bool isLatent = shape.valueColumns != 0;
      const float scale = 0.5f;
      write(inputNamed(made, isLatent ? "kv_scale" : "v_scale"), std::vector<float>{scale});
      HostTensor &values = inputNamed(made, isLatent ? "kv" : "v");
      for (size_t i = 0; i < values.data.size(); ++i)
        values.data[i] = std::byte(0x38 + i % 3 * 8); // 1, 2 and 4
      const auto columns = static_cast<size_t>(isLatent ? 512 : 128);
      const std::vector<float> found = floatsOf(runOnHost(made).at(0));
      ASSERT_EQ(found.size(), 2 * columns);
      for (size_t i = 0; i < found.size(); ++i) {
        const size_t column = isLatent ? i % columns : i; // of each head, or of the one there is
        EXPECT_FLOAT_EQ(found[i], scale * std::exp2(static_cast<float>(column % 3)));
      }
    }
}

/// Of a key that is no value's NaN is all that meets it; of a value that is no key's its column.
TEST(PrefillValues, NansReachWhatTheyMeet) {
  for (const char *schedule : {ofWarps, waiting, ofCodes, codesThatWait}) {
    const Prompt ofTheirOwn = {.tokens = 20, .heads = 2, .kvHeads = 1, .d = 64, .valueDim = 32};
    for (const Prompt &shape : {narrow(20), ofTheirOwn}) {
      const bool isLatent = shape.valueColumns != 0;
      matrix::Case made = prefill(shape, causally("0", {.dtype = "f32"}), "auto", schedule);
      HostTensor &tensor = inputNamed(made, isLatent ? "kv" : "v");
      // Token 7 of the first head of keys.
      tensor.data[isLatent ? 7 * 2 * 96 + 70 : 7 * 32 + 5] = std::byte(0xff);
      const std::vector<HostTensor> outputs = runOnHost(made);
      EXPECT_EQ(wrongOf(made, outputs), 0);
      const std::vector<float> found = floatsOf(outputs.at(0));
      EXPECT_EQ(std::count_if(found.begin(), found.end(), [](float x) { return std::isnan(x); }),
                isLatent ? 20 * 2 * 64 : 20 * 2)
          << schedule;
    }
  }
}

/// What lies behind a sequence's last token, here another's NaN, is none of its own.
TEST(PrefillValues, NothingBehindTheEndIsMet) {
  for (const char *schedule : {ofWarps, waiting, ofCodes, codesThatWait, ofWarpgroups})
    for (Prompt shape : {narrow(0), Prompt{.heads = 2, .kvHeads = 2, .d = 64, .valueDim = 32}}) {
      if (schedule == ofWarpgroups && shape.valueColumns != 0)
        continue; // which are part of keys
      shape.lengths = {33, 40};
      const matrix::Case made = prefill(shape, causally("0", {.dtype = "f32"}), "auto", schedule);
      matrix::Case other = made;
      for (HostTensor &input : other.inputs)
        if (sizeOf(input.dtype) == 1) {
          const auto first = static_cast<std::ptrdiff_t>(input.data.size() / 73 * 33);
          std::fill(input.data.begin() + first, input.data.end(), std::byte(0x7f));
        }
      std::vector<float> expected = floatsOf(runOnHost(made).at(0)),
                         found = floatsOf(runOnHost(other).at(0));
      expected.resize(expected.size() / 73 * 33);
      found.resize(expected.size());
      EXPECT_EQ(found, expected) << schedule;
    }
}

/// The bound is tight enough to see columns that are left out, of keys and of values.
TEST(PrefillValues, BoundsCatchMutations) {
  const matrix::Case made = prefill(narrow(90), causally("1", {.dtype = "f32"}));
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  auto wrongWithout = [&](size_t first, size_t count) {
    matrix::Case mutated = made;
    HostTensor &rows = inputNamed(mutated, "kv");
    for (size_t row = 0; row < rows.data.size(); row += 96)
      std::fill_n(rows.data.begin() + row + first, count, std::byte(0));
    return wrongOf(made, runOnHost(mutated));
  };
  const int64_t all = 90 * 4 * 64;
  EXPECT_GT(wrongWithout(64, 32), all / 2) << "keys that end with their values";
  EXPECT_GT(wrongWithout(48, 16), all / 4) << "the last values";
}

TEST(PrefillValues, TextsReadOneTensor) {
  const std::string text = textFor(latents(10, 16), "sm_90", causally("1"));
  EXPECT_THAT(text, AllOf(HasSubstr("const e4m3 *kv,"), Not(HasSubstr("*v,")),
                          HasSubstr("/*value_dim=*/512, /*latent=*/true>"),
                          HasSubstr("(o, q, q_scale, kv, kv_scale, kv, kv_scale, s)")));
  EXPECT_THAT(textFor(latents(10, 16), "sm_90", floats("bf16")),
              HasSubstr("/*latent=*/true, /*apart=*/true>"));
  EXPECT_THAT(textFor(latents(10, 16), "sm_120"),
              HasSubstr("/*meets_codes=*/true, /*value_dim=*/512,"));
  EXPECT_THAT(textFor(apart(10), "sm_90a"),
              AllOf(HasSubstr("WarpgroupPrefill<"), HasSubstr("/*value_dim=*/128>")));
  EXPECT_THAT(textFor(apart(10), "sm_90"),
              AllOf(HasSubstr("AttentionPrefill<"), HasSubstr("/*value_dim=*/128>")));
  for (const char *target : {"sm_80", "sm_90a"})
    for (const Prompt &shape : {latents(10, 16), apart(10), narrow(10)}) {
      const std::string other = textFor(shape, target, floats("bf16"));
      EXPECT_THAT(text::impurities(other), IsEmpty()) << other;
      EXPECT_THAT(text::wideLines(other), IsEmpty()) << other;
    }
}

TEST(PrefillValues, NvrtcCompilesTheTexts) {
  Turns ofCodes({"sm_75", "sm_89", "sm_90a", "sm_120a"}),
      ofFloats({"sm_80", "sm_75", "sm_90a", "sm_100"});
  for (int round = 0; round < 2; ++round)
    for (const Prompt &shape : {latents(10, 16), apart(10), narrow(10)}) {
      const matrix::Case made = prefill(shape, causally("1"));
      expectNvrtc(made.program, made.options, ofCodes.next());
      const std::string &target = ofFloats.next();
      const matrix::Case given = prefill(shape, floats(target == "sm_75" ? "f16" : "bf16"));
      expectNvrtc(given.program, given.options, target);
    }
}

TEST(PrefillValues, EveryTargetHasAScheduleOfItsOwn) {
  for (const char *target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"})
    for (const Prompt &shape : {latents(10, 16), apart(10), narrow(10)})
      for (const char *dtype : {"e4m3", "bf16", "f16"}) {
        if (target == std::string("sm_75") && dtype == std::string("bf16"))
          continue; // no products of it
        const OpParameters asked = dtype == std::string("e4m3") ? OpParameters() : floats(dtype);
        EXPECT_EQ(attention_cases::errorOf(prefill(shape, asked), target), "")
            << target << " " << shape.d << " " << dtype;
      }
}

TEST(PrefillValues, LatentsThatSharedMemoryHasNoRoomForAreRefused) {
  const Prompt longest = {.tokens = 10, .heads = 2, .kvHeads = 1, .d = 1024, .valueColumns = 512};
  EXPECT_THAT(attention_cases::errorOf(prefill(longest), "sm_75"),
              HasSubstr("KiB of shared memory, of which the target has 64"));
  EXPECT_EQ(attention_cases::errorOf(prefill(longest), "sm_86"), "");
}

TEST(PrefillValues, RefusesWhatNoKernelHas) {
  auto errorOf = [](const Prompt &shape, const std::string &schedule = "",
                    const OpParameters &parameters = {}) {
    try {
      return attention_cases::errorOf(prefill(shape, parameters, "auto", schedule), "sm_90a");
    } catch (const Error &error) { // of what no program can be asked for
      return std::string(error.what());
    }
  };
  Prompt shape = latents(10);
  shape.d = 1056;
  EXPECT_THAT(errorOf(shape), HasSubstr("keys of 1056 elements that are values, too"));
  shape.d = 256;
  EXPECT_THAT(errorOf(shape), AllOf(HasSubstr("512 of their keys' 256 columns"),
                                    HasSubstr("a multiple of 32 up to 512")));
  shape.valueColumns = 40;
  EXPECT_THAT(errorOf(shape), HasSubstr("40 of their keys' 256 columns"));
  shape.valueColumns = 64;
  shape.valueDim = 64;
  EXPECT_THAT(errorOf(shape), HasSubstr("leave --set value_columns or --set value_dim out"));
  shape = apart(10);
  shape.valueDim = 40;
  EXPECT_THAT(errorOf(shape), HasSubstr("of heads of 40 elements"));
  EXPECT_THAT(errorOf(narrow(10), ofWarpgroups), HasSubstr("which are no part of keys"));
  EXPECT_THAT(errorOf(latents(10), "attention<threads = 256, vector = 1, rows = 64, "
                                   "columns = 24, split = 2>"),
              HasSubstr("columns, the tokens at a time"));
  EXPECT_THAT(errorOf(narrow(10), "attention<threads = 128, vector = 1, rows = 128, columns = 32>"),
              HasSubstr("rows are at most 64 of so many columns"));
}

TEST(PrefillValues, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  const Dim tokens = b.dim("s"), other = b.dim("other");
  Sequence sequence = {.queries = b.codes("q", e4m3, {tokens, 4, 96}),
                       .keys = b.codes("kv", e4m3, {tokens, 1, 96})};
  auto errorOf = [&] {
    try {
      attention(sequence);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(errorOf(), "");
  sequence.value_columns = 64;
  EXPECT_EQ(errorOf(), "");
  for (const int64_t columns : {int64_t(97), int64_t(-1)}) {
    sequence.value_columns = columns;
    EXPECT_THAT(errorOf(), AllOf(HasSubstr("are " + std::to_string(columns) + " columns of keys"),
                                 HasSubstr("ValuesTest.cpp")));
  }
  sequence.value_columns = 64;
  const Value scale = b.input("scale", f32, {1});
  sequence.query_scale = sequence.key_scale = scale;
  EXPECT_EQ(errorOf(), "");
  sequence.value_scale = scale;
  EXPECT_THAT(errorOf(), HasSubstr("leave value_scale out"));
  sequence.values = b.codes("v", e4m3, {tokens, 1, 32});
  EXPECT_THAT(errorOf(), HasSubstr("leave values or value_columns out"));
  sequence.value_columns = 0;
  EXPECT_EQ(errorOf(), "");
  for (const Value &values :
       {b.codes("w", e4m3, {tokens, 2, 96}), b.codes("x", e5m2, {tokens, 1, 96}),
        b.codes("y", e4m3, {other, 1, 96})}) {
    sequence.values = values;
    EXPECT_THAT(errorOf(), HasSubstr("one shape, but for the last dim, and one format"));
  }
}
