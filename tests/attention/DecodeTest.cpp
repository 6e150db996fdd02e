//===- DecodeTest.cpp - A token's queries over a paged cache --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include "tests/matrix/Reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace eider;
using namespace eider::at_points;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
enum Input { q, kCache, vCache, kScale, vScale, blockTable, lengths };

/// A cache, and who asks it.
struct Cache {
  std::vector<int64_t> lengths = {77, 0, 1, 130};
  int64_t heads = 8, kvHeads = 2, d = 64, page = 16, scales = 1;
};

Dims dimsOf(const Cache &shape) {
  const int64_t longest = *std::max_element(shape.lengths.begin(), shape.lengths.end());
  const int64_t mostPages = (longest + shape.page - 1) / shape.page + 1;
  const auto sequences = static_cast<int64_t>(shape.lengths.size());
  return {{"b", sequences},       {"h", shape.heads},     {"d", shape.d},
          {"page", shape.page},   {"kv_heads", shape.kvHeads}, {"scales", shape.scales},
          {"max_pages", mostPages}, {"pages", sequences * mostPages + 3}};
}

template <class T> void write(HostTensor &tensor, const std::vector<T> &values) {
  std::memcpy(tensor.data.data(), values.data(), values.size() * sizeof(T));
}

/// The op on such a cache, whose pages are chosen in an order of no pattern. What no sequence has
/// is NaN, and of the table no page at all.
matrix::Case decode(const Cache &shape, const OpParameters &parameters = {},
                    const std::string &codec = "auto", const std::string &schedule = "",
                    const std::string &values = "normal", uint64_t seed = 1) {
  const Dims dims = dimsOf(shape);
  matrix::Case made{libraryOp("attention_decode", parameters), {}, {}, dims, {}};
  made.forAnyRows = false;
  made.options.codec = codec;
  made.options.schedule = schedule;
  for (const char *open : {"h", "d", "page", "kv_heads", "scales"})
    made.options.dims[open] = dims.at(open);
  made.inputs = inputsOf(made.program, dims, values, seed);
  const int64_t pages = dims.at("pages"), most = dims.at("max_pages");
  const std::vector<int32_t> tokens(shape.lengths.begin(), shape.lengths.end());
  std::vector<int32_t> table(tokens.size() * static_cast<size_t>(most), INT32_MAX);
  std::vector<bool> isKept(static_cast<size_t>(pages * shape.page));
  std::vector<int32_t> order(static_cast<size_t>(pages));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(seed)));
  for (size_t sequence = 0, next = 0; sequence < tokens.size(); ++sequence)
    for (int64_t token = 0; token < tokens[sequence]; ++token) {
      int32_t &page = table[sequence * most + token / shape.page];
      if (token % shape.page == 0)
        page = order[next++];
      isKept[static_cast<size_t>(page * shape.page + token % shape.page)] = true;
    }
  const auto row = static_cast<size_t>(shape.kvHeads * shape.d);
  const std::byte nan{parameters.format.find("fnuz") == std::string::npos ? uint8_t(0x7f)
                                                                          : uint8_t(0x80)};
  for (const Input cache : {kCache, vCache})
    for (size_t token = 0; token < isKept.size(); ++token)
      if (!isKept[token])
        std::fill_n(made.inputs[cache].data.begin() + token * row, row, nan);
  write(made.inputs[blockTable], table);
  write(made.inputs[lengths], tokens);
  return made;
}

std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases = {decode({})};
  auto add = [&](const Cache &shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "",
                 const std::string &values = "normal") {
    cases.push_back(decode(shape, parameters, codec, schedule, values, cases.size()));
  };
  for (const int64_t d : {32, 64, 96, 128, 192, 256, 512})
    add({.lengths = {45, 3}, .d = d}, {.dtype = "f32"});
  for (const int64_t page : {1, 2, 3, 8, 16, 32, 48, 256})
    add({.lengths = {100, 17, 0}, .page = page}, {.dtype = "f16"});
  for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>{1, 1}, {6, 2}, {9, 1}, {16, 1}, {40, 8}})
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
  add({.lengths = {0, 0}});
  add({.lengths = {1}});
  add({.lengths = {1500, 16, 15}, .heads = 4, .kvHeads = 1});
  for (const char *schedule :
       {"attention<threads = 32, vector = 1, blocks = 1, prefetch = 2>",
        "attention<threads = 128, vector = 1, blocks = 37, prefetch = 6, resident = 2>",
        "attention<threads = 256, vector = 1, blocks = 16, prefetch = 3, software = 1>",
        "map<threads = 32, vector = 16, loads = 2>"})
    add({.lengths = {700, 0, 33}}, {}, "auto", schedule);
  std::vector<matrix::Case> strided = {cases[0], cases[10]};
  for (matrix::Case &made : strided)
    cases.push_back(made);
  return cases;
}

/// What stands after attention: a gate and a residual, of tokens that i64 count.
Program gated() {
  Builder b("gated");
  Dim sequences = b.dim("b"), pages = b.dim("pages"), most = b.dim("max_pages");
  PagedCache cache;
  cache.keys = b.codes("k_cache", e4m3, {pages, 16, 2, 64});
  cache.values = b.codes("v_cache", e4m3, {pages, 16, 2, 64});
  cache.key_scale = b.input("k_scale", f32, {2});
  cache.value_scale = b.input("v_scale", f32, {2});
  cache.block_table = b.input("block_table", DType::i64, {sequences, most});
  cache.lengths = b.input("lengths", DType::i64, {sequences});
  const eider::Shape shape = {sequences, 4, 64};
  Value o = attention(b.input("q", bf16, shape), cache);
  Value residual = b.inout("residual", bf16, shape);
  b.store(residual, o * sigmoid(b.input("gate", bf16, shape)) + residual);
  return b.build();
}
} // namespace

TEST(Decode, AgreesWithTheReferenceOnTheDevice) { at_points::expectReference(cases()); }

TEST(Decode, WhatStandsAroundAgreesOnTheDevice) {
  const Cache cache = {.heads = 4, .scales = 2};
  const matrix::Case of_op = decode(cache);
  matrix::Case made = decode(cache);
  made.program = gated();
  made.inputs = inputsOf(made.program, made.dims, "normal", 5);
  (void)of_op;
}
