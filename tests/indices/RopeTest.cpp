//===- RopeTest.cpp - Rotary embeddings of heads side by side -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;

namespace {
Dims heads(int64_t tokens, int64_t hidden) {
  return {{"tokens", tokens}, {"hidden", hidden}, {"max_position", 50}};
}

/// Heads of a warp's lanes and of one thread, halves and neighbours, several rows a block.
std::vector<Point> points() {
  std::vector<Point> points;
  auto add = [&](const Point &point) {
    for (const Point &one : inEachVariant(point))
      points.push_back(one);
  };
  for (const char *interleaved : {"0", "1"}) {
    const std::map<std::string, std::string> of64 = {{"head", "64"}, {"interleaved", interleaved}};
    const std::map<std::string, std::string> of16 = {{"head", "16"}, {"interleaved", interleaved}};
    add({.op = "rope", .parameters = {.settings = of64}, .dims = heads(21, 320)});
    add({.op = "rope", .parameters = {.dtype = "f32", .settings = of16}, .dims = heads(3, 48)});
    add({.op = "rope_quant",
         .parameters =
             {.dtype = "f16", .format = "e5m2", .block = "1x32", .index = "i32", .settings = of16},
         .dims = heads(9, 160),
         .values = "specials"});
    add({.op = "norm_rope_quant",
         .parameters = {.block = "1x*", .settings = of64},
         .dims = heads(19, 384)});
  }
  add({.op = "norm_rope", .parameters = {.settings = {{"head", "512"}}}, .dims = heads(5, 1024)});
  add({.op = "rope", .parameters = {.settings = {{"head", "2"}}}, .dims = heads(5, 34)});
  add({.op = "rope", .parameters = {.settings = {{"head", "64"}}}, .dims = heads(0, 64)});
  for (const char *schedule :
       {"map<threads = 32, vector = 2, loads = 1, rows = 2>",
        "map<threads = 16, vector = 4, rows = 4>",
        "map<threads = 64, vector = 16, loads = 1, blocks = 3, streaming = 1>"})
    points.push_back({.op = "rope",
                      .parameters = {.settings = {{"head", "64"}}},
                      .dims = heads(33, 320),
                      .schedule = schedule});
  // Heads as long as a group, as the heuristic has them at widths of models.
  for (const char *op : {"rope_quant", "norm_rope_quant"})
    for (int64_t hidden : {1024, 5120})
      add({.op = op, .dims = heads(6, hidden)});
  return points;
}
} // namespace

TEST(Rope, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

/// Without the reference: x · cos + turned · sin, whose first product is not rounded; positions
/// beyond the tables have no angles and give zeros.
TEST(Rope, IsAPlainLoop) {
  constexpr int64_t tokens = 12, hidden = 32, head = 16, half = head / 2;
  for (bool isInterleaved : {false, true}) {
    const matrix::Case made = caseOf(
        {.op = "rope",
         .parameters = {.dtype = "f32",
                        .settings = {{"head", "16"}, {"interleaved", isInterleaved ? "1" : "0"}}},
         .dims = heads(tokens, hidden)});
    const std::vector<float> x = floatsOf(made.inputs[0]), cos = floatsOf(made.inputs[1]),
                             sin = floatsOf(made.inputs[2]);
    std::vector<int64_t> positions(tokens);
    std::memcpy(positions.data(), made.inputs[3].data.data(), made.inputs[3].data.size());
    matrix::Harness harness("host");
    const size_t number = harness.add(made);
    harness.build();
    const std::vector<float> y = floatsOf(harness.run(number).at(0));
    int outside = 0;
    for (int64_t i = 0; i < tokens * hidden; ++i) {
      const int64_t position = positions[i / hidden], at = i % head;
      if (position < 0 || position >= 50) {
        ++outside;
        EXPECT_EQ(y[i], 0) << i;
        continue;
      }
      const bool isFirst = isInterleaved ? at % 2 == 0 : at < half;
      const int64_t distance = isInterleaved ? 1 : half,
                    angle = position * half + (isInterleaved ? at / 2 : at % half);
      const float other = isFirst ? -x[i + distance] : x[i - distance];
      const float turned = other * sin[angle];
      EXPECT_EQ(y[i], std::fma(x[i], cos[angle], turned)) << i;
    }
    EXPECT_GT(outside, 0);
  }
}

TEST(Rope, TextsArePure) { expectPure(points()); }

TEST(Rope, NvrtcCompilesThem) { expectNvrtc({points().front(), points().back()}); }

TEST(Rope, TakesWholeHeadsOfEvenWidth) {
  EXPECT_THAT(errorOf({.op = "rope", .dims = heads(1, 200)}),
              ::testing::HasSubstr("rows of 200 are no whole number of times"));
  EXPECT_THAT(
      errorOf({.op = "rope", .parameters = {.settings = {{"head", "7"}}}, .dims = heads(1, 14)}),
      ::testing::HasSubstr("7 neighbours have no halves"));
}
