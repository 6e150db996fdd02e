//===- AppendTest.cpp - New tokens in a paged cache -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <cstring>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;

namespace {
Dims extents(int64_t tokens, int64_t hidden, int64_t slots) {
  return {{"tokens", tokens}, {"hidden", hidden}, {"slots", slots}, {"max_position", 50}};
}

/// Scales in the cache and scales that were given: one, and one a head.
std::vector<Point> points() {
  const std::map<std::string, std::string> of64 = {{"head", "64"}};
  std::vector<Point> points;
  auto add = [&](const Point &point) {
    for (const Point &one : inEachVariant(point))
      points.push_back(one);
  };
  for (const char *block : {"1x64", "1x*", "1x32"})
    add({.op = "kv_append",
         .parameters = {.block = block, .settings = of64},
         .dims = extents(21, 192, 64)});
  for (const char *block : {"*x*", "*x64"})
    add({.op = "kv_append",
         .parameters = {.block = block, .scaleSource = "static", .settings = of64},
         .dims = extents(21, 192, 64)});
  for (const char *format : {"bf16", "f16"}) // rounded, if that
    add({.op = "kv_append",
         .parameters = {.format = format, .settings = of64},
         .dims = extents(21, 192, 64)});
  add({.op = "kv_append",
       .parameters = {.dtype = "f16",
                      .format = "e5m2",
                      .block = "1x32",
                      .scale = "e8m0",
                      .index = "i32",
                      .settings = {{"head", "32"}, {"interleaved", "1"}}},
       .dims = extents(9, 96, 9),
       .values = "specials"});
  // Two codes a byte; scales of two levels, the cache's own and given.
  for (const char *source : {"dynamic", "static"}) {
    const Point packed = {.op = "kv_append",
                          .parameters = {.format = "e2m1",
                                         .block = "1x16",
                                         .scale = "e4m3",
                                         .scaleSource = source,
                                         .settings = of64},
                          .dims = extents(11, 128, 40)};
    points.push_back(inEachVariant(packed)[source == std::string("dynamic") ? 3 : 1]);
  }
  add({.op = "kv_append", .parameters = {.settings = of64}, .dims = extents(0, 64, 8)});
  add({.op = "kv_append", .parameters = {.settings = of64}, .dims = extents(4, 64, 0)});
  points.push_back(
      {.op = "kv_append",
       .parameters = {.block = "1x64", .settings = of64},
       .dims = extents(33, 320, 40),
       .schedule = "map<threads = 64, vector = 8, loads = 1, blocks = 3, streaming = 1>"});
  // Both halves of a head in a thread, by the heuristic and by others.
  add({.op = "kv_append", .dims = extents(6, 1024, 9)});
  points.push_back(
      {.op = "kv_append",
       .dims = extents(37, 1024, 64),
       .schedule = "map<threads = 32, vector = 16, rows = 4, loads = 2, lanes = 4, tiles = 2>"});
  points.push_back({.op = "kv_append",
                    .parameters = {.dtype = "f16", .format = "e5m2"},
                    .dims = extents(5, 1536, 64),
                    .values = "specials",
                    .schedule = "map<threads = 96, vector = 8, loads = 2, lanes = 8>"});
  return points;
}
} // namespace

/// The comparison also sees every row that no token goes to.
TEST(Append, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

/// What v becomes in the cache is what `quantize` gives, at the slot of its token.
TEST(Append, PutsQuantisedRowsAtTheirSlots) {
  constexpr int64_t tokens = 21, slots = 64, hidden = 128;
  const matrix::Case made = caseOf({.op = "kv_append", .dims = extents(tokens, hidden, slots)});
  auto given = [&](const char *name) -> const HostTensor & {
    for (const HostTensor &tensor : made.inputs)
      if (tensor.name == name)
        return tensor;
    throw Error(ErrorKind::Internal, name);
  };
  matrix::Harness harness("host");
  const size_t number = harness.add(made);
  harness.build();
  HostTensor x = given("v");
  x.name = "x";
  const HostTensor codes = interpret(libraryOp("quantize", {}), {x}).at(0);
  std::vector<std::byte> expected = given("v_cache").data;
  int placed = 0;
  for (int64_t i = 0; i < tokens; ++i) {
    int64_t slot = 0;
    std::memcpy(&slot, given("slot_mapping").data.data() + i * sizeof slot, sizeof slot);
    if (slot < 0 || slot >= slots)
      continue;
    ++placed;
    std::memcpy(expected.data() + slot * hidden, codes.data.data() + i * hidden, hidden);
  }
  EXPECT_GT(placed, 0);
  EXPECT_LT(placed, tokens);
  for (const HostTensor &tensor : harness.run(number))
    if (tensor.name == "v_cache") {
      EXPECT_EQ(tensor.data, expected);
    }
}

TEST(Append, TextsArePure) { expectPure(points()); }

TEST(Append, NvrtcCompilesThem) { expectNvrtc({points().front(), points().back()}); }

TEST(Append, TakesBlocksOfOneRow) {
  EXPECT_THAT(
      errorOf({.op = "kv_append", .parameters = {.block = "128x128"}, .dims = extents(1, 128, 1)}),
      ::testing::HasSubstr("blocks of several rows have one scale"));
}
