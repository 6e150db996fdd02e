//===- DecodeTest.cpp - A token's queries over a paged cache --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"

#include "eider/runtime.h"
#include "runtime/contract/Contract.h"
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <random>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases = {decode({})};
  auto add = [&](const Cache &shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "",
                 const std::string &values = "normal") {
    cases.push_back(decode(shape, parameters, codec, schedule, values, cases.size()));
    cases.back().forAnyRows = cases.size() % 2; // by the schedule for many sequences, too
  };
  for (const int64_t d : {32, 64, 96, 128, 192, 256, 512})
    add({.lengths = {45, 3}, .d = d}, {.dtype = "f32"});
  for (const int64_t page : {1, 2, 3, 8, 16, 32, 48, 256})
    add({.lengths = {100, 17, 0}, .page = page}, {.dtype = "f16"});
  for (auto [heads, kvHeads] :
       {std::pair<int64_t, int64_t>{1, 1}, {6, 2}, {9, 1}, {16, 1}, {40, 8}})
    for (const int64_t scales : {int64_t(1), kvHeads})
      add({.heads = heads, .kvHeads = kvHeads, .scales = scales});
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *codec : {"hardware", "software"})
      if (codec == std::string("software") || format == std::string("e4m3") ||
          format == std::string("e5m2"))
        for (const char *dtype : {"bf16", "f16", "f32"})
          add({}, {.dtype = dtype, .format = format}, codec);
  for (const char *format : {"e4m3", "e5m2"})
    add({}, {.format = format}, "software", "", "specials");
  for (const char *window : {"1", "16", "20", "77", "100"})
    for (const int64_t page : {16, 3, 64})
      add({.lengths = {77, 0, 20, 1, 400}, .page = page}, {.settings = {{"window", window}}});
  for (const int64_t axes : {1, 2}) { // scales of pages, and of tokens
    for (const int64_t page : {1, 3, 16, 48, 64})
      for (const char *window : {"2000", "20"})
        add({.lengths = {100, 17, 0, 1}, .page = page, .scales = 2, .scaleAxes = axes},
            {.dtype = "f16", .settings = {{"window", window}}});
    for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>{1, 1}, {6, 2}, {9, 1}, {16, 1}})
      for (const char *format : {"e4m3", "e5m2", "e4m3fnuz"})
        add({.heads = heads, .kvHeads = kvHeads, .scaleAxes = axes}, {.format = format});
    for (const int64_t d : {32, 96, 128, 256, 512})
      add({.lengths = {45, 3}, .d = d, .scales = 2, .scaleAxes = axes}, {.dtype = "f32"},
          d == 96 ? "software" : "auto");
    add({.lengths = {700, 0, 33}, .scaleAxes = axes}, {}, "auto",
        "attention<threads = 256, vector = 1, blocks = 16, prefetch = 3>");
    for (const matrix::Layout layout : matrix::apart) {
      add({.scales = 2, .scaleAxes = axes});
      cases.back().layout = layout;
    }
  }
  for (const char *format : {"bf16", "f16"}) { // caches of no codes
    for (const char *dtype : {"bf16", "f16", "f32"})
      for (const char *values : {"normal", "specials"})
        add({}, {.dtype = dtype, .format = format}, "auto", "", values);
    for (const int64_t d : {32, 64, 96, 128, 192, 256, 512})
      add({.lengths = {45, 3}, .d = d}, {.dtype = d % 128 == 0 ? "f32" : "f16", .format = format});
    for (const int64_t page : {1, 3, 16, 48, 64})
      add({.lengths = {100, 17, 0, 1}, .page = page},
          {.dtype = "bf16", .format = format, .settings = {{"window", page == 3 ? "20" : "100"}}});
    for (auto [heads, kvHeads] :
         {std::pair<int64_t, int64_t>{1, 1}, {6, 2}, {9, 1}, {16, 1}, {40, 8}})
      add({.heads = heads, .kvHeads = kvHeads}, {.format = format});
    add({.lengths = {700, 0, 33}}, {.format = format}, "auto",
        "attention<threads = 128, vector = 1, blocks = 16, prefetch = 3>");
    for (const matrix::Layout layout : matrix::apart) {
      add({}, {.format = format});
      cases.back().layout = layout;
    }
  }
  add({.lengths = {0, 0}});
  add({.lengths = {1}});
  add({.lengths = {1500, 16, 15}, .heads = 4, .kvHeads = 1});
  for (const char *schedule :
       {"attention<threads = 32, vector = 1, blocks = 1, prefetch = 2>",
        "attention<threads = 128, vector = 1, blocks = 37, prefetch = 6, resident = 2>",
        "attention<threads = 256, vector = 1, blocks = 16, prefetch = 3, software = 1>",
        "map<threads = 32, vector = 16, loads = 2>"})
    add({.lengths = {700, 0, 33}}, {}, "auto", schedule);
  for (const char *dtype : {"bf16", "f32"}) { // rows that lie apart, and begin anywhere
    for (const matrix::Layout layout : matrix::apart) {
      add({}, {.dtype = dtype});
      cases.back().layout = layout;
    }
  }
  return cases;
}

/// Integers of 32 bits as those of 64.
std::vector<std::byte> widened(const HostTensor &tensor) {
  std::vector<std::byte> wide;
  for (size_t i = 0; i < tensor.data.size(); i += 4) {
    int32_t number = 0;
    std::memcpy(&number, &tensor.data[i], 4);
    const int64_t value = number;
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    wide.insert(wide.end(), bytes, bytes + 8);
  }
  return wide;
}

/// Two KV heads of 64 in pages of 16, of codes that are the values.
KVCache unscaledCache(Builder &b, const Dim &sequences, DType index) {
  const Dim pages = b.dim("pages"), most = b.dim("max_pages");
  KVCache cache;
  cache.keys = b.codes("k_cache", e4m3, {pages, 16, 2, 64});
  cache.values = b.codes("v_cache", e4m3, {pages, 16, 2, 64});
  cache.block_table = b.input("block_table", index, {sequences, most});
  cache.lengths = b.input("lengths", index, {sequences});
  return cache;
}

/// What stands after attention: a gate and a residual, of tokens that i64 count.
Program gated() {
  Builder b("gated");
  const Dim sequences = b.dim("b");
  KVCache cache = unscaledCache(b, sequences, DType::i64);
  cache.key_scale = b.input("k_scale", f32, {2});
  cache.value_scale = b.input("v_scale", f32, {2});
  const eider::Shape shape = {sequences, 4, 64};
  Value o = attention(b.input("q", bf16, shape), cache);
  Value residual = b.inout("residual", bf16, shape);
  b.store(residual, o * sigmoid(b.input("gate", bf16, shape)) + residual);
  return b.build();
}

/// Queries of two caches, of other numbers of heads, which are added to what they give.
Program twice() {
  Builder b("twice");
  Dim sequences = b.dim("b"), pages = b.dim("pages"), most = b.dim("max_pages");
  const eider::Shape shape = {sequences, 8, 64};
  Value q = b.input("q", bf16, shape),
        table = b.input("block_table", DType::i32, {sequences, most});
  Value tokens = b.input("lengths", DType::i32, {sequences}), sum = q * 2.0f;
  for (const int64_t heads : {2, 4}) {
    const std::string name = "of_" + std::to_string(heads);
    const eider::Shape ofCache = {pages, 16, heads, 64};
    KVCache cache = {b.codes("k_" + name, e4m3, ofCache),
                     b.codes("v_" + name, e4m3, ofCache),
                     b.input("k_" + name + "_scale", f32, {1}),
                     b.input("v_" + name + "_scale", f32, {1}),
                     table,
                     tokens};
    sum = sum + attention(q, cache);
  }
  b.output("o", sum, bf16);
  return b.build();
}

/// A cache of codes that are the values.
Program unscaled() {
  Builder b("unscaled");
  const Dim sequences = b.dim("b");
  const KVCache cache = unscaledCache(b, sequences, DType::i32);
  b.output("o", attention(b.input("q", bf16, {sequences, 8, 64}), cache), f32);
  return b.build();
}

/// What a case of another program takes of one of the op: tensors of the same name.
void take(matrix::Case &made, const Program &program, const Dims &dims) {
  const std::vector<HostTensor> ofOp = std::move(made.inputs);
  made.program = program;
  made.options.dims.clear(); // it has them all
  made.dims = dims;
  made.inputs = inputsOf(program, dims, "normal", 5);
  for (HostTensor &input : made.inputs)
    for (const HostTensor &given : ofOp)
      if (given.name == input.name)
        input.data = given.dtype == input.dtype ? given.data : widened(given);
}
} // namespace

TEST(Decode, AgreesWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

/// The block that comes last combines parts: of few and of many, of tiles of a head's queries; of
/// few with the same bits as a kernel that combines them.
TEST(Decode, TheLastBlockCombinesOnTheDevice) {
  const std::string schedule = "attention<threads = 64, vector = 1, blocks = ";
  std::vector<matrix::Case> all;
  for (const int64_t blocks : {1, 16, 37, 200})
    for (const Cache &cache :
         {Cache{.lengths = {700, 0, 33}},
          {.lengths = {1500}, .heads = 40, .kvHeads = 1, .d = 96},
          {.lengths = {77, 300}, .heads = 2, .kvHeads = 2, .d = 32, .scaleAxes = 2}})
      for (const char *combine : {", prefetch = 3, combine = 1>", ", prefetch = 3>"})
        all.push_back(decode(cache, {.dtype = blocks == 37 ? "f32" : "bf16"}, "auto",
                             schedule + std::to_string(blocks) + combine));
  at_points::expectReference(all);
  for (size_t i = 0; i < all.size() / 2; i += 2) // of 1 and of 16 blocks
    EXPECT_EQ(runOnHost(all[i]).at(0).data, runOnHost(all[i + 1]).at(0).data) << i;
}

/// Rows of a table may be any number of elements apart, or one for all sequences: what is read of
/// it is as lengths say.
TEST(Decode, TablesHaveAnyPitchOnTheDevice) {
  const char *asked = std::getenv("EIDER_TEST_DEVICE");
  const Device device = Device::open(asked ? asked : "host");
  constexpr size_t between = 64;                           // bytes after each page of keys
  for (const std::string variant : {"aligned", "general"}) // keys lie apart, or begin anywhere
    for (auto [sequences, pitch] :
         {std::pair<size_t, int64_t>{2, 0}, {1, 0}, {1, 1}, {1, 1 << 30}}) {
      matrix::Case made = decode({.lengths = std::vector<int64_t>(sequences, 300)});
      auto *table = reinterpret_cast<int32_t *>(made.inputs[blockTable].data.data());
      if (const int64_t pages = made.dims.at("max_pages"); sequences == 2)
        std::copy_n(table, pages, table + pages); // the one row that there is
      CompileOptions options = made.options;
      options.target = device.target();
      const Kernel kernel = device.load(compile(made.program, options));
      const Call call = kernel.prepare(made.dims);
      std::vector<void *> memory;
      auto allocate = [&](size_t bytes) {
        memory.push_back(device.allocate(bytes));
        return static_cast<std::byte *>(memory.back());
      };
      const int64_t strides[] = {pitch, 1};
      std::vector<int64_t> ofKeys;
      std::vector<TensorArg> tensors;
      for (const HostTensor &input : made.inputs) {
        const bool isKeys = input.name == "k_cache", isShifted = variant == "general";
        const size_t pages = isKeys ? static_cast<size_t>(input.shape[0]) : 1;
        const size_t page = input.data.size() / pages, apart = page + (isKeys ? between : 0);
        std::byte *at = allocate(pages * apart + 16) + (isKeys && isShifted ? 1 : 0);
        for (size_t i = 0; i < pages; ++i)
          device.upload(at + i * apart, input.data.data() + i * page, page);
        tensors.push_back({at});
        if (!isKeys)
          continue;
        ofKeys = {static_cast<int64_t>(apart), input.shape[2] * input.shape[3], input.shape[3], 1};
        tensors.back().strides = ofKeys;
      }
      tensors[blockTable].strides = strides;
      std::vector<std::byte> result(sequences * 8 * 64 * 2);
      std::byte *output = allocate(result.size());
      tensors.push_back({output});
      EXPECT_EQ(kernel.prepare(made.dims, tensors).variant(), variant);
      call.launch({}, tensors, {}, allocate(call.workspace_bytes()));
      device.synchronize();
      device.download(result.data(), output, result.size());
      const HostTensor o = {"o", DType::bf16, {static_cast<int64_t>(sequences), 8, 64}, result};
      EXPECT_EQ(wrongOf(made, {o}), 0)
          << sequences << " sequences, a pitch of " << pitch << ", " << variant;
      for (void *each : memory)
        device.free(each);
    }
}

/// Nobody clears the words by which blocks know which comes last, and launches of other numbers of
/// blocks have left them as they do.
TEST(Decode, ItsWorkspaceMayHoldAnythingOnTheDevice) {
  const matrix::Case made =
      decode({.lengths = {700, 0, 33}}, {}, "auto",
             "attention<threads = 64, vector = 1, blocks = 200, prefetch = 2, combine = 1>");
  const char *asked = std::getenv("EIDER_TEST_DEVICE");
  const Device device = Device::open(asked ? asked : "host");
  CompileOptions options = made.options;
  options.target = device.target();
  const Call call = device.load(compile(made.program, options)).prepare(made.dims);
  std::vector<void *> memory;
  std::vector<TensorArg> tensors;
  for (const HostTensor &input : made.inputs) {
    memory.push_back(device.allocate(input.data.size()));
    device.upload(memory.back(), input.data.data(), input.data.size());
    tensors.push_back({memory.back()});
  }
  const std::vector<std::byte> expected = runOnHost(made).at(0).data;
  void *output = device.allocate(expected.size());
  auto *workspace = static_cast<std::byte *>(device.allocate(call.workspace_bytes()));
  tensors.push_back({output});
  const size_t words = call.workspace_bytes() - 256; // at the end, 3 · 2 of them
  for (const int byte : {0x5a, 0x00, 0xff, 0x7f}) {
    device.fill(workspace, byte, call.workspace_bytes());
    for (const uint32_t half : {0u, 3u, 0x5c3e0000u + 33, 0x5c3e0000u + 65535, 0xffffffffu}) {
      device.fill(output, 0x11, expected.size());
      call.launch({}, tensors, {}, workspace);
      device.synchronize();
      std::vector<std::byte> result(expected.size());
      device.download(result.data(), output, result.size());
      if (device.target() == "host")
        EXPECT_EQ(result, expected) << byte << " " << half;
      else
        EXPECT_EQ(
            wrongOf(
                made,
                {{made.program.signature().tensors.back().name, DType::bf16, {3, 8, 64}, result}}),
            0)
            << byte << " " << half;
      device.upload(workspace + words, &half, sizeof half); // somebody writes to it
    }
  }
  for (void *each : memory)
    device.free(each);
  device.free(output);
  device.free(workspace);
}

TEST(Decode, WhatStandsAroundAgreesOnTheDevice) {
  std::vector<matrix::Case> all;
  for (const Program &program : {gated(), twice(), unscaled()}) {
    matrix::Case made = decode({.heads = program.name() == "gated" ? 4 : 8, .scales = 2});
    take(made, program,
         {{"b", 4}, {"pages", made.dims.at("pages")}, {"max_pages", made.dims.at("max_pages")}});
    all.push_back(made);
  }
  at_points::expectReference(all);
}

/// Queries near the ends of f32, and scales whose product with theirs is beyond it.
TEST(Decode, ExtremesAreNoNan) {
  const std::tuple<float, float, float> extremes[] = {
      {2e38f, 1e-38f, 1.0f}, {1e30f, 1e20f, 1.0f}, {1e-38f, 1.0f, 1e30f}, {1.0f, 1.0f, 1e-38f}};
  for (auto [query, keyScale, valueScale] : extremes) {
    matrix::Case made = decode({.lengths = {20}, .d = 32}, {.dtype = "f32"}, "software");
    write(made.inputs[q], std::vector<float>(8 * 32, query));
    if (keyScale > 1)
      std::fill(made.inputs[kCache].data.begin(), made.inputs[kCache].data.end(), std::byte(0));
    write(made.inputs[kScale], std::vector<float>{keyScale});
    write(made.inputs[vScale], std::vector<float>{valueScale});
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0) << query << " " << keyScale << " " << valueScale;
    for (const float value : floatsOf(outputs.at(0)))
      ASSERT_TRUE(std::isfinite(value)) << query << " " << keyScale << " " << valueScale;
  }
}

/// Of scales of tokens those of values are anywhere, and f16 has what is weighed by them: also
/// where the scores say least of the largest, and where that comes last.
TEST(Decode, ScalesOfTokensAreAnywhere) {
  for (const int last : {0, 1})
    for (const float most : {1e-38f, 1e-30f, 1.0f, 1e20f, 1e30f}) {
      matrix::Case made = decode({.lengths = {40}, .d = 32, .page = 64, .scaleAxes = 2},
                                 {.dtype = "f32"}, "software");
      std::vector<float> ofKeys(64, 0.002f), ofValues(64, most * 0x1p-20f);
      ofValues[last ? 39 : 2] = most;
      const auto *table = reinterpret_cast<const int32_t *>(made.inputs[blockTable].data.data());
      for (auto [input, scales] : {std::pair(kScale, ofKeys), {vScale, ofValues}})
        std::memcpy(&made.inputs[input].data[table[0] * 64 * sizeof(float)], scales.data(),
                    scales.size() * sizeof(float));
      const std::vector<HostTensor> outputs = runOnHost(made);
      EXPECT_EQ(wrongOf(made, outputs), 0) << most << " " << last;
      for (const float value : floatsOf(outputs.at(0)))
        ASSERT_TRUE(std::isfinite(value)) << most << " " << last;
    }
}

/// A NaN among scales of tokens is what they scale: a key's of all that meet it, and a value's too.
TEST(Decode, NansOfScalesReachTheirHeads) {
  for (const Input where : {kScale, vScale}) {
    matrix::Case made = decode({.lengths = {20}, .d = 32, .scales = 2, .scaleAxes = 2},
                               {.dtype = "f32"}, "software");
    const auto *table = reinterpret_cast<const int32_t *>(made.inputs[blockTable].data.data());
    const float nan = std::nanf("");
    std::memcpy(&made.inputs[where].data[((table[0] * 16 + 3) * 2 + 1) * sizeof nan], &nan,
                sizeof nan);
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    const std::vector<float> values = floatsOf(outputs.at(0));
    EXPECT_EQ(std::count_if(values.begin(), values.end(), [](float x) { return std::isnan(x); }),
              4 * 32);
  }
}

/// One query meets one key of each sequence: the value itself, and of no key zeros.
TEST(Decode, OfOneTokenIsItsValue) {
  matrix::Case made =
      decode({.lengths = {1, 0}, .heads = 2, .kvHeads = 1, .d = 32}, {.dtype = "f32"});
  const float scale = 0.5f;
  write(made.inputs[vScale], std::vector<float>{scale});
  const auto *table = reinterpret_cast<const int32_t *>(made.inputs[blockTable].data.data());
  std::byte *value = made.inputs[vCache].data.data() + table[0] * 16 * 32;
  std::vector<float> expected(2 * 2 * 32);
  for (int i = 0; i < 32; ++i) {
    value[i] = std::byte(0x38 + i % 2 * 8); // 1 and 2
    expected[i] = expected[32 + i] = scale * static_cast<float>(1 + i % 2);
  }
  EXPECT_EQ(floatsOf(runOnHost(made).at(0)), expected);
}

/// A NaN of a key is all of its query heads; of a value that element of theirs, and nothing more.
TEST(Decode, NansReachWhatTheyMeet) {
  const Cache cache = {.lengths = {20, 20}, .heads = 4, .kvHeads = 2, .d = 32};
  for (const Input where : {kCache, vCache}) {
    matrix::Case made = decode(cache, {.dtype = "f32"}, "software");
    const auto *table = reinterpret_cast<const int32_t *>(made.inputs[blockTable].data.data());
    made.inputs[where].data[(table[0] * 16 + 3) * 2 * 32 + 32 + 5] = std::byte(0xff); // KV head 1
    const std::vector<HostTensor> outputs = runOnHost(made);
    EXPECT_EQ(wrongOf(made, outputs), 0);
    const std::vector<float> values = floatsOf(outputs.at(0));
    EXPECT_EQ(std::count_if(values.begin(), values.end(), [](float x) { return std::isnan(x); }),
              where == kCache ? 2 * 32 : 2);
  }
}

TEST(Decode, TextsArePure) {
  for (const char *dtype : {"bf16", "f32"})
    for (auto [axes, format] :
         {std::pair<int64_t, const char *>{0, "e4m3"}, {2, "e5m2"}, {0, "bf16"}}) {
      attention_cases::expectPure(
          decode({.d = 96, .page = 8, .scaleAxes = axes}, {.dtype = dtype, .format = format}));
    }
}

/// One launch, or another that combines, which begins early where a GPU lets it; shared memory
/// beyond 48 KiB is the launch's. Queries may lie apart where nothing else reads them.
TEST(Decode, ContractsSayWhatALaunchNeeds) {
  auto contractOf = [](const Program &program, CompileOptions options, const char *target) {
    options.target = target;
    return contract::read(compile(program, options).contract);
  };
  const matrix::Case made = decode({.d = 128});
  for (const char *target : {"sm_80", "sm_90"}) {
    const contract::Contract one = contractOf(made.program, made.options, target);
    // Of one to four sequences another kernel combines, where it may begin early.
    const bool mayOverlap = target == std::string("sm_90");
    ASSERT_EQ(one.variants.size(), mayOverlap ? 5u : 4u) << "for few, contiguous, aligned, general";
    for (const contract::Variant &variant : one.variants) {
      const bool isTwo = variant.name == "rows_4";
      ASSERT_EQ(variant.launches.size(), isTwo ? 2u : 1u);
      EXPECT_EQ(variant.launches.back().overlaps, isTwo);
    }
    for (const contract::Variant &variant : contractOf(gated(), {}, target).variants) {
      ASSERT_EQ(variant.launches.size(), 2u);
      EXPECT_FALSE(variant.launches[0].overlaps);
      EXPECT_EQ(variant.launches[1].overlaps, target == std::string("sm_90"));
    }
    // Those that have more warps have more on its way.
    EXPECT_EQ(one.variants[0].launches[0].shared, "98304");
    EXPECT_EQ(one.variants.back().launches[0].shared, "0");
  }
  const matrix::Case wide = decode({.d = 512}, {.format = "bf16"}); // two steps fill what sm_75 has
  for (const contract::Variant &variant : contractOf(wide.program, wide.options, "sm_75").variants)
    EXPECT_LE(std::stoi(variant.launches[0].shared), 64 << 10);
  auto kindOfQueries = [](const contract::Contract &contract) {
    for (const contract::Predicate &predicate : contract.variants.back().predicates)
      if (contract.tensors[predicate.tensor].name == "q")
        return predicate.kind;
    return contract::Predicate::Kind::Range;
  };
  EXPECT_EQ(kindOfQueries(contractOf(made.program, made.options, "sm_90")),
            contract::Predicate::Kind::UnitStride);
  EXPECT_EQ(kindOfQueries(contractOf(twice(), {}, "sm_90")), contract::Predicate::Kind::Contiguous);
  for (const contract::Variant &variant : contractOf(twice(), {}, "sm_90").variants)
    EXPECT_FALSE(variant.launches.back().overlaps) << "two kernels come before it";
}

TEST(Decode, NvrtcCompilesTheTexts) {
  const std::pair<Cache, OpParameters> cases[] = {
      {{.heads = 4, .kvHeads = 4, .d = 32, .page = 1}, {}},
      {{.d = 96}, {}},
      {{.heads = 8, .d = 128}, {.dtype = "f32", .format = "bf16"}},
      {{.d = 512}, {}},
      {{.heads = 32, .d = 128}, {.format = "f16"}},
      {{.d = 128, .scales = 2, .scaleAxes = 2}, {}},
      {{.heads = 16, .kvHeads = 1, .d = 96, .page = 3, .scaleAxes = 1}, {}},
      {{.heads = 16, .kvHeads = 1, .d = 128}, {}},
      {{.heads = 32, .d = 128}, {.format = "bf16"}}};
  expectNvrtc(std::size(cases), [&](size_t i, const std::string &target) {
    auto [cache, parameters] = cases[i];
    if (target == "sm_75")
      parameters.dtype = "f32";
    return decode(cache, parameters);
  });
  // What sm_75 makes of BF16; of heads of 512 that takes NVRTC two minutes.
  const matrix::Case wide = decode({.d = 192}, {.format = "bf16"});
  expectNvrtc(wide.program, wide.options, "sm_75");
}

/// The bound is so tight that most elements show a scale that is dropped, a token that is left out,
/// and one that is beyond the end. Scores are small here, so that each of the tokens counts.
TEST(Decode, BoundsCatchMutations) {
  const Cache cache = {.lengths = {45}, .heads = 8, .kvHeads = 2, .d = 64, .scales = 2};
  matrix::Case made = decode(cache, {.dtype = "f32"});
  write(made.inputs[kScale], std::vector<float>{0.002f, 0.003f});
  write(made.inputs[vScale], std::vector<float>{0.5f, 0.25f});
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  const int64_t all = 8 * 64, row = 2 * 64, enough = all * 3 / 4;
  for (const Input scale : {kScale, vScale})
    EXPECT_GE(wrongWithout(made, scale, 8, 4, 4), enough / 2) << "a head's scale dropped";
  for (const int32_t length : {44, 46, 32}) {
    matrix::Case other = made;
    write(other.inputs[lengths], std::vector<int32_t>{length});
    EXPECT_GE(wrongOf(made, runOnHost(other)), enough) << length;
  }
  EXPECT_GE(wrongWithout(made, vCache, 16 * row, 7 * row, row), enough) << "a token's values";
  EXPECT_GE(wrongWithout(made, kCache, 16 * row, 7 * row, row), all / 4) << "a token's keys";
  EXPECT_GE(wrongWithout(made, kCache, 64, 60, 4), all / 2) << "the ends of keys";
}

/// The same of a window that is one token too long or too short.
TEST(Decode, BoundsCatchMutationsOfWindows) {
  auto withWindow = [](const char *window) {
    return decode({.lengths = {45}, .heads = 8, .kvHeads = 2, .d = 64},
                  {.dtype = "f32", .settings = {{"window", window}}});
  };
  matrix::Case made = withWindow("20"), longer = withWindow("21"), shorter = withWindow("19");
  made.inputs = shorter.inputs = longer.inputs; // whose tokens are there for each
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  for (const matrix::Case &other : {longer, shorter})
    EXPECT_GE(wrongOf(made, runOnHost(other)), 8 * 64 * 3 / 4);
}

/// The same of a cache of bf16 and of f16, whose weights are rounded to their types.
TEST(Decode, BoundsCatchMutationsOfFloats) {
  for (const char *format : {"bf16", "f16"}) {
    matrix::Case made = decode({.lengths = {45}, .heads = 8, .kvHeads = 2, .d = 64},
                               {.dtype = "f32", .format = format});
    std::vector<float> queries(8 * 64);
    for (size_t i = 0; i < queries.size(); ++i)
      queries[i] = (i % 3 == 0 ? -0.5f : 0.5f) * (1 + static_cast<float>(i * 7 % 16) / 16);
    write(made.inputs[q], queries);
    ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
    const int64_t all = 8 * 64, row = 2 * 64 * 2;
    EXPECT_GE(wrongWithout(made, vCache, 16 * row, 7 * row, row), all / 2) << "a token's values";
    EXPECT_GE(wrongWithout(made, kCache, 16 * row, 7 * row, row), all / 4) << "a token's keys";
    EXPECT_GE(wrongWithout(made, kCache, 128, 120, 8), all / 2) << "the ends of keys";
    EXPECT_GE(wrongWithout(made, q, 256, 248, 8), all / 2) << "the ends of queries";
  }
}

/// A query's digits are all there, in terms of bf16: keys are 1 and -1 in pairs, so that scores are
/// what is left of the queries where most of each has gone.
TEST(Decode, QueriesMeetBf16WithAllTheirDigits) {
  for (const bool isF32 : {false, true}) {
    matrix::Case made = decode({.lengths = {45}, .heads = 2, .kvHeads = 1, .d = 64},
                               {.dtype = isF32 ? "f32" : "f16", .format = "bf16"});
    HostTensor &keys = made.inputs[kCache], &queries = made.inputs[q];
    std::mt19937 random(3);
    bool isTurned = false; // of a pair the second where the first is not
    for (size_t i = 0; i < keys.data.size() / 2; ++i) {
      isTurned = i % 2 == 0 ? random() % 2 != 0 : !isTurned;
      const uint16_t bits = isTurned ? 0xbf80 : 0x3f80;
      if (keys.data[2 * i + 1] != std::byte(0xff)) // those of no token are NaN
        std::memcpy(&keys.data[2 * i], &bits, sizeof bits);
    }
    // 96 and up to 4 more, of which bf16 has steps of a half.
    const size_t bytes = isF32 ? 4 : 2;
    matrix::Case other = made;
    for (size_t i = 0; i < queries.data.size() / bytes; ++i) {
      const auto digits = static_cast<uint32_t>(i * 37 % 64);
      const uint32_t bits = isF32 ? 0x42c00000u + (digits << 13) : 0x5600u + digits;
      const uint32_t cut = isF32 ? bits & 0xffff0000u : bits & 0xfffffff8u;
      std::memcpy(&queries.data[i * bytes], &bits, bytes);
      std::memcpy(&other.inputs[q].data[i * bytes], &cut, bytes);
    }
    other.inputs[kCache] = made.inputs[kCache];
    EXPECT_EQ(wrongOf(made, runOnHost(made)), 0) << isF32;
    EXPECT_GE(wrongOf(made, runOnHost(other)), 64) << isF32;
  }
}

/// The same of scales of tokens: one that is dropped, and those of tokens or heads exchanged.
TEST(Decode, BoundsCatchMutationsOfScales) {
  const int64_t all = 8 * 64; // of each of 45 tokens some have little weight
  matrix::Case made =
      decode({.lengths = {45}, .page = 48, .scales = 2, .scaleAxes = 2}, {.dtype = "f32"});
  const auto *table = reinterpret_cast<const int32_t *>(made.inputs[blockTable].data.data());
  const size_t first = table[0] * 48 * 2 * sizeof(float);
  for (const Input input : {kScale, vScale}) { // values as large as each other
    std::vector<float> scales = floatsOf(made.inputs[input]);
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = (input == kScale ? 0.002f : 0.5f) * (1 + static_cast<float>(i % 11) / 8);
    write(made.inputs[input], scales);
  }
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  for (const Input input : {kScale, vScale}) {
    for (const size_t token : {0, 7, 44})
      EXPECT_GE(wrongWithout(made, input, made.inputs[input].data.size(), first + 8 * token, 8),
                input == vScale ? all / 3 : all / 6)
          << "the scale of token " << token;
    for (const size_t apart : {4, 8, 64}) { // of a head, of a token, of half a step
      matrix::Case other = made;
      std::byte *scales = &other.inputs[input].data[first];
      std::rotate(scales, scales + apart, scales + 48 * 8);
      EXPECT_GE(wrongOf(made, runOnHost(other)), input == vScale ? all * 3 / 4 : all / 4) << apart;
    }
  }
}

TEST(Decode, RefusesWhatItCannot) {
  auto errorOf = [](const Cache &cache, const std::string &schedule = "") {
    return attention_cases::errorOf(decode(cache, {}, "auto", schedule));
  };
  EXPECT_EQ(errorOf({}), "");
  EXPECT_THAT(errorOf({.heads = 7}), HasSubstr("7 query heads over 2 heads of a cache"));
  EXPECT_THAT(errorOf({.d = 80}), HasSubstr("a multiple of 32 up to 512"));
  EXPECT_THAT(errorOf({.scales = 3}), HasSubstr("give one of each, or one a head"));
  EXPECT_THAT(errorOf({}, "row<threads = 32, vector = 4>"), HasSubstr("needs family map"));
  for (auto [parameters, words] :
       {std::pair(OpParameters{.format = "f32"}, "e2m1, bf16, f16"),
        {OpParameters{.format = "bf16", .settings = {{"scale_axes", "2"}}}, "has no scales"}})
    try {
      libraryOp("attention_decode", parameters);
      ADD_FAILURE() << "taken";
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  EXPECT_THAT(errorOf({}, "attention<threads = 48, vector = 1, blocks = 1, prefetch = 2>"),
              HasSubstr("whole warps"));
  EXPECT_THAT(errorOf({.d = 512}, "attention<threads = 256, vector = 1, blocks = 1, prefetch = 8>"),
              HasSubstr("must fit 227 KiB"));
  CompileOptions open;
  try {
    emit(libraryOp("attention_decode", {}), open, Stage::Cuda);
    FAIL() << "no extents";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("must be static"));
  }
}

TEST(Decode, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  Dim sequences = b.dim("b"), other = b.dim("other"), pages = b.dim("pages");
  const eider::Shape ofCache = {pages, 16, 2, 64};
  KVCache cache = {b.codes("k", e4m3, ofCache),
                   b.codes("v", e4m3, ofCache),
                   b.input("k_scale", f32, {1}),
                   b.input("v_scale", f32, {1}),
                   b.input("table", DType::i32, {sequences, 7}),
                   b.input("lengths", DType::i32, {other})};
  const Value q = b.input("q", bf16, {sequences, 4, 64}),
              wide = b.input("w", bf16, {sequences, 4, 96});
  auto errorOf = [&](const Operand &queries) {
    try {
      attention(queries, cache);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(errorOf(q), AllOf(HasSubstr("the lengths are [other]"), HasSubstr("DecodeTest.cpp")));
  cache.lengths = b.input("lengths_of_all", DType::i32, {sequences});
  EXPECT_THAT(errorOf(wide), HasSubstr("give both one last dim"));
  const Value ofAll = *cache.key_scale;
  cache.key_scale = b.input("of_tokens", f32, {pages, 16, 2});
  EXPECT_THAT(errorOf(q), AllOf(HasSubstr("scales of keys are [pages, 16, 2]"),
                                HasSubstr("those of values [1]")));
  cache.key_scale = b.input("of_others", f32, {other, 16, 2});
  EXPECT_THAT(errorOf(q), AllOf(HasSubstr("the scales of keys are [other, 16, 2], the keys [pages"),
                                HasSubstr("[pages, page, s] or")));
  cache.key_scale = ofAll;
  cache.values = b.codes("other_v", e5m2, ofCache);
  EXPECT_THAT(errorOf(q), HasSubstr("one shape and one format"));
  try {
    attention(q, cache, {.window = -1});
    FAIL() << "a window of less than nothing";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("a window of -1 tokens"));
  }
  cache.values = b.codes("v_again", e4m3, ofCache);
  cache.value_scale.reset();
  EXPECT_THAT(errorOf(q), HasSubstr("some scales are given, and others are not"));
  cache.value_scale = ofAll;
  KVCache floats = cache;
  std::swap(floats, cache);
  cache.keys = b.input("floats", bf16, ofCache);
  cache.values = cache.keys;
  EXPECT_THAT(errorOf(q),
              AllOf(HasSubstr("no codes, and have scales"), HasSubstr("leave scales out")));
  cache.key_scale.reset();
  cache.value_scale.reset();
  EXPECT_EQ(errorOf(q), "");
  cache.keys = b.input("f32s", f32, ofCache);
  cache.values = cache.keys;
  EXPECT_THAT(errorOf(q), HasSubstr("the keys are neither codes, bf16 nor f16"));
  cache = floats;
  cache.key_scale = cache.value_scale = b.input("of_blocks", f32, {pages, 16, 2, 2});
  EXPECT_EQ(errorOf(q), "");
  cache.key_scale = cache.value_scale = b.input("of_other_blocks", f32, {pages, 8, 2, 2});
  EXPECT_THAT(errorOf(q), AllOf(HasSubstr("the scales of keys are [pages, 8, 2, 2]"),
                                HasSubstr("[pages, page, s] or [pages, page, s, blocks]")));
  cache.key_scale = cache.value_scale = b.input("powers", bf16, {pages, 16, 2, 2});
  EXPECT_THAT(errorOf(q), HasSubstr("give scales of f32"));
  cache.values = q;
  EXPECT_THAT(errorOf(q), HasSubstr("[pages, page, kv_heads, d]"));
  EXPECT_THROW(cache.keys + 1.0f, Error) << "codes without their scales are no values";
}
