//===- CausalTest.cpp - Softmax of what comes before ----------------------===//
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
/// More columns than rows, as many, fewer (rows that see nothing); widths that no vector fills.
std::vector<Point> points() {
  const std::map<std::string, std::string> causal = {{"causal", "1"}};
  std::vector<Point> points;
  for (const Dims &dims :
       {Dims{{"tokens", 5}, {"hidden", 72}}, Dims{{"tokens", 37}, {"hidden", 37}},
        Dims{{"tokens", 41}, {"hidden", 16}}, Dims{{"tokens", 1}, {"hidden", 1}}})
    for (const char *values : {"normal", "specials"})
      for (Point &point :
           inEachVariant({.op = "softmax", .parameters = {.settings = causal}, .dims = dims})) {
        point.values = values;
        points.push_back(point);
      }
  const Dims wide = {{"tokens", 9}, {"hidden", 4100}};
  for (const char *block : {"1x64", "1x*", "32x32"})
    points.push_back({.op = "softmax_quant",
                      .parameters = {.dtype = "f32", .block = block, .settings = causal},
                      .dims = wide});
  for (const char *op : {"softmax", "softmax_quant"})
    for (const int64_t tokens : {64, 43})
      points.push_back({.op = op,
                        .parameters = {.block = op == std::string("softmax") ? "" : "1x32",
                                       .settings = causal,
                                       .transposed = "yes"},
                        .dims = {{"tokens", tokens}, {"hidden", 72}}});
  for (const char *schedule : {"row<threads = 32, vector = 8, blocks = 2, prefetch = 1>",
                               "row<threads = 8, vector = 4, rows = 4>"})
    points.push_back({.op = "softmax",
                      .parameters = {.settings = causal},
                      .dims = {{"tokens", 21}, {"hidden", 250}},
                      .schedule = schedule});
  return points;
}
} // namespace

TEST(Causal, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

/// Without the reference: what a row may not see is 0 whatever it holds, and the rest sums to 1.
TEST(Causal, SeesNothingBehindTheMask) {
  constexpr int64_t rows = 6, columns = 20;
  matrix::Case made = caseOf({.op = "softmax",
                              .parameters = {.dtype = "f32", .settings = {{"causal", "1"}}},
                              .dims = {{"tokens", rows}, {"hidden", columns}}});
  std::vector<float> x = floatsOf(made.inputs[0]);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (j > i + columns - rows)
        x[i * columns + j] = (i + j) % 2 ? NAN : INFINITY;
  std::memcpy(made.inputs[0].data.data(), x.data(), made.inputs[0].data.size());
  matrix::Harness harness("host");
  const size_t number = harness.add(made);
  harness.build();
  const std::vector<float> y = floatsOf(harness.run(number).at(0));
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j) {
      sum += y[i * columns + j];
      if (j > i + columns - rows) {
        EXPECT_EQ(y[i * columns + j], 0) << i << ", " << j;
      }
    }
    EXPECT_NEAR(sum, 1, 1e-5) << i;
  }
}

TEST(Causal, TextsArePure) { expectPure(points()); }

TEST(Causal, NvrtcCompilesThem) { expectNvrtc({points().front(), points().back()}); }

TEST(Causal, IsOneOrZero) {
  EXPECT_EQ(errorOf({.op = "softmax",
                     .parameters = {.settings = {{"causal", "2"}}},
                     .dims = {{"hidden", 64}}}),
            "softmax: --set causal cannot be '2'; give an integer, 0 to 1");
}
