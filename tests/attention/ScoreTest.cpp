//===- ScoreTest.cpp - Scores that a function changes ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"

#include "eider/runtime.h"
#include "tests/points/Points.h"
#include "tests/text/Purity.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
const char *const ofWarpgroups = "attention<threads = 128, vector = 1, rows = 64, columns = 64, "
                                 "prefetch = 1, warpgroups = 1>";
const char *const ofSplits = "attention<threads = 64, vector = 1, rows = 16, columns = 32, "
                             "split = 2>";

/// What a test's function takes beside a Score: an input of one value a head, and a scalar.
struct Given {
  Value slopes, scalar;
};
using Function = std::function<Value(const Score &, const Given &)>;

Given givenOf(Builder &b, const Dim &heads) {
  return {b.input("slopes", f32, {heads}), b.scalar("scalar", 3.0f)};
}
ScoreFunction bound(const Function &function, const Given &given) {
  return [=](const Score &s) { return function(s, given); };
}

/// attention_decode with slopes, of f32, and a function of the test's own; what it takes may be
/// multiplied with the result.
Program decodeBy(const Function &function, int64_t window, bool multiplies = false,
                 int64_t scaleAxes = 0) {
  Builder b("decode_by");
  Dim sequences = b.dim("b"), heads = b.dim("h"), d = b.dim("d");
  Dim pages = b.dim("pages"), page = b.dim("page"), kv_heads = b.dim("kv_heads");
  Dim max_pages = b.dim("max_pages"), scales = b.dim("scales");
  Value q = b.input("q", f32, {sequences, heads, d});
  KVCache cache;
  cache.keys = b.codes("k_cache", e4m3, {pages, page, kv_heads, d});
  cache.values = b.codes("v_cache", e4m3, {pages, page, kv_heads, d});
  const std::vector<Dim> ofScales =
      scaleAxes == 2 ? std::vector<Dim>{pages, page, scales} : std::vector<Dim>{scales};
  cache.key_scale = b.input("k_scale", f32, ofScales);
  cache.value_scale = b.input("v_scale", f32, ofScales);
  cache.block_table = b.input("block_table", DType::i32, {sequences, max_pages});
  cache.lengths = b.input("lengths", DType::i32, {sequences});
  const Given given = givenOf(b, heads);
  Value o = attention(q, cache, {.window = window, .score = bound(function, given)});
  b.output("o", multiplies ? o * given.scalar : o);
  return b.build();
}

matrix::Case decodeBy(const Function &function, const Cache &shape, int64_t window = 0) {
  matrix::Case made = decode(
      shape, {.dtype = "f32", .settings = {{"alibi", "1"}, {"window", std::to_string(window)}}});
  made.program = decodeBy(function, window, /*multiplies=*/false, shape.scaleAxes);
  if (shape.scaleAxes == 0)
    write(made.inputs[kScale], std::vector<float>(size_t(shape.scales), 0.02f));
  return made;
}

/// attention_prefill with slopes likewise.
Program prefillBy(const Function &function, bool causal, bool multiplies = false) {
  Builder b("prefill_by");
  Dim tokens = b.dim("s"), heads = b.dim("h"), d = b.dim("d"), kv_heads = b.dim("kv_heads");
  Dim scales = b.dim("scales");
  Sequence sequence;
  sequence.queries = b.codes("q", e4m3, {tokens, heads, d});
  sequence.keys = b.codes("k", e4m3, {tokens, kv_heads, d});
  sequence.values = b.codes("v", e4m3, {tokens, kv_heads, d});
  sequence.query_scale = b.input("q_scale", f32, {scales});
  sequence.key_scale = b.input("k_scale", f32, {scales});
  sequence.value_scale = b.input("v_scale", f32, {scales});
  const Given given = givenOf(b, heads);
  Value o = attention(sequence, {.causal = causal, .score = bound(function, given)});
  b.output("o", multiplies ? o * given.scalar : o);
  return b.build();
}

matrix::Case prefillBy(const Function &function, const Prompt &shape, bool causal = true,
                       const std::string &schedule = "", const std::string &codec = "auto") {
  matrix::Case made =
      prefill(shape, {.dtype = "f32", .settings = {{"alibi", "1"}}}, codec, schedule);
  made.program = prefillBy(function, causal);
  return made;
}

/// ALiBi under a cap, both as the launch says.
Value cappedAndBiased(const Score &s, const Given &given) {
  const Value capped = given.scalar * tanh(s.value / given.scalar);
  return capped - s.of_head(given.slopes) * (s.query - s.key);
}
/// Of every function and comparison something, of all that there is.
Value ofEverything(const Score &s, const Given &given) {
  const Value far = (s.query - s.key) * 0.01;
  const Value bent = select(s.value < 0, 0.5 * s.value, silu(s.value) + gelu(s.value));
  const Value rest = exp(-far) + abs(erf(far)) - log(far + 1) + sqrt(far) * rsqrt(far + 1);
  const Value rounded = round_to(s.head * 0.1, bf16);
  return select(s.head == 1, max(bent, rest), bent + rounded * rest) + relu(far) +
         clamp(given.scalar, 0, 1) + s.of_head(given.slopes);
}
/// The first tokens are not met, and of head 1 none; the others have scores far below 0.
Value masked(const Score &s, const Given &given) {
  return select(s.key < 70, -infinity, select(s.head == 1, -infinity, s.value)) +
         s.of_head(given.slopes) - given.scalar * 40;
}
/// Every other token, by a score that is no infinity; the bases rise and fall by steps of their
/// own.
Value sawtooth(const Score &s, const Given &given) {
  const Value far = s.query - s.key;
  return select(far < given.scalar * 10, s.value, -1e9) + s.of_head(given.slopes) +
         select(s.key < 100, s.key, 200 - s.key);
}
const Function functions[] = {cappedAndBiased, ofEverything, masked, sawtooth};

OpParameters scored(const char *softcap, const char *alibi, OpParameters parameters = {}) {
  parameters.settings["softcap"] = softcap;
  parameters.settings["alibi"] = alibi;
  return parameters;
}

std::vector<matrix::Case> decodeCases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Cache &shape, const OpParameters &parameters,
                 const std::string &codec = "auto") {
    cases.push_back(decode(shape, parameters, codec, "", "normal", cases.size()));
    cases.back().forAnyRows = cases.size() % 2;
  };
  for (const auto &[softcap, alibi] : {std::pair("30", "0"), {"0", "1"}, {"5", "1"}})
    add({.scales = 2}, scored(softcap, alibi, {.dtype = "f32"}));
  for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>{1, 1}, {6, 2}, {9, 1}, {16, 1}})
    add({.heads = heads, .kvHeads = kvHeads}, scored("20", "1"));
  for (const int64_t d : {32, 128, 512})
    add({.lengths = {45, 3}, .d = d}, scored("20", "1", {.dtype = "f16"}));
  for (const int64_t page : {1, 3, 48})
    for (const char *window : {"0", "20"})
      add({.lengths = {77, 0, 20, 1, 400}, .page = page},
          scored("20", "1", {.settings = {{"window", window}}}));
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz"})
    add({}, scored("20", "1", {.format = format}), "software");
  for (const matrix::Layout layout : matrix::apart) {
    add({}, scored("20", "1"));
    cases.back().layout = layout;
  }
  for (const int64_t scaleAxes : {1, 2})
    add({.scales = 2, .scaleAxes = scaleAxes}, scored("5", "1"));
  for (const char *format : {"bf16", "f16"})
    add({}, scored("5", "1", {.format = format}));
  for (const Function &function : functions)
    cases.push_back(
        decodeBy(function, {.lengths = {150, 0, 1, 60, 333}, .heads = 4, .scaleAxes = 2}));
  for (const Function &function : functions)
    for (const int64_t window : {0, 90})
      cases.push_back(decodeBy(function, {.lengths = {150, 0, 1, 60, 333}, .heads = 4}, window));
  return cases;
}

std::vector<matrix::Case> prefillCases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Prompt &shape, OpParameters parameters, const char *causal,
                 const std::string &codec = "auto", const std::string &schedule = "") {
    parameters.settings["causal"] = causal;
    cases.push_back(prefill(shape, parameters, codec, schedule, "normal", cases.size()));
  };
  for (const char *causal : {"0", "1"}) {
    for (const auto &[softcap, alibi] : {std::pair("30", "0"), {"0", "1"}, {"5", "1"}})
      add({.scales = 2}, scored(softcap, alibi, {.dtype = "f32"}), causal);
    for (const int64_t d : {64, 128, 512}) {
      add({.tokens = 150, .heads = 2, .kvHeads = 1, .d = d}, scored("20", "1"), causal);
      add({.tokens = 150, .heads = 2, .kvHeads = 1, .d = d}, scored("20", "1"), causal, "software");
    }
    for (const int64_t tokens : {0, 1, 65})
      add({.tokens = tokens, .heads = 2, .kvHeads = 1, .d = 32}, scored("20", "1"), causal);
  }
  add({}, scored("20", "1", {.settings = {{"scaled", "0"}}}), "1");
  for (const matrix::Layout layout : matrix::apart) {
    add({}, scored("20", "1"), "1");
    cases.back().layout = layout;
  }
  for (const Function &function : functions)
    for (const char *schedule : {"", ofWarpgroups, ofSplits})
      for (const bool causal : {false, true})
        cases.push_back(prefillBy(function, {.tokens = 200, .heads = 2, .kvHeads = 1}, causal,
                                  schedule, schedule == ofWarpgroups ? "auto" : "software"));
  return cases;
}

/// Elements that are wrong where the function is another.
template <class Make> int64_t wrongBy(const matrix::Case &made, const Make &other) {
  matrix::Case mutated = made;
  mutated.program = other;
  return wrongOf(made, runOnHost(mutated));
}
} // namespace

TEST(Scores, DecodingAgreesWithTheReferenceOnTheDevice) {
  at_points::expectReference(decodeCases());
}

TEST(Scores, PrefillAgreesWithTheReferenceOnTheDevice) {
  at_points::expectReference(prefillCases());
}

/// A scalar that a function takes, and a kernel after it.
TEST(Scores, WhatStandsAroundAgreesOnTheDevice) {
  matrix::Case decoded = decodeBy(cappedAndBiased, Cache());
  decoded.program = decodeBy(cappedAndBiased, 0, /*multiplies=*/true);
  matrix::Case rows = prefillBy(cappedAndBiased, Prompt(), /*causal=*/true, "", "software");
  rows.program = prefillBy(cappedAndBiased, true, /*multiplies=*/true);
  at_points::expectReference({decoded, rows});
}

/// What none of a head's keys has weight in is zeros, of one sequence or query and not of another.
TEST(Scores, WhatMeetsNothingIsZeros) {
  const matrix::Case decoded = decodeBy(masked, {.lengths = {90, 60}, .heads = 2, .kvHeads = 1});
  std::vector<float> found = floatsOf(runOnHost(decoded).at(0));
  ASSERT_EQ(found.size(), 4u * 64);
  for (const size_t zeros : {1, 2, 3})
    EXPECT_THAT(std::vector<float>(found.begin() + zeros * 64, found.begin() + (zeros + 1) * 64),
                Each(0.0f));
  EXPECT_NE(found[0], 0.0f);
  for (const char *schedule : {"", ofWarpgroups, ofSplits}) {
    const matrix::Case rows =
        prefillBy(masked, {.tokens = 90, .heads = 2, .kvHeads = 1}, /*causal=*/true, schedule,
                  schedule == ofWarpgroups ? "auto" : "software");
    found = floatsOf(runOnHost(rows).at(0));
    EXPECT_THAT(std::vector<float>(found.begin(), found.begin() + 70 * 2 * 64), Each(0.0f));
    EXPECT_NE(found[70 * 2 * 64], 0.0f) << schedule;
    EXPECT_EQ(found[(70 * 2 + 1) * 64], 0.0f) << schedule;
  }
}

/// A NaN of a key is all of the queries that meet it, whatever the function is; what -Inf masks is
/// not met.
TEST(Scores, NansReachWhatTheyMeet) {
  for (const char *schedule : {"", ofWarpgroups, ofSplits}) {
    matrix::Case made =
        prefillBy(cappedAndBiased, {.tokens = 90, .heads = 2, .kvHeads = 1}, /*causal=*/true,
                  schedule, schedule == ofWarpgroups ? "auto" : "software");
    made.inputs[1].data[7 * 64 + 5] = std::byte(0x7f); // token 7
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    auto nans = [](const std::vector<float> &found) {
      return std::count_if(found.begin(), found.end(), [](float x) { return std::isnan(x); });
    };
    EXPECT_EQ(nans(floatsOf(outputs.at(0))), (90 - 7) * 2 * 64) << schedule;
    made.program = prefillBy(masked, true);
    EXPECT_EQ(nans(floatsOf(runOnHost(made).at(0))), 0) << schedule;
  }
}

/// The bound is tight enough to see a function that is left out, another head's value, and
/// positions that are off by one, where softmax does not take these for the same.
TEST(Scores, BoundsOfDecodingCatchMutations) {
  const Cache cache = {.lengths = {45}, .heads = 8, .kvHeads = 2, .d = 64};
  const int64_t all = 8 * 64, most = all * 3 / 4;
  matrix::Case made = decode(cache, scored("3", "1", {.dtype = "f32"}));
  write(made.inputs[kScale], std::vector<float>{0.3f});
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  auto op = [](const char *softcap) {
    return libraryOp("attention_decode", scored(softcap, "1", {.dtype = "f32"}));
  };
  EXPECT_GE(wrongBy(made, op("0")), all / 2) << "a softcap that is dropped";
  EXPECT_GE(wrongBy(made, op("4")), all / 2) << "another softcap";
  matrix::Case rotated = made;
  std::rotate(rotated.inputs.back().data.begin(), rotated.inputs.back().data.begin() + 4,
              rotated.inputs.back().data.end());
  EXPECT_GE(wrongOf(made, runOnHost(rotated)), most) << "another head's slope";
  EXPECT_GE(wrongWithout(made, made.inputs.size() - 1, 32, 0, 32), most) << "slopes dropped";

  auto bent = [](double ofKey, double ofQuery, double ofHead) {
    return [=](const Score &s, const Given &given) {
      const Value far = (s.query + ofQuery) - (s.key + ofKey);
      return s.value - far * far * 0.004 - (s.head + ofHead) * far * 0.01 +
             0 * (s.of_head(given.slopes) + given.scalar);
    };
  };
  const matrix::Case exact = decodeBy(bent(0, 0, 0), cache);
  ASSERT_EQ(wrongOf(exact, runOnHost(exact)), 0);
  EXPECT_GE(wrongBy(exact, decodeBy(bent(1, 0, 0), 0)), most) << "a key's position";
  EXPECT_GE(wrongBy(exact, decodeBy(bent(0, 1, 0), 0)), most) << "the query's position";
  EXPECT_GE(wrongBy(exact, decodeBy(bent(0, 0, 1), 0)), most) << "the head";
}

TEST(Scores, BoundsOfPrefillCatchMutations) {
  const Prompt shape = {.tokens = 90, .heads = 4, .kvHeads = 2, .d = 64, .scales = 2};
  const int64_t all = 90 * 4 * 64;
  auto parameters = [](const char *softcap) {
    return scored(softcap, "1", {.dtype = "f32", .settings = {{"causal", "1"}}});
  };
  const matrix::Case made = prefill(shape, parameters("1"));
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  for (const char *softcap : {"0", "2"})
    EXPECT_GE(wrongBy(made, libraryOp("attention_prefill", parameters(softcap))), all / 2)
        << "another softcap: " << softcap;
  matrix::Case rotated = made;
  std::rotate(rotated.inputs.back().data.begin(), rotated.inputs.back().data.begin() + 4,
              rotated.inputs.back().data.end());
  EXPECT_GE(wrongOf(made, runOnHost(rotated)), all / 2) << "another head's slope";

  auto bent = [](double ofKey, double ofQuery, double ofHead) {
    return [=](const Score &s, const Given &given) {
      const Value far = (s.query + ofQuery) - (s.key + ofKey);
      return s.value - far * far * 0.004 - (s.head + ofHead) * far * 0.02 +
             0 * (s.of_head(given.slopes) + given.scalar);
    };
  };
  for (const char *schedule : {"", ofWarpgroups, ofSplits}) {
    const matrix::Case exact = prefillBy(bent(0, 0, 0), shape, /*causal=*/true, schedule,
                                         schedule == ofWarpgroups ? "auto" : "software");
    ASSERT_EQ(wrongOf(exact, runOnHost(exact)), 0);
    EXPECT_GE(wrongBy(exact, prefillBy(bent(1, 0, 0), true)), all / 2) << "a key's position";
    EXPECT_GE(wrongBy(exact, prefillBy(bent(0, 1, 0), true)), all / 2) << "a query's position";
    EXPECT_GE(wrongBy(exact, prefillBy(bent(0, 0, 1), true)), all / 2) << "the head";
  }
}

/// The example of README.md is what the op's settings make.
TEST(Scores, TheExampleIsTheOp) {
  Builder b("attention_prefill");
  Dim tokens = b.dim("s"), heads = b.dim("h"), d = b.dim("d"), kv_heads = b.dim("kv_heads");
  Sequence sequence = {.queries = b.codes("q", e4m3, {tokens, heads, d}),
                       .keys = b.codes("k", e4m3, {tokens, kv_heads, d}),
                       .values = b.codes("v", e4m3, {tokens, kv_heads, d})};
  Value slopes = b.input("slopes", f32, {heads});
  auto score = [&](const Score &s) {
    Value capped = 30 * tanh(s.value * (1.0 / 30));
    return capped - s.of_head(slopes) * (s.query - s.key); // ALiBi
  };
  b.output("o", attention(sequence, {.causal = true, .score = score}), bf16);
  const OpParameters parameters =
      scored("30", "1", {.settings = {{"causal", "1"}, {"scaled", "0"}}});
  EXPECT_EQ(b.build().text(), libraryOp("attention_prefill", parameters).text());
}

/// A function that gives the score itself is none.
TEST(Scores, TheScoreItselfIsNoFunction) {
  CompileOptions options = decode({}).options;
  options.target = "sm_90";
  auto same = [](const Score &s, const Given &given) {
    s.of_head(given.slopes);
    return s.value;
  };
  auto text = [&](const Function &function) {
    return emit(decodeBy(function, 0), options, Stage::Cuda);
  };
  EXPECT_THAT(text(cappedAndBiased), HasSubstr("eider::scored(q, score_of)"));
  EXPECT_THAT(text(same), ::testing::Not(HasSubstr("score_of")));
}

/// A program with a function reads back as it is written, with its names.
TEST(Scores, TextsOfProgramsReadBack) {
  for (const Program &program : {decodeBy(ofEverything, 0), prefillBy(masked, true)}) {
    EXPECT_EQ(parseProgram(program.text(), "again.mlir").text(), program.text());
    EXPECT_THAT(program.text(),
                AllOf(HasSubstr("%score: f32, %query: f32, %key: f32, %head: f32, %slopes"),
                      HasSubstr("eider.yield")));
  }
}

TEST(Scores, TextsArePure) {
  for (const Function &function : functions)
    for (const char *target : {"sm_80", "sm_90a"}) {
      CompileOptions options = prefill({}).options;
      options.target = target;
      CompileOptions ofDecode = decode({}).options;
      ofDecode.target = target;
      for (const std::string &text : {emit(prefillBy(function, true), options, Stage::Cuda),
                                      emit(decodeBy(function, 0), ofDecode, Stage::Cuda)}) {
        EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
        EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
      }
    }
}

TEST(Scores, NvrtcCompilesTheTexts) {
  Turns turns({"sm_75", "sm_90a", "sm_80"});
  for (const int64_t d : {64, 128, 512})
    expectNvrtc(libraryOp("attention_prefill", scored("30", "1")), prefill({.d = d}).options,
                turns.next());
  for (const Function &function : functions) {
    expectNvrtc(decodeBy(function, 0), decode({.heads = 16, .kvHeads = 1}).options, turns.next());
    expectNvrtc(prefillBy(function, true), prefill({}).options, turns.next());
  }
}

/// What a function may not be, said in its own words, and where attention stands.
TEST(Scores, RefusesWhatIsNoFunctionOfNumbers) {
  Builder b("wrong"), other("other");
  Dim tokens = b.dim("s"), heads = b.dim("h");
  Sequence sequence;
  sequence.queries = b.codes("q", e4m3, {tokens, heads, 64});
  sequence.keys = b.codes("k", e4m3, {tokens, 2, 64});
  sequence.values = b.codes("v", e4m3, {tokens, 2, 64});
  const Value slopes = b.input("slopes", f32, {heads}), few = b.input("few", f32, {2});
  const Value halves = b.input("halves", bf16, {heads}), scalar = b.scalar("cap", 3);
  const Value twice = scalar * 2, elsewhere = other.scalar("cap", 3);
  const Value count = b.integer("count", 3);
  auto errorOf = [&](const ScoreFunction &score) {
    try {
      attention(sequence, {.score = score});
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request);
      return std::string(error.what());
    }
    return std::string();
  };
  std::optional<Score> kept;
  EXPECT_EQ(errorOf([&](const Score &s) {
              kept = s;
              return scalar * tanh(s.value) + s.of_head(slopes);
            }),
            "");
  EXPECT_EQ(errorOf([&](const Score &) { return scalar; }), "");
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value + kept->key; }),
              AllOf(HasSubstr("a score function that has returned"), HasSubstr("ScoreTest.cpp")));
  EXPECT_THAT(errorOf([&](const Score &) { return kept->of_head(slopes); }),
              HasSubstr("the score function has returned"));
  EXPECT_THROW(kept->value + 1.0, Error);
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value * slopes; }),
              AllOf(HasSubstr("computes with a tensor [h]"), HasSubstr("Score::of_head")));
  EXPECT_THAT(errorOf([&](const Score &) { return slopes; }),
              HasSubstr("the score function gives [h]"));
  EXPECT_THAT(errorOf([&](const Score &s) { return broadcast(s.value, {tokens}); }),
              HasSubstr("the score function gives [s]"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value * twice; }),
              HasSubstr("computed outside of it"));
  EXPECT_THAT(errorOf([&](const Score &) { return elsewhere; }),
              HasSubstr("a value of another Builder"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value + elsewhere; }),
              HasSubstr("of two Builders"));
  EXPECT_THAT(errorOf([&](const Score &) { return Value(); }), HasSubstr("an empty value"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value + count; }),
              HasSubstr("an operand is not an index"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.of_head(few); }),
              AllOf(HasSubstr("the values are [2]"), HasSubstr("one value a query head: [h]")));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.of_head(halves); }),
              HasSubstr("input of f32"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.of_head(slopes + 1.0); }),
              HasSubstr("no input of f32"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value + b.scalar("late", 1); }),
              HasSubstr("the score function records eider.scalar"));
  EXPECT_THAT(errorOf([&](const Score &s) {
                b.output("early", slopes);
                return s.value;
              }),
              HasSubstr("the score function records eider.output"));
  EXPECT_THAT(errorOf([&](const Score &s) { return s.value + std::nan(""); }),
              HasSubstr("the number nan is none of f32"));

  // What failed leaves nothing behind.
  b.output("o", attention(sequence, {.score = [&](const Score &s) { return s.value * scalar; }}));
  const std::string text = b.build().text();
  EXPECT_THAT(text, AllOf(HasSubstr("eider.yield"), ::testing::Not(HasSubstr("late"))));
}
