//===- LatentTest.cpp - Caches whose keys begin with their values ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"

#include "tests/points/Points.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
/// Of 512 columns of values, 64 more of keys, and one head of a cache, as models have it.
Cache latents(const std::vector<int64_t> &lengths, int64_t heads, int64_t page = 16) {
  return {.lengths = lengths,
          .heads = heads,
          .kvHeads = 1,
          .d = 576,
          .page = page,
          .valueColumns = 512};
}
/// Of few.
Cache narrow(const std::vector<int64_t> &lengths, int64_t heads, int64_t page = 16) {
  return {
      .lengths = lengths, .heads = heads, .kvHeads = 1, .d = 96, .page = page, .valueColumns = 64};
}

const char *const byThemselves = "attention<threads = 128, vector = 1, blocks = 16, prefetch = 3>",
                  *const ofPairs = "attention<threads = 64, vector = 1, split = 2, blocks = 16, "
                                   "prefetch = 3>",
                  *const ofTwo = "attention<threads = 64, vector = 1, split = 2, blocks = 1, "
                                 "prefetch = 2>",
                  *const ofEight = "attention<threads = 256, vector = 1, split = 8, blocks = 3, "
                                   "prefetch = 4>";

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Cache &shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "",
                 const std::string &values = "normal") {
    cases.push_back(decode(shape, parameters, codec, schedule, values, cases.size()));
    cases.back().forAnyRows = cases.size() % 2; // by the schedule for many sequences, too
  };
  for (const int64_t heads : {1, 8, 9, 16, 24, 32, 128})
    add(latents({45, 0, 3}, heads), {.dtype = heads == 16 ? "f32" : "bf16"});
  for (const int64_t page : {1, 3, 64})
    add(latents({100, 17}, 16, page));
  for (const int64_t axes : {1, 2})
    for (const char *dtype : {"bf16", "f32"}) {
      Cache cache = latents({70, 0, 33}, 32, axes == 1 ? 3 : 64);
      cache.scaleAxes = axes;
      add(cache, {.dtype = dtype, .settings = {{"window", "40"}}});
    }
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *dtype : {"f16", "f32"})
      add(latents({45, 3}, 16), {.dtype = dtype, .format = format}, "software");
  for (const char *format : {"e4m3", "e5m2"})
    add(narrow({45, 3}, 16), {.format = format}, "hardware", "", "specials");
  for (const char *format : {"bf16", "f16"})
    for (const char *dtype : {"bf16", "f16", "f32"}) {
      add(latents({45, 3}, 16), {.dtype = dtype, .format = format});
      add(narrow({45, 3, 100}, 20, 5), {.dtype = dtype, .format = format}, "auto", ofPairs);
    }
  for (auto [d, columns] : {std::pair<int64_t, int64_t>{32, 32},
                            {96, 32},
                            {160, 128},
                            {512, 512},
                            {608, 96},
                            {1024, 512},
                            {640, 256}}) {
    Cache cache = latents({45, 3}, 16);
    cache.d = d;
    cache.valueColumns = columns;
    add(cache, {.dtype = d == 160 ? "f32" : "bf16"});
  }
  for (const char *schedule : {byThemselves, ofPairs, ofTwo})
    for (const int64_t axes : {0, 2}) {
      Cache cache = narrow({700, 0, 33, 1}, 20);
      cache.scaleAxes = axes;
      add(cache, {}, "auto", schedule);
    }
  add(latents({300, 1}, 16), {}, "auto", ofEight);
  add(latents({300, 1}, 8), {}, "auto",
      "attention<threads = 64, vector = 1, blocks = 16, prefetch = 3>");
  for (const char *window : {"1", "16", "20", "100"})
    add(narrow({77, 0, 20, 400}, 40), {.settings = {{"window", window}, {"softcap", "20"}}});
  add(narrow({77, 0, 20, 400}, 48), {.settings = {{"alibi", "1"}, {"softcap", "30"}}});
  Cache several = narrow({77, 130}, 80); // of a cache of two heads, a scale each
  several.kvHeads = several.scales = 2;
  add(several);
  several.scaleAxes = 2;
  add(several);
  for (const int64_t scales : {1, 2}) { // values of their own, for more queries than a block has
    add({.lengths = {77, 0, 130}, .heads = 40, .scales = scales});
    add({.lengths = {77, 0, 130}, .heads = 34, .scales = scales, .scaleAxes = 2});
    add({.lengths = {77, 0, 130}, .heads = 64, .d = 128, .scales = scales}, {.dtype = "f32"},
        "auto", "attention<threads = 128, vector = 1, split = 4, blocks = 16, prefetch = 3>");
  }
  for (const char *dtype : {"bf16", "f32"}) { // rows that lie apart, and begin anywhere
    for (const matrix::Layout layout : matrix::apart) {
      add(narrow({77, 0, 20}, 32), {.dtype = dtype});
      cases.back().layout = layout;
    }
    for (const matrix::Layout layout : matrix::apart) {
      add(latents({20, 33}, 16),
          {.dtype = dtype, .format = dtype == std::string("f32") ? "bf16" : "e4m3"});
      cases.back().layout = layout;
    }
  }
  return cases;
}
} // namespace

TEST(Latents, AgreeWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

/// One query meets one key: the result is the row's beginning.
TEST(Latents, OfOneTokenAreItsValue) {
  matrix::Case made = decode(latents({1, 0}, 2), {.dtype = "f32"});
  const float scale = 0.5f;
  write(made.inputs[kvScale], std::vector<float>{scale});
  HostTensor &cache = made.inputs[kvCache];
  std::vector<float> expected(2 * 2 * 512);
  for (size_t at = 0; at < cache.data.size(); at += 576)
    for (int i = 0; i < 576; ++i)
      cache.data[at + i] = std::byte(0x38 + i % 2 * 8); // 1 and 2
  for (int i = 0; i < 2 * 512; ++i)
    expected[i] = scale * static_cast<float>(1 + i % 2);
  EXPECT_EQ(floatsOf(runOnHost(made).at(0)), expected);
}

/// One cache is both, by scales of their own: latents, and as much shared memory as such have.
TEST(Latents, OfTwoScalesAgree) {
  const matrix::Case made =
      decode({.lengths = {45, 0, 300}, .heads = 8, .kvHeads = 1, .d = 32, .valueColumns = 32});
  Builder b("two_scales");
  const Dim sequences = b.dim("b"), pages = b.dim("pages"), most = b.dim("max_pages");
  KVCache cache;
  cache.keys = b.codes("kv_cache", e4m3, {pages, 16, 1, 32});
  cache.values = cache.keys;
  cache.key_scale = b.input("k_scale", f32, {1});
  cache.value_scale = b.input("v_scale", f32, {1});
  cache.block_table = b.input("block_table", DType::i32, {sequences, most});
  cache.lengths = b.input("lengths", DType::i32, {sequences});
  b.output("o", attention(b.input("q", bf16, {sequences, 8, 32}), cache), bf16);
  matrix::Case apart =
      caseOf(b.build(),
             {{"b", 3}, {"pages", made.dims.at("pages")}, {"max_pages", made.dims.at("max_pages")}},
             "b", "attention<threads = 256, vector = 1, blocks = 128, prefetch = 4>");
  for (const HostTensor &given : made.inputs)
    for (HostTensor &input : apart.inputs)
      if (input.name == given.name)
        input.data = given.data;
  EXPECT_EQ(wrongOf(apart, runOnHost(apart)), 0);
}

/// The bound is so tight that what a kernel leaves out shows: of queries and keys the last columns,
/// which have no values, the first of both, and a token.
TEST(Latents, BoundsCatchMutations) {
  matrix::Case made = decode(latents({45}, 16, 48), {.dtype = "f32"});
  write(made.inputs[kvScale], std::vector<float>{0.01f});
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  const int64_t all = 16 * 512, row = 576;
  EXPECT_GE(wrongWithout(made, qOfLatents, row * 4, 512 * 4, 64 * 4), all / 2) << "columns of keys";
  EXPECT_GE(wrongWithout(made, qOfLatents, row * 4, (576 - 4) * 4, 4 * 4), all / 4) << "the last";
  EXPECT_GE(wrongWithout(made, kvCache, row, 572, 4), all / 4) << "the ends of keys";
  EXPECT_GE(wrongWithout(made, kvCache, row, 508, 4), 16 * 4) << "the ends of values";
  EXPECT_GE(wrongWithout(made, kvCache, 48 * row, 7 * row, row), all / 3) << "a token";
  for (const int32_t length : {44, 46, 32}) {
    matrix::Case other = made;
    write(other.inputs[kvScale + 2], std::vector<int32_t>{length});
    EXPECT_GE(wrongOf(made, runOnHost(other)), all / 2) << length;
  }
}

/// A row is read once: one input has keys and values, and a NaN beyond the values reaches all.
TEST(Latents, NansReachWhatTheyMeet) {
  for (const int column : {5, 90}) {
    matrix::Case made = decode(narrow({20, 20}, 4), {.dtype = "f32"}, "software");
    const auto *table = reinterpret_cast<const int32_t *>(made.inputs[kvScale + 1].data.data());
    made.inputs[kvCache].data[(table[0] * 16 + 3) * 96 + column] = std::byte(0xff);
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    int64_t nans = 0;
    for (const float x : floatsOf(outputs.at(0)))
      nans += std::isnan(x);
    EXPECT_EQ(nans, 4 * 64) << "all of the sequence's";
  }
}

/// What one scatter of rows writes, a scale each, is a cache with scales of tokens: of sequences of
/// one token the result is the beginning of the row that was appended, as its code has it.
TEST(Latents, AreWhatOneScatterAppends) {
  Cache shape = narrow(std::vector<int64_t>(3, 1), 16);
  shape.scaleAxes = 2;
  matrix::Case read = decode(shape, {.dtype = "f32"});
  const int64_t slots = read.dims.at("pages") * 16;
  Builder b("append");
  const Dim tokens = b.dim("tokens"), all = b.dim("slots");
  const Value row = b.input("row", f32, {tokens, 96});
  b.scatter("kv_cache", quantize(row, e4m3, {.block = {1, whole}}),
            b.input("slot", DType::i32, {tokens}), all);
  matrix::Case append = caseOf(b.build(), {{"tokens", 3}, {"slots", slots}}, "tokens");
  const auto *table = reinterpret_cast<const int32_t *>(read.inputs[kvScale + 1].data.data());
  const int64_t most = read.dims.at("max_pages");
  write(inputNamed(append, "slot"),
        std::vector<int32_t>{table[0] * 16, table[most] * 16, table[2 * most] * 16});
  const std::vector<HostTensor> written = runOnHost(append);
  for (const auto &[to, from] :
       {std::pair("kv_cache", "kv_cache"), {"kv_scale", "kv_cache_scale"}}) {
    HostTensor &tensor = inputNamed(read, to);
    const HostTensor &given = *std::ranges::find(written, std::string(from), &HostTensor::name);
    ASSERT_EQ(tensor.data.size(), given.data.size());
    tensor.data = given.data;
  }
  const std::vector<HostTensor> outputs = runOnHost(read);
  EXPECT_EQ(wrongOf(read, outputs), 0);
  const std::vector<float> rows = floatsOf(inputNamed(append, "row")), o = floatsOf(outputs.at(0));
  for (int64_t sequence = 0; sequence < 3; ++sequence) {
    float largest = 0;
    for (int64_t i = 0; i < 96; ++i)
      largest = std::max(largest, std::abs(rows[sequence * 96 + i]));
    for (int64_t i = 0; i < 16 * 64; ++i) {
      const float value = rows[sequence * 96 + i % 64];
      EXPECT_NEAR(o[sequence * 16 * 64 + i], value, std::abs(value) / 15 + largest * 0x1p-17f);
    }
  }
}

TEST(Latents, TextsArePure) {
  for (const char *format : {"e4m3", "bf16"}) {
    attention_cases::expectPure(decode(latents({45}, 128, 64), {.format = format}));
  }
}

TEST(Latents, NvrtcCompilesTheTexts) {
  Turns turns({"sm_75", "sm_90a", "sm_80", "sm_120a"}), others = turns;
  for (const char *format : {"e4m3", "bf16", "e5m2"})
    for (const char *dtype : {"bf16", "f32", "bf16"}) {
      const std::string &target = turns.next();
      const bool isOld = target == "sm_75"; // which has no products of bf16
      const matrix::Case made =
          decode(latents({45}, 128, 64), {.dtype = isOld ? "f16" : dtype,
                                          .format = isOld && format[0] == 'b' ? "f16" : format});
      expectNvrtc(made.program, made.options, target);
    }
  for (int round = 0; round < 2; ++round) {
    Cache cache = latents({45}, 24, 3);
    cache.scaleAxes = 2;
    const matrix::Case made =
        decode(cache, {.dtype = "f16", .settings = {{"softcap", "30"}, {"window", "20"}}});
    expectNvrtc(made.program, made.options, others.next());
  }
}

TEST(Latents, RefuseWhatTheyCannot) {
  auto errorOf = [](const Cache &cache, const std::string &schedule = "") {
    return attention_cases::errorOf(decode(cache, {}, "auto", schedule));
  };
  Cache cache = latents({45}, 16);
  EXPECT_EQ(errorOf(cache), "");
  cache.d = 500;
  EXPECT_THAT(errorOf(cache), HasSubstr("keys of 500 elements"));
  cache.d = 1056;
  EXPECT_THAT(errorOf(cache), HasSubstr("a multiple of 32 up to 1024"));
  cache.d = 256;
  EXPECT_THAT(errorOf(cache), AllOf(HasSubstr("512 of their keys' 256 columns"),
                                    HasSubstr("a multiple of 32 up to 512")));
  cache.valueColumns = 40;
  EXPECT_THAT(errorOf(cache), HasSubstr("40 of their keys' 256 columns"));
  cache.valueColumns = 96;
  EXPECT_THAT(errorOf(cache, "attention<threads = 64, vector = 1, split = 2, blocks = 1, "
                             "prefetch = 2>"),
              HasSubstr("split is 1, or all warps of a block"));
  EXPECT_THAT(errorOf(cache, "attention<threads = 96, vector = 1, split = 2, blocks = 1, "
                             "prefetch = 2>"),
              HasSubstr("split is 1, or all warps of a block"));
}

TEST(Latents, RefuseWhatDoesNotMeet) {
  Builder b("wrong");
  const Dim sequences = b.dim("b"), pages = b.dim("pages"), most = b.dim("most");
  KVCache cache;
  cache.keys = b.codes("kv", e4m3, {pages, 16, 1, 96});
  cache.key_scale = b.input("kv_scale", f32, {1});
  cache.block_table = b.input("table", DType::i32, {sequences, most});
  cache.lengths = b.input("lengths", DType::i32, {sequences});
  cache.value_columns = 64;
  const Value q = b.input("q", bf16, {sequences, 4, 96});
  auto errorOf = [&] {
    try {
      attention(q, cache);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(errorOf(), "");
  for (const int64_t columns : {int64_t(97), int64_t(-1)}) {
    cache.value_columns = columns;
    EXPECT_THAT(errorOf(), AllOf(HasSubstr("are " + std::to_string(columns) + " columns of keys"),
                                 HasSubstr("LatentTest.cpp")));
  }
  cache.value_columns = 64;
  cache.value_scale = cache.key_scale;
  EXPECT_THAT(errorOf(), HasSubstr("leave value_scale out"));
  cache.values = cache.keys;
  EXPECT_THAT(errorOf(), HasSubstr("leave values or value_columns out"));
  cache.value_columns = 0;
  EXPECT_EQ(errorOf(), "");
}
