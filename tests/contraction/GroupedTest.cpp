//===- GroupedTest.cpp - Groups of rows, each times its own weights -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include "tests/matrix/Reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <optional>

using namespace eider;
using namespace eider::at_points;
using ::testing::HasSubstr;

namespace {
Dims extents(int64_t groups, int64_t m, int64_t n, int64_t k) {
  return {{"groups", groups}, {"m", m}, {"n", n}, {"k", k}};
}

Point grouped(OpParameters parameters, Dims dims) {
  return {.op = "grouped_matmul", .parameters = std::move(parameters), .dims = std::move(dims)};
}

/// Formats, blocks, scales and types; more groups than lanes of a warp; rows and columns that end
/// in the middle of what a warp multiplies, rows that begin anywhere.
std::vector<Point> points() {
  std::vector<Point> points;
  auto add = [&](const Point &point) {
    for (const Point &one : inEachVariant(point))
      points.push_back(one);
  };
  for (const char *block : {"1x128", "128x128", "1x*", "*x*", "1x32", "32x64"})
    add(grouped({.block = block}, extents(5, 37, 45, 272)));
  add(grouped({.dtype = "f16", .block = "1x64", .scale = "e8m0", .index = "i32"},
              extents(3, 17, 50, 333)));
  add(grouped({.format = "e2m1", .block = "1x32", .scale = "e8m0"}, extents(4, 30, 40, 130)));
  for (const char *dtype : {"f16", "bf16"})
    points.push_back(grouped({.dtype = dtype, .format = "e2m1", .block = "1x16", .scale = "e4m3"},
                             extents(2, 9, 20, 96)));
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz"})
    for (const char *dtype : {"bf16", "f32"}) {
      points.push_back(grouped({.dtype = dtype, .format = format}, extents(3, 12, 24, 144)));
      points.back().values = "specials";
    }
  for (const int64_t m : {0, 1, 8, 100, 200})
    points.push_back(grouped({.index = m % 8 ? "i32" : "i64"}, extents(1 + m % 7, m, 48, 128)));
  for (const int64_t groups : {31, 32, 33, 70})
    points.push_back(grouped({}, extents(groups, 2 * groups + 5, 16, 64)));
  for (const char *schedule :
       {"contract<threads = 32, vector = 4, rows = 8, columns = 16, prefetch = 3, loads = 1>",
        "contract<threads = 128, vector = 4, rows = 16, columns = 64, prefetch = 2, loads = 2, "
        "split = 2>",
        "contract<threads = 128, vector = 1, rows = 32, columns = 16, prefetch = 2, loads = 1, "
        "split = 4, tiles = 2>",
        "contract<threads = 64, vector = 8, rows = 64, columns = 64, prefetch = 3, loads = 1, "
        "blocks = 3>"}) {
    points.push_back(grouped({}, extents(6, 143, 77, 392)));
    points.back().schedule = schedule;
  }
  return points;
}

/// Of codes, as they lie and as f16: blocks of both, formats, rows that begin anywhere.
std::vector<Point> codePoints() {
  std::vector<Point> points;
  auto add = [&](OpParameters parameters, Dims dims, const char *codec = "auto") {
    points.push_back({.op = "grouped_scaled_matmul",
                      .parameters = std::move(parameters),
                      .dims = std::move(dims),
                      .codec = codec});
  };
  for (const char *block : {"1x128", "128x128", "1x*"})
    for (const char *fromBlock : {"1x128", "1x*", "*x*"})
      for (const char *codec : {"auto", "software"})
        add({.block = block, .fromBlock = fromBlock}, extents(5, 37, 45, 400), codec);
  add({.block = "1x32", .fromBlock = "1x64", .index = "i32"}, extents(3, 21, 40, 272));
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz"}) {
    add({.format = format, .fromFormat = "e5m2"}, extents(3, 12, 24, 144));
    points.back().values = "specials";
  }
  for (const char *block : {"1x128", "1x*"})
    for (const Point &one : inEachVariant({.op = "grouped_scaled_matmul",
                            .parameters = {.block = block, .fromBlock = block, .fromScale = "bf16"},
                            .dims = extents(4, 30, 37, 333)}))
      points.push_back(one);
  for (const int64_t m : {0, 1, 200})
    add({}, extents(33, m, 48, 128));
  return points;
}

/// As many rows of each group, but for what the last lack: fewer of the last, none of some, tiles
/// of several in turn.
std::vector<Point> batches() {
  std::vector<Point> points;
  auto batched = [](OpParameters parameters, int64_t batches, int64_t m, int64_t n, int64_t k) {
    return Point{.op = "batched_matmul",
                 .parameters = std::move(parameters),
                 .dims = {{"batches", batches}, {"m", m}, {"n", n}, {"k", k}}};
  };
  for (const char *block : {"1x128", "128x128", "1x*"})
    for (const Point &one : inEachVariant(batched({.block = block}, 5, 40, 45, 272)))
      points.push_back(one);
  points.push_back(batched({.dtype = "f32", .format = "e5m2", .scale = "e8m0"}, 3, 7, 24, 144));
  points.push_back(batched({.dtype = "f16", .format = "e2m1", .block = "1x32"}, 4, 30, 40, 130));
  for (const int64_t m : {0, 1, 6, 8, 64, 100, 200})
    points.push_back(batched({}, 7, m, 48, 128));
  points.push_back(batched({}, 40, 81, 16, 64));
  for (const char *schedule :
       {"contract<threads = 128, vector = 1, rows = 32, columns = 16, prefetch = 2, loads = 1, "
        "split = 4, tiles = 2>",
        "contract<threads = 64, vector = 8, rows = 64, columns = 64, prefetch = 3, loads = 1, "
        "blocks = 3>"}) {
    points.push_back(batched({}, 6, 143, 77, 392));
    points.back().schedule = schedule;
  }
  return points;
}

/// By warpgroups (sm_90a), in clusters of blocks that have a part of a group's rows each.
std::vector<Point> warpgroupPoints() {
  std::vector<Point> points;
  for (const char *schedule :
       {"contract<threads = 128, vector = 4, rows = 16, loads = 2, columns = 64, prefetch = 3, "
        "warpgroups = 1>",
        "contract<threads = 256, vector = 4, rows = 64, loads = 2, columns = 128, prefetch = 3, "
        "cluster = 2, warpgroups = 1>",
        "contract<threads = 512, vector = 4, rows = 32, loads = 2, columns = 256, prefetch = 4, "
        "cluster = 4, warpgroups = 1>"})
    for (const char *block : {"1x128", "128x128", "1x*"}) {
      const char *dtype = points.size() % 2 ? "f16" : "bf16";
      points.push_back(
          grouped({.dtype = dtype, .block = block, .index = "i32"}, extents(5, 143, 150, 400)));
      points.back().schedule = schedule;
      points.push_back(grouped({.dtype = dtype, .block = block}, extents(3, 70, 64, 1024)));
      points.back().schedule = schedule;
      for (const char *fromBlock : {"1x128", "*x*"}) {
        points.push_back({.op = "grouped_scaled_matmul",
                          .parameters = {.block = block, .fromBlock = fromBlock},
                          .dims = extents(4, 90, 70, 656),
                          .schedule = schedule});
      }
      points.push_back({.op = "batched_matmul",
                        .parameters = {.dtype = dtype, .block = block},
                        .dims = {{"batches", 3}, {"m", 40}, {"n", 70}, {"k", 528}},
                        .schedule = schedule});
      if (block == std::string("1x*")) // of four bits, which meet their scales before
        for (auto [narrow, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}}) {
          points.push_back(grouped({.format = "e2m1", .block = narrow, .scale = scale},
                                   extents(3, 70, 150, 640)));
          points.back().schedule = schedule;
        }
    }
  return points;
}

/// The experts of a mixture: what stands around two products of one x, and a quantisation.
Program gated() {
  Builder b("experts");
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled gate = b.scaled_input("gate", e4m3, {groups, n, k}, {1, 1, 128}, f32);
  Scaled up = b.scaled_input("up", e5m2, {groups, n, k}, {1, 64, 64}, f32);
  Value x = b.input("x", bf16, {m, k}), ends = b.input("ends", DType::i32, {groups});
  Value bias = b.input("bias", bf16, {n});
  Value h = silu(eider::matmul(x, gate, ends) + bias) * eider::matmul(x, up, ends);
  b.output("y", quantize(h, e4m3, {.block = {1, 32}}));
  return b.build();
}

/// The same of an x of codes, which meets one of both as it lies; and of as many rows each.
Program gatedOfCodes(bool hasEnds) {
  Builder b("experts_of_codes");
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled gate = b.scaled_input("gate", e4m3, {groups, n, k}, {1, 1, 128}, f32);
  Scaled up = b.scaled_input("up", e5m2, {groups, n, k}, {1, 64, 64}, f32);
  Scaled x = b.scaled_input("x", e4m3, {m, k}, {1, 128}, f32);
  std::optional<Value> ends;
  if (hasEnds)
    ends = b.input("ends", DType::i32, {groups});
  auto times = [&](const Scaled &w) {
    return hasEnds ? eider::matmul(x, w, *ends) : eider::batched_matmul(x, w);
  };
  Value h = silu(times(gate)) * times(up);
  b.output("y", quantize(h, e4m3, {.block = {1, 32}}));
  return b.build();
}

/// A residual is added to the product, of rows of no group too.
Program residual() {
  Builder b("projection");
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {groups, n, k}, {1, 128, 128}, bf16);
  Value x = b.input("x", f16, {m, k}), residual = b.inout("residual", bf16, {m, n});
  b.store(residual, eider::matmul(x, w, b.input("ends", DType::i64, {groups})) + residual);
  return b.build();
}

/// The product, with one scale for all of it, whose amax is a kernel of its own.
Program scaledAtOnce() {
  Builder b("at_once");
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {groups, n, k}, {1, 1, whole}, f32);
  Value x = b.input("x", bf16, {m, k}), ends = b.input("ends", DType::i64, {groups});
  b.output("y", quantize(eider::matmul(x, w, ends), e4m3, {.block = {whole, whole}}));
  return b.build();
}

/// A case of integers so small that f32 adds them exactly in any order, of five groups, and where
/// these end; and the product, by the plainest of loops.
struct Exact {
  static constexpr int64_t groups = 5, m = 23, n = 21, k = 300, blocks = 3;
  matrix::Case made = at_points::caseOf(grouped({.dtype = "f32"}, extents(groups, m, n, k)));
  std::vector<float> expected = std::vector<float>(m * n);

  explicit Exact(const std::vector<int64_t> &ends, const std::vector<int64_t> &groupOfRow) {
    constexpr unsigned char codes[] = {0x00, 0x38, 0x40, 0x44, 0x48, 0xb8, 0xc0};
    constexpr int values[] = {0, 1, 2, 3, 4, -1, -2};
    auto number = [](int64_t group, int64_t row, int64_t j) {
      return (group * 4 + row * 5 + j * 3) % 7;
    };
    std::vector<float> x(m * k), scales(groups * n * blocks);
    std::vector<unsigned char> w(groups * n * k);
    for (int64_t i = 0; i < m * k; ++i)
      x[i] = static_cast<float>(i * 7 % 9 - 4);
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = std::ldexp(1.0f, static_cast<int>((i + i / (n * blocks)) % 3));
    for (int64_t i = 0; i < groups * n * k; ++i)
      w[i] = codes[number(i / (n * k), i / k % n, i % k)];
    for (int64_t row = 0; row < m; ++row)
      for (int64_t i = 0, group = groupOfRow[row]; group >= 0 && i < n; ++i)
        for (int64_t j = 0; j < k; ++j)
          expected[row * n + i] += static_cast<float>(values[number(group, i, j)]) *
                                   scales[(group * n + i) * blocks + j / 128] * x[row * k + j];
    std::memcpy(made.inputs[0].data.data(), w.data(), w.size());
    std::memcpy(made.inputs[1].data.data(), scales.data(), 4 * scales.size());
    std::memcpy(made.inputs[2].data.data(), x.data(), 4 * x.size());
    std::memcpy(made.inputs[3].data.data(), ends.data(), 8 * ends.size());
  }
};

/// So many rows of each group; those after them have none.
std::vector<int64_t> groupsOf(std::initializer_list<std::pair<int64_t, int64_t>> rows) {
  std::vector<int64_t> groups;
  for (auto [count, group] : rows)
    groups.insert(groups.end(), static_cast<size_t>(count), group);
  groups.resize(Exact::m, -1);
  return groups;
}
} // namespace

TEST(Grouped, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

TEST(Grouped, OfCodesAgreesWithTheReferenceOnTheDevice) { expectReference(codePoints()); }

TEST(Grouped, BatchesAgreeWithTheReferenceOnTheDevice) { expectReference(batches()); }

TEST(Grouped, ByWarpgroupsAgreesWithTheReferenceOnTheDevice) { expectReference(warpgroupPoints()); }

TEST(Grouped, WhatStandsAroundAgreesOnTheDevice) {
  std::vector<matrix::Case> cases;
  for (const int64_t m : {1, 19, 75})
    for (const Program &program :
         {gated(), residual(), scaledAtOnce(), gatedOfCodes(true), gatedOfCodes(false)}) {
      cases.push_back(caseOf(program, extents(4, m, 96, 384), "m"));
      cases.back().forAnyRows = m < 70;
    }
  at_points::expectReference(cases);
}

/// Without the reference.
TEST(Grouped, IsExactOnIntegers) {
  for (const auto &[ends, groupOfRow] :
       {std::pair{std::vector<int64_t>{9, 9, 10, 20, 23},
                  groupsOf({{9, 0}, {1, 2}, {10, 3}, {3, 4}})},
        {{0, 4, 4, 4, 21}, groupsOf({{4, 1}, {17, 4}})},
        {{0, 0, 0, 0, 0}, groupsOf({})},
        // Ends that fall are those before them, and none is beyond the rows or below 0.
        {{INT64_MIN, 7, 3, 11, INT64_MAX}, groupsOf({{7, 1}, {4, 3}, {12, 4}})},
        {{24, -1, 5, 9, 23}, groupsOf({{23, 0}})}}) {
    const Exact exact(ends, groupOfRow);
    const std::vector<HostTensor> outputs = runOnHost(exact.made);
    EXPECT_EQ(floatsOf(outputs.at(0)), exact.expected) << ends[0] << ' ' << ends[1];
    EXPECT_EQ(wrongOf(exact.made, outputs), 0) << "the reference has other groups";
  }
}

/// The bound is so tight that many elements show the weights of another group, a scale that is
/// dropped, and a row in the group before its own.
TEST(Grouped, BoundsCatchMutations) {
  constexpr int64_t groups = 3, m = 24, n = 32, k = 520, scales = 5;
  matrix::Case made = at_points::caseOf(grouped({.dtype = "f32"}, extents(groups, m, n, k)));
  auto setEnds = [](matrix::Case &of, const std::vector<int64_t> &ends) {
    std::memcpy(of.inputs[3].data.data(), ends.data(), 8 * ends.size());
  };
  setEnds(made, {8, 9, 20});
  const std::vector<HostTensor> right = runOnHost(made);
  ASSERT_EQ(wrongOf(made, right), 0);
  EXPECT_GE(wrongWithout(made, 1, 4 * groups * n * scales, 4 * n * scales * 2, 4 * n * scales),
            11 * n * 9 / 10)
      << "a group's scales dropped";
  matrix::Case other = made;
  setEnds(other, {8, 10, 20});
  EXPECT_GE(wrongOf(made, runOnHost(other)), n * 9 / 10) << "a row in the group before its own";
  EXPECT_LE(wrongOf(made, runOnHost(other)), n);
  setEnds(other, {8, 9, 19});
  EXPECT_GE(wrongOf(made, runOnHost(other)), n * 9 / 10) << "a row of a group in none";
  other = made;
  std::rotate(other.inputs[0].data.begin(), other.inputs[0].data.begin() + n * k,
              other.inputs[0].data.end());
  EXPECT_GE(wrongOf(made, runOnHost(other)), 20 * n * 9 / 10) << "weights of other groups";
}

/// Without the reference: rows of a batch meet its weights, of which each is of one code.
TEST(Grouped, BatchesAreOfAsManyRows) {
  constexpr int64_t batches = 4, n = 20, k = 128;
  for (const int64_t m : {3, 8, 9, 10, 61}) {
    matrix::Case made =
        at_points::caseOf({.op = "batched_matmul",
                           .parameters = {.dtype = "f32", .block = "1x*"},
                           .dims = {{"batches", batches}, {"m", m}, {"n", n}, {"k", k}}});
    constexpr unsigned char codes[batches] = {0x38, 0x40, 0x44, 0x48}; // 1, 2, 3, 4
    for (int64_t batch = 0; batch < batches; ++batch)
      std::memset(made.inputs[0].data.data() + batch * n * k, codes[batch], n * k);
    for (size_t input : {1, 2}) {
      const std::vector<float> ones(made.inputs[input].data.size() / sizeof(float), 1);
      std::memcpy(made.inputs[input].data.data(), ones.data(), made.inputs[input].data.size());
    }
    const std::vector<HostTensor> outputs = runOnHost(made);
    const std::vector<float> y = floatsOf(outputs.at(0));
    const int64_t ofEach = (m + batches - 1) / batches;
    for (int64_t i = 0; i < m * n; ++i)
      ASSERT_EQ(y[i], static_cast<float>(k * (1 + i / n / ofEach))) << m << " rows, row " << i / n;
    EXPECT_EQ(wrongOf(made, outputs), 0) << "the reference has other batches";
  }
}

/// The bound of codes in groups shows the scales of another row, and the codes of another group.
TEST(Grouped, BoundsOfCodesCatchMutations) {
  constexpr int64_t groups = 3, m = 24, n = 32, k = 520;
  matrix::Case made = at_points::caseOf({.op = "grouped_scaled_matmul",
                                         .parameters = {.dtype = "f32"},
                                         .dims = extents(groups, m, n, k)});
  const std::vector<int64_t> ends = {8, 9, 20};
  std::memcpy(made.inputs[4].data.data(), ends.data(), 8 * ends.size());
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  matrix::Case other = made;
  std::rotate(other.inputs[0].data.begin(), other.inputs[0].data.begin() + n * k,
              other.inputs[0].data.end());
  EXPECT_GE(wrongOf(made, runOnHost(other)), 20 * n * 8 / 10) << "weights of other groups";
  other = made;
  std::rotate(other.inputs[3].data.begin(), other.inputs[3].data.begin() + 4 * 5,
              other.inputs[3].data.end());
  EXPECT_GE(wrongOf(made, runOnHost(other)), 20 * n / 10) << "the scales of the next row of x";
}

/// A tile of few rows serves launches whose groups have as few on average, or half.
TEST(Grouped, TilesAreOfTheMeanOfGroups) {
  CompileOptions options;
  options.target = "sm_90";
  options.dims = {{"groups", 64}, {"n", 256}, {"k", 512}};
  const std::string text = emit(libraryOp("grouped_matmul", {}), options, Stage::Cuda);
  for (const char *rows : {"at most 256 rows", "at most 512 rows", "at most 1024 rows"})
    EXPECT_THAT(text, HasSubstr(rows));
  EXPECT_THAT(compile(libraryOp("grouped_matmul", {}), options).contract,
              HasSubstr("(min(m, ceildiv(m, 64) + 64)) * "));
  CompileOptions ofBatches = options;
  ofBatches.dims = {{"batches", 64}, {"n", 256}, {"k", 512}};
  const std::string batches = emit(libraryOp("batched_matmul", {}), ofBatches, Stage::Cuda);
  for (const char *rows : {"at most 512 rows", "at most 1024 rows", "at most 2048 rows"})
    EXPECT_THAT(batches, HasSubstr(rows)) << "all have the mean";
  options.dims["groups"] = 1;
  EXPECT_THAT(emit(libraryOp("grouped_matmul", {}), options, Stage::Cuda),
              HasSubstr("at most 8 rows"));
}

TEST(Grouped, RefusesWhatItCannot) {
  EXPECT_THAT(errorOf(gated(), {{"n", 96}, {"k", 384}}),
              HasSubstr("dim 'groups' counts the groups of rows and must be static"));
  EXPECT_THAT(errorOf(gated(), {{"groups", 0}, {"n", 96}, {"k", 384}}), HasSubstr("in no groups"));
  auto twice = [](bool isGrouped) {
    Builder b("twice");
    Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
    Scaled w = b.scaled_input("w", e4m3, {groups, n, k}, {1, 1, 128}, f32);
    Value x = b.input("x", bf16, {m, k});
    Value first = eider::matmul(x, w, b.input("ends", DType::i32, {groups}));
    Value second = isGrouped ? eider::matmul(x, w, b.input("others", DType::i32, {groups}))
                             : eider::matmul(x, b.scaled_input("v", e4m3, {n, k}, {1, 128}));
    b.output("y", first + second, bf16);
    return b.build();
  };
  for (const bool isGrouped : {false, true})
    EXPECT_THAT(errorOf(twice(isGrouped), {{"groups", 2}, {"n", 96}, {"k", 384}}),
                HasSubstr("in other groups than another product"));
  Builder b("blocks");
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {groups, n, k}, {1, 1, 128}, f32);
  Value y = eider::matmul(b.input("x", bf16, {m, k}), w, b.input("ends", DType::i32, {groups}));
  b.output("y", quantize(y, e4m3, {.block = {128, 128}}));
  EXPECT_THAT(errorOf(b.build(), {{"groups", 2}, {"n", 256}, {"k", 384}}),
              HasSubstr("two-dimensional blocks of a product"));
}

TEST(Grouped, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {groups, n, k}, {1, 1, 128}, f32);
  Scaled one = b.scaled_input("one", e4m3, {n, k}, {1, 128}, f32);
  Value x = b.input("x", bf16, {m, k}), ends = b.input("ends", DType::i32, {groups});
  auto errorOf = [](const std::function<void()> &multiply) {
    try {
      multiply();
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("GroupedTest.cpp"));
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(errorOf([&] { eider::matmul(x, w); }), HasSubstr("groups [g, n, k] with their ends"));
  EXPECT_THAT(errorOf([&] { eider::matmul(x, one, ends); }), HasSubstr("give them as [g, n, k]"));
  EXPECT_THAT(errorOf([&] { eider::batched_matmul(x, one); }), HasSubstr("give them as [g, n, k]"));
  Scaled codes = b.scaled_input("codes", e4m3, {m, k}, {1, 128}, f32);
  EXPECT_THAT(errorOf([&] { eider::matmul(codes, w); }), HasSubstr("or to batched_matmul"));
  EXPECT_THAT(errorOf([&] { eider::matmul(codes, w, x); }), HasSubstr("give an input of i32"));
  EXPECT_THAT(errorOf([&] { eider::matmul(codes, w, Value()); }), HasSubstr("an empty value"));
  Builder elsewhere("elsewhere");
  Value others = elsewhere.input("ends", DType::i32, {elsewhere.dim("groups")});
  EXPECT_THAT(errorOf([&] { eider::matmul(codes, w, others); }), HasSubstr("two Builders"));
  EXPECT_THAT(errorOf([&] { eider::matmul(x, w, b.input("of_rows", DType::i32, {m})); }),
              HasSubstr("ends of shape [m] are not one of each group of [groups, n, k]"));
  EXPECT_THAT(errorOf([&] { eider::matmul(x, w, b.input("floats", f32, {groups})); }),
              HasSubstr("give an input of i32 or i64"));
}

TEST(Grouped, TextsArePure) {
  for (const std::vector<Point> &each : {points(), codePoints(), batches()})
    expectPure(each);
}
TEST(Grouped, NvrtcCompilesTheTexts) {
  std::vector<Point> some = points();
  std::erase_if(some, [count = 0](const Point &) mutable { return count++ % 7 != 0; }); // slow
  expectNvrtc(some);
}
TEST(Grouped, NvrtcCompilesTheTextsOfCodes) {
  for (const char *target : {"sm_80", "sm_89", "sm_100"})
    expectNvrtc(codePoints(), target, /*every=*/11); // all would be slow
}
TEST(Grouped, NvrtcCompilesTheTextsOfBatches) {
  for (const char *target : {"sm_80", "sm_90", "sm_120"})
    expectNvrtc(batches(), target, /*every=*/9); // all would be slow
}

TEST(Grouped, NvrtcCompilesTheTextsOfWarpgroups) {
  expectNvrtc(warpgroupPoints(), "sm_90a", /*every=*/5); // all would be slow
}

/// Where a tile has more than 16 rows.
TEST(Grouped, AreMultipliedByWarpgroups) {
  CompileOptions options;
  options.target = "sm_90a";
  options.dims = {{"groups", 8}, {"n", 4096}, {"k", 14336}};
  const std::string text = emit(libraryOp("grouped_matmul", {}), options, Stage::Cuda);
  const auto few = text.find("grouped_matmul_rows_8("), some = text.find("grouped_matmul_rows_16("),
             apart = text.find("grouped_matmul_aligned("); // by warps, as what begins anywhere is
  for (size_t product = text.find("GroupedProduct<"); product != std::string::npos;
       product = text.find("GroupedProduct<", product + 1))
    EXPECT_EQ(text.compare(product, 31, "GroupedProduct<WarpgroupProduct") == 0,
              product > some && product < apart)
        << text.substr(product, 60);
  EXPECT_LT(few, some);
  EXPECT_LT(some, apart);
}
