//===- FewRowsTest.cpp - Few rows and their transpose, by the reference ---===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"

using namespace eider;
using namespace eider::at_points;
using matrix::testDevice;

namespace {

/// Of up to 16 rows, whose blocks end with them; and of one more, which other kernels have.
std::vector<Point> points() {
  std::vector<Point> all;
  const auto add = [&](const std::string &op, OpParameters parameters, int64_t hidden) {
    constexpr int64_t rows[] = {1, 7, 16, 15, 17, 2};
    parameters.transposed = op == "cast_transpose" ? "" : "yes";
    Point point{.op = op,
                .parameters = parameters,
                .dims = {{"tokens", rows[all.size() % std::size(rows)]}, {"hidden", hidden}},
                .values = all.size() % 3 ? "normal" : "specials",
                .codec = all.size() % 4 ? "auto" : "software"};
    point.forAnyRows = false;
    all.push_back(point);
  };
  for (const char *block : {"1x16", "1x32", "1x128", "1x256", "32x32", "128x128", "16x16"})
    for (const int64_t hidden : {512, 333})
      add("cast_transpose", {.dtype = hidden % 2 ? "f32" : "bf16", .block = block}, hidden);
  for (const char *op : {"rms_norm_quant", "silu_mul_quant", "add_layer_norm_quant", "requantize"})
    for (const char *block : {"1x128", "128x128"})
      add(op, {.format = "e5m2", .block = block, .copy = "bf16"}, 384);
  for (const char *op : {"rms_norm", "gelu"})
    add(op, {.dtype = "f16"}, 300);
  for (const char *layout : {"mn_major_aligned", "te_gemm_ready"})
    for (const char *block : {"1x128", "128x128"})
      add("cast_transpose", {.block = block, .scaleLayout = layout}, 300);
  for (const char *layout : {"swizzled_128x4", "packed_ue8m0"})
    add("cast_transpose", {.scale = "e8m0", .scaleLayout = layout}, 500);
  add("cast_transpose", {.block = "1x32", .mode = "mx"}, 512);
  for (const char *block : {"1x128", "128x128", "*x*"})
    add("cast_transpose", {.block = block, .scaleSource = "static"}, 256);
  add("cast_transpose", {.block = "*x*"}, 256);
  add("cast_transpose", {.amax = "yes"}, 640);
  add("requantize", {.block = "1x64", .fromBlock = "128x128"}, 256);
  return all;
}

TEST(FewRows, AgreeWithTheReference) {
  matrix::Harness harness(testDevice(), /*seed=*/5);
  std::vector<matrix::Case> cases;
  for (const Point &point : points()) {
    cases.push_back(caseOf(point));
    harness.add(cases.back());
  }
  harness.build();
  size_t few = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool isFew = harness.variantOf(i) == "rows_16";
    EXPECT_TRUE(!isFew || cases[i].dims.at("tokens") <= 16);
    few += isFew;
    for (const Comparison &output : compare(cases[i].program, cases[i].inputs, harness.run(i)))
      EXPECT_EQ(output.wrong, 0) << cases[i].program.name() << ", case " << i << ", "
                                 << harness.variantOf(i) << ": " << output.firstWrong;
  }
  EXPECT_GE(few, cases.size() * 2 / 3);
}

/// Tiles of 256 rows, which many rows have whose transposes begin anywhere; here of few, whose last
/// tile is partial, or the only one.
TEST(ManyRows, OfTallTilesAgreeWithTheReference) {
  matrix::Harness harness(testDevice(), /*seed=*/6);
  std::vector<matrix::Case> cases;
  const auto add = [&](OpParameters parameters, int64_t tokens, int64_t hidden) {
    Point point{.op = "cast_transpose",
                .parameters = parameters,
                .dims = {{"tokens", tokens}, {"hidden", hidden}},
                .values = cases.size() % 2 ? "specials" : "normal",
                .codec = cases.size() % 3 ? "auto" : "software"};
    cases.push_back(caseOf(point));
    cases.back().forManyRows = true;
    harness.add(cases.back());
  };
  for (const int64_t tokens : {257, 17, 770, 255})
    add({}, tokens, 256);
  add({.dtype = "f16", .copy = "f16", .amax = "yes"}, 391, 160);
  add({.format = "e5m2", .scale = "e8m0"}, 515, 384);
  add({.scaleLayout = "mn_major_aligned"}, 301, 128);
  harness.build();
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(harness.variantOf(i), "uneven_large") << "case " << i;
    for (const Comparison &output : compare(cases[i].program, cases[i].inputs, harness.run(i)))
      EXPECT_EQ(output.wrong, 0) << "case " << i << ": " << output.firstWrong;
  }
}

/// Blocks of whole columns: a layout has one row of scales, which all of the matrix's have.
TEST(AllRows, HaveTheScalesOfALayout) {
  std::vector<Point> all;
  const auto add = [&](const std::string &op, const OpParameters &parameters) {
    for (const int64_t hidden : {160, 333})
      all.push_back({.op = op,
                     .parameters = parameters,
                     .dims = {{"tokens", 70}, {"hidden", hidden}},
                     .codec = all.size() % 2 ? "software" : "auto"});
  };
  for (const char *layout : {"swizzled_128x4", "packed_ue8m0"}) {
    const std::string block = "*x32", scale = "e8m0";
    add("quantize",
        {.block = block, .scale = scale, .scaleLayout = layout, .scaleSource = "static"});
    add("dequantize", {.block = block, .scale = scale, .scaleLayout = layout});
    add("requantize", {.fromBlock = block, .fromScale = scale, .fromScaleLayout = layout});
  }
  add("requantize", {.fromBlock = "*x64", .fromScaleLayout = "mn_major_aligned"});
  expectReference(all);
  expectPure(all);
}

TEST(FewRows, TextsArePure) { expectPure(points()); }

TEST(FewRows, TextsCompileForEveryTarget) {
  if (testDevice() == "host")
    expectNvrtc({points()[1], points()[4], points()[10], points()[14], points()[15]});
}

} // namespace
