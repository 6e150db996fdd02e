//===- BlocksTest.cpp - Caches whose scales are of blocks in a head -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"

#include "runtime/contract/Contract.h"
#include "tests/points/Points.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
/// A cache of heads of d, in blocks of so many elements.
Cache inBlocks(const std::vector<int64_t> &lengths, int64_t d, int64_t block, int64_t page = 16) {
  return {
      .lengths = lengths, .d = d, .page = page, .scales = 2, .scaleAxes = 3, .blocks = d / block};
}
/// The same of latents, whose values are the first columns.
Cache latentsInBlocks(int64_t heads, int64_t d, int64_t columns, int64_t block, int64_t page = 16) {
  Cache cache = inBlocks({45, 0, 3}, d, block, page);
  cache.heads = heads;
  cache.kvHeads = cache.scales = 1;
  cache.valueColumns = columns;
  return cache;
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](const Cache &shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "",
                 const std::string &values = "normal") {
    cases.push_back(decode(shape, parameters, codec, schedule, values, cases.size()));
    cases.back().forAnyRows = cases.size() % 2; // by the schedule for many sequences, too
  };
  for (auto [d, blocks] : {std::pair<int64_t, std::vector<int64_t>>{64, {32}},
                           {96, {32, 96}},
                           {128, {32, 64, 128}},
                           {192, {32, 64, 96}},
                           {256, {32, 64, 128}},
                           {512, {32, 64, 128, 256}}})
    for (const int64_t block : blocks)
      add(inBlocks({45, 3}, d, block), {.dtype = block == 64 ? "bf16" : "f32"},
          d == 96 ? "software" : "auto");
  for (auto [heads, kvHeads] :
       {std::pair<int64_t, int64_t>{2, 2}, {8, 2}, {9, 1}, {16, 1}, {40, 2}})
    for (const int64_t scales : {int64_t(1), kvHeads}) {
      Cache cache = inBlocks({77, 0, 1, 130}, 128, scales == 1 ? 32 : 64);
      cache.heads = heads;
      cache.kvHeads = kvHeads;
      cache.scales = scales;
      add(cache, {.format = heads == 9 ? "e5m2" : "e4m3"});
    }
  for (const int64_t page : {1, 3, 48, 64})
    for (const char *window : {"2000", "20"})
      add(inBlocks({100, 17, 0, 1}, 128, page == 3 ? 64 : 32, page),
          {.dtype = "f16", .settings = {{"window", window}}});
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *codec : {"hardware", "software"})
      if (codec == std::string("software") || !std::string(format).ends_with("fnuz"))
        add(inBlocks({77, 0, 1}, 128, 32), {.format = format}, codec);
  for (const char *format : {"e4m3", "e5m2"})
    add(inBlocks({33, 1}, 128, 64), {.format = format}, "software", "", "specials");
  for (const char *schedule :
       {"attention<threads = 32, vector = 1, blocks = 1, prefetch = 2>",
        "attention<threads = 128, vector = 1, blocks = 16, prefetch = 3>",
        "attention<threads = 64, vector = 1, split = 2, blocks = 4, prefetch = 3>",
        "attention<threads = 128, vector = 1, split = 4, blocks = 4, prefetch = 3>"})
    for (const int64_t block : {32, 64})
      add(inBlocks({700, 0, 33}, 128, block), {}, "auto", schedule);
  for (auto [heads, d, columns, block] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{16, 576, 512, 64},
        {40, 576, 512, 32},
        {16, 640, 512, 128},
        {8, 640, 256, 128},
        {16, 1024, 512, 256},
        {16, 576, 384, 192},
        {20, 96, 64, 32},
        {20, 96, 96, 96}})
    add(latentsInBlocks(heads, d, columns, block, heads == 16 ? 16 : 3),
        {.dtype = heads == 16 ? "f32" : "bf16"});
  add(inBlocks({77, 20}, 64, 32), {.settings = {{"alibi", "1"}, {"softcap", "30"}}});
  Cache quantised = inBlocks({45, 0, 3}, 128, 32);
  quantised.quantised = true;
  add(quantised, {.block = "1x64", .fromFormat = "e4m3", .settings = {{"window", "40"}}});
  for (const char *dtype : {"bf16", "f32"}) // rows that lie apart, and begin anywhere
    for (const int64_t block : {32, 64}) {
      for (const matrix::Layout layout : matrix::apart) {
        add(inBlocks({77, 0, 1, 130}, 128, block), {.dtype = dtype});
        cases.back().layout = layout;
      }
    }
  return cases;
}

/// Of the one sequence, whose tokens are in one page, the scales of a block of a KV head.
float &scaleAt(matrix::Case &made, Input input, const Cache &shape, int64_t token, int64_t head,
               int64_t block) {
  const auto *table = reinterpret_cast<const int32_t *>(made.inputs[blockTable].data.data());
  auto *scales = reinterpret_cast<float *>(made.inputs[input].data.data());
  return scales[((table[0] * shape.page + token) * shape.scales + head) * shape.blocks + block];
}
} // namespace

TEST(Blocks, AgreeWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

/// Of one block a head are as many scales as of tokens, and what is computed is the same.
TEST(Blocks, OfOneAHeadAreScalesOfTokens) {
  for (const int64_t columns : {int64_t(0), int64_t(64)}) {
    Cache shape = columns ? latentsInBlocks(16, 96, 64, 96) : inBlocks({77, 0, 130}, 64, 64);
    const matrix::Case ofBlocks = decode(shape, {.dtype = "f32"});
    shape.scaleAxes = 2;
    const matrix::Case ofTokens = decode(shape, {.dtype = "f32"});
    EXPECT_EQ(floatsOf(runOnHost(ofBlocks).at(0)), floatsOf(runOnHost(ofTokens).at(0)));
  }
}

/// Blocks of one row have scales 2^120 apart, and f16 has what is weighed by each: each block's
/// largest is another token's, of which one has next to no weight.
TEST(Blocks, ScalesAreAnywhere) {
  const Cache shape = {.lengths = {40},
                       .heads = 4,
                       .kvHeads = 1,
                       .d = 128,
                       .page = 64,
                       .scales = 1,
                       .scaleAxes = 3,
                       .blocks = 4};
  for (const char *schedule :
       {"attention<threads = 64, vector = 1, blocks = 1, prefetch = 2>",
        "attention<threads = 64, vector = 1, split = 2, blocks = 1, prefetch = 2>"})
    for (const int turn : {0, 1, 2, 3}) {
      matrix::Case made = decode(shape, {.dtype = "f32"}, "software", schedule);
      const float powers[] = {0x1p-60f, 0x1p60f, 0x1p-110f, 0x1p20f};
      for (int64_t token = 0; token < 40; ++token)
        for (int64_t block = 0; block < 4; ++block) {
          const float power = powers[(block + turn) % 4];
          scaleAt(made, vScale, shape, token, 0, block) =
              power * (token == (block * 13 + turn * 7) % 40 ? 1.0f : 0x1p-20f);
          scaleAt(made, kScale, shape, token, 0, block) = block == turn ? 0.002f : 0x1p-60f;
        }
      const std::vector<HostTensor> outputs = runOnHost(made);
      EXPECT_EQ(wrongOf(made, outputs), 0) << turn;
      for (const float value : floatsOf(outputs.at(0)))
        ASSERT_TRUE(std::isfinite(value) && value != 0) << turn;
    }
}

/// A NaN among scales of keys is of all that meet the key, of values of the block alone.
TEST(Blocks, NansOfScalesReachWhatTheyScale) {
  const Cache shape = inBlocks({20}, 128, 32, 48);
  for (const Input where : {kScale, vScale}) {
    matrix::Case made = decode(shape, {.dtype = "f32"}, "software");
    scaleAt(made, where, shape, 3, 1, 2) = std::nanf("");
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    const std::vector<float> values = floatsOf(outputs.at(0));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(std::isnan(values[i]), i / 128 >= 4 && (where == kScale || i % 128 / 32 == 2)) << i;
  }
}

/// The bound is so tight that a scale which is dropped shows, and scales of blocks, heads or tokens
/// that are exchanged.
TEST(Blocks, BoundsCatchMutations) {
  const int64_t all = 8 * 128;
  const Cache shape = inBlocks({45}, 128, 32, 48);
  matrix::Case made = decode(shape, {.dtype = "f32"});
  for (const Input input : {kScale, vScale}) // values as large as each other
    for (int64_t i = 0; i < 45 * 8; ++i)
      scaleAt(made, input, shape, i / 8, i / 4 % 2, i % 4) =
          (input == kScale ? 0.002f : 0.5f) * (1 + static_cast<float>(i % 11) / 8);
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  for (const Input input : {kScale, vScale}) {
    for (const int64_t token : {0, 7, 44})
      for (const int64_t block : {0, 3}) {
        matrix::Case other = made;
        for (const int64_t head : {0, 1})
          scaleAt(other, input, shape, token, head, block) = 0;
        EXPECT_GE(wrongOf(made, runOnHost(other)), input == vScale ? all / 12 : all / 32)
            << "the scales of token " << token << ", block " << block;
      }
    for (const int64_t apart : {1, 4, 8, 64}) { // of a block, a head, a token, half a step
      matrix::Case other = made;
      float *scales = &scaleAt(other, input, shape, 0, 0, 0);
      std::rotate(scales, scales + apart, scales + 48 * 8);
      EXPECT_GE(wrongOf(made, runOnHost(other)), input == vScale ? all * 3 / 4 : all / 4) << apart;
    }
  }
}

/// What kv_append writes by blocks is such a cache: of sequences of one token the result is the row
/// that was appended, as its codes have it, to the block's own precision.
TEST(Blocks, AreWhatAppendingLeaves) {
  const Cache shape = inBlocks(std::vector<int64_t>(3, 1), 64, 32);
  matrix::Case read = decode(shape, {.dtype = "f32"});
  const int64_t pages = read.dims.at("pages"), most = read.dims.at("max_pages");
  matrix::Case append = caseOf(
      {.op = "kv_append",
       .parameters = {.dtype = "f32", .block = "1x32", .settings = {{"head", "64"}}},
       .dims = {{"tokens", 3}, {"hidden", 128}, {"slots", pages * 16}, {"max_position", 50}}});
  auto named = [](std::vector<HostTensor> &tensors, const std::string &name) -> HostTensor & {
    return *std::ranges::find(tensors, name, &HostTensor::name);
  };
  const auto *table = reinterpret_cast<const int32_t *>(read.inputs[blockTable].data.data());
  write(named(append.inputs, "slot_mapping"),
        std::vector<int64_t>{table[0] * 16, table[most] * 16, table[2 * most] * 16});
  std::vector<float> rows = floatsOf(named(append.inputs, "v"));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] *= i / 32 % 2 ? 0x1p-60f : 1.0f;
  write(named(append.inputs, "v"), rows);
  std::vector<HostTensor> written = runOnHost(append);
  for (const std::string name : {"k", "v"})
    for (auto [to, from] : {std::pair("_cache", "_cache"), {"_scale", "_cache_scale"}}) {
      HostTensor &tensor = named(read.inputs, name + to);
      const HostTensor &given = named(written, name + from);
      ASSERT_EQ(tensor.data.size(), given.data.size());
      tensor.data = given.data;
    }
  const std::vector<HostTensor> outputs = runOnHost(read);
  EXPECT_EQ(wrongOf(read, outputs), 0);
  const std::vector<float> o = floatsOf(outputs.at(0));
  for (int64_t i = 0; i < 3 * 8 * 64; ++i) {
    const int64_t head = i / 64 % 8 / 4, first = i / 512 * 128 + head * 64 + i % 64 / 32 * 32;
    float largest = 0;
    for (int64_t n = 0; n < 32; ++n)
      largest = std::max(largest, std::abs(rows[first + n]));
    const float value = rows[first + i % 32];
    EXPECT_NEAR(o[i], value, std::abs(value) / 15 + largest * 0x1p-17f) << i;
  }
}

TEST(Blocks, TextsArePure) {
  const Cache shapes[] = {inBlocks({45}, 128, 32), inBlocks({45}, 192, 64, 3),
                          latentsInBlocks(128, 576, 512, 64)};
  for (const Cache &shape : shapes) {
    attention_cases::expectPure(decode(shape));
  }
}

/// What is loaded together is aligned where rows are, and may begin anywhere where they may.
TEST(Blocks, ContractsSayHowScalesAreAligned) {
  for (const int64_t block : {32, 64, 128}) {
    const matrix::Case made = decode(inBlocks({45}, 128, block));
    CompileOptions options = made.options;
    options.target = "sm_90";
    const contract::Contract it = contract::read(compile(made.program, options).contract);
    auto alignmentOf = [&](const contract::Variant &variant) {
      int64_t bytes = sizeof(float);
      for (const contract::Predicate &predicate : variant.predicates)
        if (predicate.kind == contract::Predicate::Kind::Aligned &&
            it.tensors[predicate.tensor].name == "v_scale")
          bytes = predicate.bytes;
      return bytes;
    };
    EXPECT_EQ(alignmentOf(it.variants.front()), block == 128 ? 4 : 512 / block);
    EXPECT_EQ(alignmentOf(it.variants.back()), 4);
  }
}

TEST(Blocks, NvrtcCompilesTheTexts) {
  Turns turns({"sm_75", "sm_90a", "sm_80", "sm_120a"}), ofLatents = turns;
  for (auto [d, block] : {std::pair<int64_t, int64_t>{128, 32},
                          {128, 64},
                          {256, 128},
                          {96, 32},
                          {128, 64},
                          {256, 128},
                          {96, 32}}) {
    const std::string &target = turns.next();
    const matrix::Case made = decode(inBlocks({45}, d, block, d == 96 ? 3 : 16),
                                     {.dtype = target == "sm_75" ? "f32" : "bf16"});
    expectNvrtc(made.program, made.options, target);
  }
  for (int round = 0; round < 2; ++round) {
    const matrix::Case latents =
        decode(latentsInBlocks(24, 576, 512, 64), {.dtype = "f16", .format = "e5m2"});
    expectNvrtc(latents.program, latents.options, ofLatents.next());
  }
}

TEST(Blocks, RefuseWhatTheyCannot) {
  auto errorOf = [](const Cache &cache, const std::string &schedule = "") {
    return attention_cases::errorOf(decode(cache, {}, "auto", schedule));
  };
  EXPECT_EQ(errorOf(inBlocks({45}, 128, 32)), "");
  EXPECT_THAT(errorOf(inBlocks({45}, 128, 16)),
              AllOf(HasSubstr("has 8 scales in heads of 128 elements"),
                    HasSubstr("each block of a multiple of 32")));
  Cache cache = inBlocks({45}, 128, 32);
  cache.blocks = 3;
  EXPECT_THAT(errorOf(cache), HasSubstr("has 3 scales in heads of 128 elements"));
  cache.blocks = 4;
  cache.scales = 3;
  EXPECT_THAT(errorOf(cache), HasSubstr("give one of each, or one a head"));
  EXPECT_THAT(errorOf(latentsInBlocks(16, 576, 512, 96)),
              AllOf(HasSubstr("512 columns, which end within a block of 96"),
                    HasSubstr("give smaller blocks")));
  EXPECT_THAT(errorOf(inBlocks({45}, 192, 96),
                      "attention<threads = 96, vector = 1, split = 3, blocks = 1, prefetch = 2>"),
              HasSubstr("whole blocks of values with one scale, or part of one"));
}
