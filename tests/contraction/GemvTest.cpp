//===- GemvTest.cpp - Weights times a vector ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"
#include "tests/text/Purity.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using ::testing::HasSubstr;

namespace {
Dims extents(int64_t n, int64_t k) { return {{"n", n}, {"k", k}}; }
Dims ofHidden(int64_t n, int64_t k) { return {{"n", n}, {"k", k}, {"hidden", 150}}; }

/// Formats, blocks, scales and types; rows that end in the middle of a chunk, of a block, of a
/// tile.
std::vector<Point> points() {
  std::vector<Point> points;
  auto add = [&](const Point &point) {
    for (const Point &one : inEachVariant(point))
      points.push_back(one);
  };
  for (const char *block : {"1x128", "128x128", "1x*", "*x*", "1x32", "32x64", "*x128"})
    for (const char *codec : {"hardware", "software"})
      add({.op = "gemv",
           .parameters = {.block = block},
           .dims = extents(37, 1173),
           .codec = codec});
  for (const char *format : {"e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *values : {"normal", "specials"})
      add({.op = "gemv",
           .parameters = {.format = format},
           .dims = extents(9, 300),
           .values = values});
  add({.op = "gemv", .dims = extents(301, 520), .values = "specials"});
  add({.op = "gemv",
       .parameters = {.dtype = "f32", .block = "1x64", .scale = "e8m0"},
       .dims = extents(13, 2100)});
  add({.op = "gemv",
       .parameters = {.dtype = "f16", .block = "1x128", .scaleLayout = "mn_major_aligned"},
       .dims = extents(21, 640)});
  add({.op = "gemv",
       .parameters = {.format = "e2m1", .block = "1x32", .scale = "e8m0"},
       .dims = extents(21, 650)});
  add({.op = "gemv",
       .parameters = {.format = "e2m1", .block = "1x16", .scale = "e4m3"},
       .dims = extents(5, 96)});
  // Codes of four bits, whose scales are met before products: rows that end in the middle of a
  // chunk, of a block, of four lanes; by the heuristic, and some rows a thread or one, chunks of
  // half a block or of two.
  for (auto [block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}, {"32x64", "e8m0"}})
    for (const char *schedule : {"", "row<threads = 64, vector = 32, rows = 3, tiles = 2, mma = 1>",
                                 "row<threads = 64, vector = 16, cluster = 2, mma = 1>",
                                 "row<threads = 32, vector = 8, rows = 2, prefetch = 1, mma = 1>"})
      for (const int64_t k : {2048, 1040, 906}) {
        const char *values = k == 1040 ? "specials" : "normal";
        if (schedule == std::string() || k < 2048)
          add({.op = "gemv",
               .parameters = {.format = "e2m1", .block = block, .scale = scale},
               .dims = extents(21, k),
               .values = values,
               .schedule = schedule});
      }
  for (const auto &[block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}})
    for (const int64_t k : {650, 1024})
      add({.op = "rms_norm_gemv",
           .parameters = {.format = "e2m1", .block = block, .scale = scale},
           .dims = extents(21, k)});
  for (const int64_t n : {0, 1})
    add({.op = "gemv", .dims = extents(n, 1)});
  for (const char *dtype : {"bf16", "f16"})
    for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e2m1"})
      for (const char *schedule :
           {"row<threads = 32, vector = 8, rows = 3, tiles = 2, prefetch = 1, mma = 1>",
            "row<threads = 64, vector = 8, cluster = 2, mma = 1>"})
        add({.op = "gemv",
             .parameters = {.dtype = dtype, .format = format, .block = "1x64"},
             .dims = extents(43, 778),
             .values = "specials",
             .schedule = schedule});
  // Rows that end in each lane of a four: the one that has their sum may be outside.
  for (const int64_t k : {72, 104, 136, 168, 200, 232, 250})
    for (const char *schedule : {"row<threads = 32, vector = 8, mma = 1>",
                                 "row<threads = 32, vector = 8, rows = 3, mma = 1>"})
      points.push_back(
          {.op = "gemv", .dims = extents(21, k), .codec = "software", .schedule = schedule});
  points.push_back({.op = "gemv",
                    .dims = extents(5, 840),
                    .codec = "software",
                    .schedule = "row<threads = 64, vector = 8, cluster = 2, mma = 1>"});
  for (auto [n, k] : {std::pair{300, 272}, {4, 328}}) // the heuristic's
    add({.op = "gemv", .dims = extents(n, k), .codec = "software"});
  // Rows that come two by two: tiles that are cut, several a block, pairs of the tile after the
  // next; rows that end in a lane of four; scales in a layout, of blocks of rows, of rows.
  for (const char *schedule :
       {"row<threads = 32, vector = 16, rows = 4, resident = 2, prefetch = 3, mma = 1>",
        "row<threads = 64, vector = 16, rows = 2, resident = 1, prefetch = 2, hoist = 1, mma = 1>",
        "row<threads = 32, vector = 16, rows = 6, resident = 1, prefetch = 8, mma = 1>"}) {
    for (auto [block, k] : {std::pair{"1x128", 1024}, {"128x128", 976}, {"1x*", 976}, {"1x64", 48}})
      points.push_back({.op = "gemv",
                        .parameters = {.block = block},
                        .dims = extents(43, k),
                        .schedule = schedule});
    for (auto [dtype, format] : {std::pair{"bf16", "e4m3"}, {"f16", "e5m2"}, {"bf16", "e4m3fnuz"}})
      points.push_back(
          {.op = "gemv",
           .parameters = {.dtype = dtype, .format = format, .scaleLayout = "mn_major_aligned"},
           .dims = extents(21, 976),
           .values = "specials",
           .codec = "software",
           .schedule = schedule});
  }
  // By arithmetic, one product a thread at a time.
  for (const char *schedule : {"row<threads = 64, vector = 16>",
                               "row<threads = 64, vector = 16, rows = 2, tiles = 2, prefetch = 1>"})
    add({.op = "gemv", .dims = extents(37, 1173), .codec = "software", .schedule = schedule});
  // Blocks that end among neighbours that meet together.
  add({.op = "gemv", .parameters = {.block = "1x4"}, .dims = extents(9, 300), .codec = "software"});
  for (const char *schedule :
       {"row<threads = 64, vector = 16, rows = 3, tiles = 2, prefetch = 1>",
        "row<threads = 32, vector = 8, rows = 2>", "row<threads = 16, vector = 8, rows = 2>",
        "row<threads = 64, vector = 8, blocks = 3, prefetch = 1, hoist = 1>",
        "row<threads = 32, vector = 16, rows = 4, tiles = 3, hoist = 1, resident = 8>",
        "row<threads = 32, vector = 16, cluster = 2>"})
    for (const char *block : {"1x64", "1x*"})
      points.push_back({.op = "gemv",
                        .parameters = {.block = block},
                        .dims = extents(43, 777),
                        .schedule = schedule});
  return points;
}

/// A projection with what stands around it in a layer: y = silu(W · dequantised x + bias) +
/// residual.
Program layer() {
  Builder b("projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  Value x = b.input("x", bf16, {k}), gain = b.input("gain", f32, {k});
  Value bias = b.input("bias", bf16, {n}), residual = b.input("residual", bf16, {n});
  Value h = silu(dot(w, relu(x) * gain) + bias);
  b.output("y", h + residual, bf16);
  return b.build();
}

/// A norm before a projection, as a layer has it.
Program normed() {
  Builder b("normed_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  Value x = b.input("x", bf16, {k}), gain = b.input("gain", bf16, {k});
  Value h = x * rsqrt(mean(x * x, 0) + 1e-6f) * gain;
  b.output("y", dot(w, h) + b.input("bias", bf16, {n}), bf16);
  return b.build();
}

/// A norm by two reductions, one of which waits for the other, rounded as a kernel before would.
Program layerNormed() {
  Builder b("layer_normed_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 64}, f32);
  Value x = b.input("x", bf16, {k});
  Value centred = x - mean(x, 0);
  Value h = centred * rsqrt(mean(centred * centred, 0) + 1e-6f);
  b.output("y", dot(w, round_to(h, bf16)), f32);
  return b.build();
}

/// A vector by its largest magnitude, and by how far its elements are apart.
Program ranged() {
  Builder b("ranged_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 64}, f32);
  Value x = b.input("x", bf16, {k});
  Value range = max(x, Block{whole}) - min(x, Block{whole});
  b.output("y", dot(w, x / amax(x, 0) * range), f32);
  return b.build();
}

/// A vector by its sum, both infinite where there is none of it.
Program shared() {
  Builder b("shared_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 64}, f32);
  Value parts = rcp(b.input("x_scale", f32, {k})); // positive
  b.output("y", dot(w, round_to(parts / sum(parts, 0), bf16)), f32);
  return b.build();
}

/// Reductions of which the last waits for the second of two: softmax of what is below its smallest.
Program softmaxed() {
  Builder b("softmax_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 64}, f32);
  Value x = b.input("x", bf16, {k});
  Value least = min(x, Block{whole}), most = max(x, Block{whole});
  Value weights = exp(x - most);
  b.output("y", dot(w, weights / sum(weights, 0) + least * 0.125f), f32);
  return b.build();
}

/// Weights that are products of halves, by a norm: their rows begin at an offset.
Program halved() {
  Builder b("halves_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Value w = b.input("w", bf16, {n, 2 * k}), x = b.input("x", bf16, {k});
  Value h = round_to(x * rsqrt(mean(x * x, 0) + 1e-6f), bf16);
  b.output("y", dot(first_half(w) * second_half(w), h), f32);
  return b.build();
}

/// Two projections of one norm, which meet each other: gate and up of a layer.
Program gated() {
  Builder b("gated_projection");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled gate = b.scaled_input("gate", e4m3, {n, k}, {1, whole}, f32),
         up = b.scaled_input("up", e4m3, {n, k}, {1, 64}, f32);
  Value x = b.input("x", bf16, {k});
  Value h = round_to(x * rsqrt(mean(x * x, 0) + 1e-6f), bf16);
  b.output("y", silu(dot(gate, h)) * dot(up, h), f32);
  return b.build();
}

/// Two projections, of which one needs all of the other.
Program perceptron() {
  Builder b("perceptron");
  Dim n = b.dim("n"), k = b.dim("k"), hidden = b.dim("hidden");
  Scaled first = b.scaled_input("w1", e4m3, {hidden, k}, {1, 128}, f32),
         second = b.scaled_input("w2", e5m2, {n, hidden}, {1, whole}, f32);
  b.output("y", dot(second, silu(dot(first, b.input("x", bf16, {k})))), bf16);
  return b.build();
}

/// A vector that is infinite where there is none: what lies past a row's end does not count.
Program divided() {
  Builder b("divided_gemv");
  Dim n = b.dim("n"), k = b.dim("k");
  Value w = b.input("w", bf16, {n, k});
  Value x_scale = b.input("x_scale", f32, {k}); // positive
  b.output("y", dot(w, rcp(x_scale)), f32);
  return b.build();
}

/// Weights that columns scale: each column has its own gain, in every row.
Program gained() {
  Builder b("gained_gemv");
  Dim n = b.dim("n"), k = b.dim("k");
  Value w = b.input("w", bf16, {n, k}), x = b.input("x", f32, {k}),
        gain = b.input("gain", f32, {k});
  b.output("y", dot(w * gain, x), f32);
  return b.build();
}

/// Weights that are not quantised.
Program plain() {
  Builder b("plain_gemv");
  Dim n = b.dim("n"), k = b.dim("k");
  Value w = b.input("w", bf16, {n, k}), x = b.input("x", bf16, {k});
  b.output("y", dot(w, x), f32);
  return b.build();
}

} // namespace

TEST(Gemv, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

TEST(Gemv, WhatStandsAroundAgreesOnTheDevice) {
  std::vector<matrix::Case> cases;
  for (const char *schedule : {"", "row<threads = 64, vector = 16>",
                               "row<threads = 64, vector = 16, rows = 2, tiles = 2, prefetch = 1>",
                               "row<threads = 64, vector = 8, rows = 3>"})
    for (const Program &program : {layer(), plain(), divided(), normed(), layerNormed(), ranged(),
                                   shared(), softmaxed(), gated()})
      cases.push_back(caseOf(program, extents(37, 1173), "n", schedule));
  for (const char *schedule :
       {"row<threads = 64, vector = 16, rows = 2, tiles = 3, hoist = 1>",
        "row<threads = 64, vector = 16, blocks = 3, prefetch = 1, hoist = 1>",
        "row<threads = 64, vector = 16, rows = 3, tiles = 2, mma = 1>",
        "row<threads = 64, vector = 16, tiles = 2, hoist = 1, mma = 1>",
        "row<threads = 32, vector = 8, cluster = 4, mma = 1>", "row<threads = 16, vector = 8>"})
    for (const int64_t k : {1024, 1173})
      for (const Program &program : {layerNormed(), shared()})
        cases.push_back(caseOf(program, extents(37, k), "n", schedule));
  // Of so few rows the heuristic has clusters.
  for (const Program &program : {normed(), layerNormed(), ranged()})
    cases.push_back(caseOf(program, extents(3, 4096), "n"));
  cases.push_back(caseOf(layerNormed(), extents(3, 9000), "n"));
  for (const char *schedule : {"", "row<threads = 128, vector = 8, prefetch = 1, hoist = 1>"})
    cases.push_back(caseOf(halved(), extents(37, 1024), "n", schedule));
  for (const int64_t k : {1024, 777}) {
    cases.push_back(caseOf(gained(), extents(21, k), "n"));
    cases.push_back(caseOf(normed(), extents(21, k), "n"));
    cases.push_back(caseOf(perceptron(), ofHidden(21, k), "n"));
  }
  at_points::expectReference(cases);
}

/// A norm is in the one kernel: its threads hold all of the vector. A product has a kernel before,
/// and so has a long vector's.
TEST(Gemv, AVectorThatIsReducedIsComputedInTheKernel) {
  for (const char *target : {"sm_75", "sm_90a"})
    for (const int64_t k : {1024, 0, 9000}) {
      const bool isNorm = k == 1024;
      const matrix::Case made = k == 0 ? caseOf(perceptron(), ofHidden(21, 1024), "n")
                                       : caseOf(normed(), extents(21, k), "n");
      CompileOptions options = made.options;
      options.target = target;
      const std::string text = emit(made.program, options, Stage::Cuda);
      EXPECT_EQ(text.find("_of_columns") != std::string::npos, isNorm) << text;
      EXPECT_EQ(text.find("multiplied") == std::string::npos, isNorm) << text;
      EXPECT_THAT(text::impurities(text), testing::IsEmpty()) << text;
      expectNvrtc(made.program, options, target);
    }
}

TEST(Gemv, TextsArePure) { expectPure(points()); }
TEST(Gemv, NvrtcCompilesTheTexts) {
  std::vector<Point> anywhere = points(), later;
  std::erase_if(anywhere, [&](const Point &point) {
    if (point.schedule.find("mma") != std::string::npos)
      later.push_back(point);
    return point.codec == "hardware" || point.schedule.find("mma") != std::string::npos;
  });
  expectNvrtc(later, "sm_90", /*every=*/7);
  expectNvrtc(anywhere);
}

/// Without the reference: integers small enough that f32 adds them exactly in any order.
TEST(Gemv, IsExactOnIntegers) {
  constexpr int64_t n = 11, k = 300;
  matrix::Case made =
      at_points::caseOf({.op = "gemv", .parameters = {.dtype = "f32"}, .dims = extents(n, k)});
  constexpr unsigned char codes[] = {0x00, 0x38, 0x40, 0x44, 0x48, 0xb8, 0xc0}; // 0 1 2 3 4 -1 -2
  constexpr int values[] = {0, 1, 2, 3, 4, -1, -2};
  std::vector<float> x(k), scales(n * 3), expected(n);
  std::vector<unsigned char> w(n * k);
  for (int64_t j = 0; j < k; ++j)
    x[j] = static_cast<float>(j % 9 - 4);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t g = 0; g < 3; ++g)
      scales[i * 3 + g] = std::ldexp(1.0f, static_cast<int>((i + g) % 3));
    for (int64_t j = 0; j < k; ++j) {
      const int64_t which = (i * 5 + j * 3) % 7;
      w[i * k + j] = codes[which];
      expected[i] += static_cast<float>(values[which]) * scales[i * 3 + j / 128] * x[j];
    }
  }
  std::memcpy(made.inputs[0].data.data(), w.data(), w.size());
  std::memcpy(made.inputs[1].data.data(), scales.data(), 4 * scales.size());
  std::memcpy(made.inputs[2].data.data(), x.data(), 4 * x.size());
  EXPECT_EQ(floatsOf(runOnHost(made).at(0)), expected);
}

/// The bound is so tight that many rows show a scale that is dropped, or elements that are left
/// out; others are zeros there, or small beside the rest. Of bf16 it allows for tensor cores.
class GemvBounds : public testing::TestWithParam<DType> {};
TEST_P(GemvBounds, CatchMutations) {
  constexpr int64_t rows = 64, length = 1024 + 5;
  Builder b("bounds");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  b.output("y", dot(w, b.input("x", GetParam(), {k})), f32);
  const matrix::Case made =
      caseOf(b.build(), extents(rows, length), "n",
             GetParam() == bf16 ? "row<threads = 64, vector = 16, mma = 1>" : "");
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  const size_t groups = 9, each = sizeOf(GetParam());
  EXPECT_GE(wrongWithout(made, 1, 4 * groups, 4 * 3, 4), rows / 4) << "a group's scale dropped";
  EXPECT_GE(wrongWithout(made, 0, length, length - 5, 5), rows / 4) << "the tail left out";
  EXPECT_GE(wrongWithout(made, 0, length, 500, 16), rows / 4) << "a chunk left out";
  EXPECT_GE(wrongWithout(made, 2, each * length, each * 77, each), rows / 4)
      << "one element of the vector left out";
}
INSTANTIATE_TEST_SUITE_P(, GemvBounds, testing::Values(f32, bf16),
                         [](const auto &info) { return info.param == bf16 ? "bf16" : "f32"; });

TEST(Gemv, RefusesASquareOfOneDim) {
  Builder b("square");
  Dim d = b.dim("d");
  b.output("y", dot(b.input("w", f32, {d, d}), b.input("x", f32, {d})), f32);
  CompileOptions options;
  options.target = "sm_90";
  options.dims = {{"d", 64}};
  try {
    emit(b.build(), options, Stage::Cuda);
    FAIL() << "rows and columns are told apart by their dims";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("declare one for each axis"));
  }
}

TEST(Gemv, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  Value x = b.input("x", bf16, {n});
  try {
    dot(w, x);
    FAIL() << "a vector of another dim";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("does not meet weights of [n, k]"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("GemvTest.cpp"));
  }
  EXPECT_THAT(errorOf({.op = "gemv",
                       .dims = extents(4, 512),
                       .schedule = "row<threads = 32, vector = 16, rows = 2, cluster = 2>"}),
              ::testing::HasSubstr("a cluster holds one row"));
}
