//===- CastingsTest.cpp - Codes of rows that indices choose ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;

namespace {
/// What the products of formats, layouts and numerics have of other ops.
const OpParameters castings[] = {
    {.format = "e4m3fnuz"},
    {.format = "e5m2fnuz", .block = "1x*"},
    {.format = "e5m2", .block = "1x64", .scale = "bf16"},
    {.block = "1x16", .scale = "f16"},
    {.scaleLayout = "mn_major_aligned"},
    {.format = "e5m2", .scale = "e8m0", .scaleLayout = "packed_ue8m0"},
    {.scaleLayout = "te_gemm_ready"},
    {.block = "1x32", .scale = "e8m0", .scaleLayout = "swizzled_128x4", .mode = "mx"},
    {.block = "1x32", .mode = "mx_ocp"},
    {.format = "e2m1", .block = "1x16", .scale = "e4m3", .scaleLayout = "swizzled_128x4"},
    {.format = "e2m1", .block = "1x32", .mode = "mx"},
    {.mode = "deepgemm"},
    {.mode = "tilekernels"},
    {.mode = "vllm_group"},
    {.block = "1x*", .mode = "vllm_token"},
    {.mode = "sglang_group"},
    {.block = "1x*", .mode = "trtllm_token"},
    {.block = "*x*", .mode = "te_current"},
    {.numerics = {{"power_of_two", "even"}}},
    {.numerics = {{"nan", "ignore"}}},
    {.numerics = {{"overflow", "format"}}},
    {.numerics = {{"arithmetic", "reciprocal"}}},
    {.numerics = {{"rounding", "stochastic"}}},
    {.format = "e2m1", .block = "1x16", .scale = "e4m3", .numerics = {{"rounding", "stochastic"}}},
    {.scaleSource = "static"},
};

/// Each in some variant, by turns; what an op refuses is left out.
std::vector<Point> written() {
  std::vector<Point> points;
  size_t turn = 0;
  for (const char *op : {"moe_permute_quant", "rope_quant", "norm_rope_quant", "kv_append"})
    for (const OpParameters &casting : castings) {
      Point point = {.op = op,
                     .parameters = casting,
                     .dims = {{"tokens", 21}, {"hidden", 320}},
                     .values = turn % 2 ? "specials" : "normal"};
      if (op == std::string("moe_permute_quant"))
        point.dims["sources"] = 30;
      else
        point.dims["max_position"] = 50;
      if (op == std::string("kv_append"))
        point.dims["slots"] = 40;
      if (op != std::string("moe_permute_quant"))
        point.parameters.settings["head"] = "64";
      if (errorOf(point).empty())
        points.push_back(inEachVariant(point)[turn++ % 4]);
    }
  return points;
}

/// Rows of codes of each format by scales of each type, and of none.
std::vector<Point> read() {
  std::vector<Point> points;
  size_t turn = 0;
  auto add = [&](const OpParameters &parameters) {
    for (const char *op : {"embedding", "moe_unpermute"}) {
      const Point point = {
          .op = op,
          .parameters = parameters,
          .dims = {{"tokens", 13},
                   {"hidden", 202},
                   {op == std::string("embedding") ? "vocabulary" : "permuted", 60}}};
      points.push_back(inEachVariant(point)[turn++ % 4]);
    }
  };
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e2m1"})
    for (const char *scale : {"f32", "bf16", "f16", "e8m0", "e4m3"})
      add({.format = format, .block = turn % 3 ? "1x32" : "1x*", .scale = scale});
  for (const char *format : {"bf16", "f16"})
    for (const char *dtype : {"bf16", "f16", "f32"})
      add({.dtype = dtype, .format = format});
  return points;
}
} // namespace

TEST(Castings, AgreeWithTheReferenceOnTheDevice) {
  const std::vector<Point> points = written();
  EXPECT_GE(points.size(), 87u); // what is refused is that: layouts of a cache, and its modes
  expectReference(points);
}

TEST(Castings, AreReadAsTheReferenceDoesOnTheDevice) { expectReference(read()); }

TEST(Castings, TextsArePure) {
  expectPure(written());
  expectPure(read());
}

/// What is no codes has no scales.
TEST(Castings, AreNoneOfFloats) {
  for (const char *op : {"embedding", "moe_unpermute", "kv_append"})
    EXPECT_THAT(errorOf({.op = op, .parameters = {.format = "bf16", .block = "1x64"}, .dims = {}}),
                ::testing::AllOf(::testing::HasSubstr("there are no codes, and no scales"),
                                 ::testing::HasSubstr("leave --block out")));
}
