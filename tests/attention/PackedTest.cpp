//===- PackedTest.cpp - Sequences one after the other ---------------------===//
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
#include <gmock/gmock.h>
#include <numeric>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {
/// The inputs of attention_prefill over packed sequences.
enum { queries, keys, values, queryScale, keyScale, valueScale, starts };

const char *const ofWarps = "attention<threads = 64, vector = 1, rows = 32, columns = 32>",
                  *const ofSplits = "attention<threads = 64, vector = 1, rows = 16, columns = 32, "
                                    "split = 2>",
                  *const ofCodes = "attention<threads = 64, vector = 1, rows = 32, columns = 32, "
                                   "prefetch = 1, codes = 1>",
                  *const ofWarpgroups = "attention<threads = 256, vector = 1, rows = 128, columns "
                                        "= 64, prefetch = 1, warpgroups = 1>";

/// Of each kernel: with sequences of no token and of one, and such as end in a tile, or with it.
std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Prompt &shape, const OpParameters &parameters,
                 const std::string &schedule = "", const std::string &codec = "auto") {
    cases.push_back(prefill(shape, parameters, codec, schedule, "normal", cases.size()));
  };
  const std::vector<int64_t> mixed = {65, 0, 1, 130, 2, 63, 128, 0};
  for (const char *causal : {"0", "1"}) {
    for (const char *schedule : {"", ofWarps, ofSplits, ofWarpgroups})
      add({.heads = 2, .kvHeads = 1, .d = 32, .lengths = mixed}, causally(causal), schedule);
    for (const std::vector<int64_t> &lengths :
         {std::vector<int64_t>{1}, {0}, {0, 0}, {0, 5}, {5, 0}, {64, 64, 64}, {200}})
      add({.heads = 1, .kvHeads = 1, .d = 32, .lengths = lengths}, causally(causal));
    add({.heads = 1, .kvHeads = 1, .d = 32, .lengths = std::vector<int64_t>(100, 3)},
        causally(causal));
    for (const int64_t d : {64, 128, 512})
      add({.heads = 4, .kvHeads = 2, .d = d, .scales = 2, .lengths = {70, 3, 40}},
          causally(causal, {.dtype = "f32"}));
    add({.lengths = {70, 3, 40}}, causally(causal, {.format = "e5m2"}), "", "software");
    add({.lengths = {70, 3, 40}},
        causally(causal, {.settings = {{"alibi", "1"}, {"softcap", "20"}}}));
    add({.lengths = {70, 3, 40}}, causally(causal, {.settings = {{"scaled", "0"}}}));
    for (const matrix::Layout layout : matrix::apart) {
      add({.lengths = {70, 3, 40}}, causally(causal)); // rows that lie apart, and begin anywhere
      cases.back().layout = layout;
    }
  }
  return cases;
}

/// The inputs of one sequence, as a case of its own.
matrix::Case alone(const matrix::Case &packed, const Prompt &shape, size_t sequence,
                   const OpParameters &parameters, const std::string &schedule) {
  const auto first = shape.lengths.begin();
  const int64_t before =
      std::accumulate(first, first + static_cast<std::ptrdiff_t>(sequence), int64_t(0));
  Prompt one = shape;
  one.tokens = shape.lengths[sequence];
  one.lengths.clear();
  matrix::Case made = prefill(one, parameters, "auto", schedule);
  for (const int input : {int(queries), int(keys), int(values)}) {
    const size_t row = made.inputs[input].data.size() / static_cast<size_t>(one.tokens);
    std::copy_n(packed.inputs[input].data.begin() + static_cast<std::ptrdiff_t>(before * row),
                made.inputs[input].data.size(), made.inputs[input].data.begin());
  }
  made.inputs[valueScale] = packed.inputs[valueScale];
  return made;
}
} // namespace

TEST(Packed, AgreesWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

/// A sequence among others that are NaN has the bits that it has alone.
TEST(Packed, NoSequenceSeesAnother) {
  const Prompt shape = {.heads = 2, .kvHeads = 1, .d = 32, .lengths = {33, 70, 1, 29}};
  const int64_t tokens = 133, ofToken = 2 * 32;
  struct Pair {
    int64_t before, length;
    size_t among, alone;
  };
  matrix::Harness harness("host");
  std::vector<Pair> pairs;
  for (const char *causal : {"0", "1"})
    for (const char *schedule : {ofWarps, ofSplits, ofCodes, ofWarpgroups}) {
      const OpParameters parameters = causally(causal, {.dtype = "f32"});
      const matrix::Case whole = prefill(shape, parameters, "auto", schedule);
      int64_t before = 0;
      for (size_t sequence = 0; sequence < shape.lengths.size(); ++sequence) {
        const int64_t length = shape.lengths[sequence];
        matrix::Case made = whole;
        for (const int input : {int(queries), int(keys), int(values)}) {
          std::vector<std::byte> &codes = made.inputs[input].data;
          const auto row = static_cast<int64_t>(codes.size()) / tokens;
          std::fill(codes.begin(), codes.begin() + before * row, std::byte(0x7f));
          std::fill(codes.begin() + (before + length) * row, codes.end(), std::byte(0x7f));
        }
        pairs.push_back({before, length, harness.add(made),
                         harness.add(alone(whole, shape, sequence, parameters, schedule))});
        before += length;
      }
    }
  harness.build();
  for (const Pair &pair : pairs) {
    const std::vector<float> found = floatsOf(harness.run(pair.among).at(0));
    const auto first = found.begin() + pair.before * ofToken;
    EXPECT_EQ(std::vector<float>(first, first + pair.length * ofToken),
              floatsOf(harness.run(pair.alone).at(0)));
    EXPECT_EQ(std::count_if(found.begin(), found.end(), [](float x) { return std::isnan(x); }),
              (tokens - pair.length) * ofToken);
  }
}

/// The bound is tight enough to see a start that is off by one, and one that is not there.
TEST(Packed, BoundsCatchMutations) {
  for (const char *causal : {"0", "1"}) {
    const Prompt shape = {.heads = 2, .kvHeads = 1, .d = 64, .lengths = {40, 30, 50}};
    const matrix::Case made = prefill(shape, causally(causal, {.dtype = "f32"}));
    ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
    auto wrongBy = [&](const std::vector<int32_t> &other) {
      matrix::Case mutated = made;
      write(mutated.inputs[starts], other);
      return wrongOf(made, runOnHost(mutated));
    };
    const int64_t ofToken = 2 * 64;
    EXPECT_GT(wrongBy({0, 41, 70, 120}), 10 * ofToken) << "a sequence that begins late";
    EXPECT_GT(wrongBy({0, 39, 70, 120}), 10 * ofToken) << "a sequence that begins early";
    EXPECT_GT(wrongBy({0, 70, 70, 120}), 20 * ofToken) << "two sequences as one";
  }
}

/// Starts of no sequences keep to the tokens that there are: far away is no memory.
TEST(Packed, OtherStartsStayInside) {
  constexpr int32_t far = 1 << 30;
  for (const char *schedule : {ofWarps, ofCodes, ofWarpgroups}) {
    const matrix::Case made = prefill({.heads = 1, .kvHeads = 1, .d = 32, .lengths = {40, 30}},
                                      causally("0"), "auto", schedule);
    for (const std::vector<int32_t> &other :
         {std::vector<int32_t>{0, far, 70}, {-far, 40, 70}, {0, 40, far}, {far, far, far}}) {
      matrix::Case mutated = made;
      write(mutated.inputs[starts], other);
      EXPECT_EQ(runOnHost(mutated).size(), 1U);
    }
  }
}

/// Starts that do not rise from 0 to the number of tokens are no sequences.
TEST(Packed, TheReferenceRefusesOtherStarts) {
  matrix::Case made = prefill({.heads = 1, .kvHeads = 1, .d = 32, .lengths = {4, 3}}, {});
  for (const std::vector<int32_t> &other :
       {std::vector<int32_t>{1, 4, 7}, {0, 4, 6}, {0, 8, 7}, {0, -1, 7}}) {
    write(made.inputs[starts], other);
    try {
      interpret(made.program, made.inputs);
      ADD_FAILURE() << "no error";
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("do not rise from 0 to 7"));
    }
  }
}

TEST(Packed, RefusesWhatAreNoStarts) {
  Builder b("wrong");
  Dim tokens = b.dim("s"), count = b.dim("starts");
  Sequence sequence = {.queries = b.codes("q", e4m3, {tokens, 4, 64}),
                       .keys = b.codes("k", e4m3, {tokens, 2, 64}),
                       .values = b.codes("v", e4m3, {tokens, 2, 64})};
  auto errorOf = [&](const Value &given) {
    sequence.starts = given;
    try {
      attention(sequence);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(errorOf(b.input("floats", f32, {count})),
              AllOf(HasSubstr("the starts are no integers"), HasSubstr("PackedTest.cpp")));
  EXPECT_THAT(errorOf(b.input("pairs", DType::i32, {count, 2})),
              HasSubstr("give them as [sequences + 1]"));
  EXPECT_THAT(errorOf(b.input("cu_seqlens", DType::i64, {count})), IsEmpty());
}

TEST(Packed, TextsArePure) {
  for (const char *target : {"sm_80", "sm_90a"}) {
    const matrix::Case made = prefill({.lengths = {3}}, causally("1"));
    CompileOptions options = made.options;
    options.target = target;
    const std::string text = emit(made.program, options, Stage::Cuda);
    EXPECT_THAT(text, HasSubstr("eider::packed(cu_seqlens, starts, s)"));
    EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
    EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
  }
}

TEST(Packed, NvrtcCompilesTheTexts) {
  for (const char *target : {"sm_75", "sm_80", "sm_90a", "sm_120a"}) {
    const matrix::Case made = prefill({.d = 128, .lengths = {3}}, causally("1"));
    expectNvrtc(made.program, made.options, target);
  }
}
