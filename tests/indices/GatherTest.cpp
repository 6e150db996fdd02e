//===- GatherTest.cpp - Rows that indices choose --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;

namespace {
Dims extents(int64_t tokens, int64_t hidden, int64_t rows) {
  return {{"tokens", tokens},
          {"hidden", hidden},
          {"vocabulary", rows},
          {"sources", rows},
          {"permuted", rows}};
}

std::vector<Point> points() {
  std::vector<Point> points;
  auto add = [&](Point point) {
    for (Point &one : inEachVariant(point)) {
      std::erase_if(one.dims, [&](const auto &dim) {
        const std::string &op = one.op;
        return (dim.first == "vocabulary" && op != "embedding") ||
               (dim.first == "sources" && !op.starts_with("moe_permute")) ||
               (dim.first == "permuted" && op != "moe_unpermute");
      });
      points.push_back(one);
    }
  };
  // Blocks along a row, of several rows, of whole rows and of everything.
  for (const char *block : {"1x128", "32x32", "1x*", "*x*"})
    add({.op = "embedding", .parameters = {.block = block}, .dims = extents(23, 300, 70)});
  add({.op = "embedding",
       .parameters =
           {.dtype = "f32", .format = "e5m2", .block = "1x32", .scale = "e8m0", .index = "i32"},
       .dims = extents(9, 77, 5),
       .values = "specials"});
  // Two codes a byte, of rows that end in the middle of a block; scales of two levels.
  add({.op = "embedding",
       .parameters = {.format = "e2m1", .block = "1x32", .scale = "e8m0"},
       .dims = extents(23, 302, 70)});
  add({.op = "embedding",
       .parameters = {.format = "e2m1", .block = "1x16", .scale = "e4m3"},
       .dims = extents(9, 88, 20)});
  add({.op = "moe_unpermute",
       .parameters = {.format = "e2m1", .block = "1x16", .scale = "e4m3"},
       .dims = extents(13, 96, 60)});
  add({.op = "moe_permute_quant",
       .parameters = {.format = "e2m1", .block = "1x16", .scale = "e4m3"},
       .dims = extents(11, 150, 40)});
  add({.op = "embedding", .dims = extents(3, 128, 0)}); // there is nothing to choose from
  add({.op = "moe_permute_quant", .dims = extents(31, 264, 12)});
  add({.op = "moe_permute_quant", .parameters = {.block = "*x*"}, .dims = extents(6, 8193, 4)});
  add({.op = "moe_permute_quant",
       .parameters = {.dtype = "f16", .block = "1x*", .index = "i32", .copy = "bf16"},
       .dims = extents(31, 141, 40),
       .values = "specials"});
  add({.op = "moe_permute_quant",
       .parameters = {.block = "1x32", .scale = "e8m0", .mode = "mx"},
       .dims = extents(6, 4100, 4)});
  add({.op = "moe_permute", .dims = extents(0, 64, 3)});
  for (const char *experts : {"1", "2", "8"})
    add({.op = "moe_unpermute",
         .parameters = {.block = "1x64", .settings = {{"top_k", experts}}},
         .dims = extents(13, 200, 60)});
  points.push_back({.op = "moe_permute_quant",
                    .parameters = {.block = "1x*"},
                    .dims = {{"tokens", 40}, {"hidden", 520}, {"sources", 30}},
                    .schedule = "row<threads = 32, vector = 16, blocks = 3, rows = 2>"});
  points.push_back({.op = "embedding",
                    .dims = {{"tokens", 40}, {"hidden", 520}, {"vocabulary", 30}},
                    .schedule = "map<threads = 32, vector = 4, loads = 1, rows = 2, blocks = 5, "
                                "streaming = 1>"});
  return points;
}
} // namespace

TEST(Gather, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

/// Without the reference: every byte is that of the row that was chosen, or 0.
TEST(Gather, IsACopyOfRows) {
  constexpr int64_t tokens = 40, sources = 30, bytes = 2 * 141;
  const matrix::Case made = caseOf(
      {.op = "moe_permute", .dims = {{"tokens", tokens}, {"hidden", 141}, {"sources", sources}}});
  matrix::Harness harness("host");
  const size_t number = harness.add(made);
  harness.build();
  const std::vector<std::byte> y = harness.run(number).at(0).data;
  const std::vector<std::byte> none(bytes);
  int outside = 0;
  for (int64_t i = 0; i < tokens; ++i) {
    int64_t source = 0;
    std::memcpy(&source, made.inputs[1].data.data() + i * sizeof source, sizeof source);
    const bool isOutside = source < 0 || source >= sources;
    outside += isOutside;
    const std::byte *expected =
        isOutside ? none.data() : made.inputs[0].data.data() + source * bytes;
    EXPECT_EQ(std::memcmp(y.data() + i * bytes, expected, bytes), 0) << i << " of " << source;
  }
  EXPECT_GT(outside, 0);
}

/// Also where a scale that all rows share is NaN: a row that is not there has none.
TEST(Gather, RowsThatAreNotThereAreZeros) {
  constexpr int64_t tokens = 40, hidden = 96, bytes = 2 * hidden;
  const std::vector<std::byte> none(bytes);
  for (const OpParameters &parameters :
       {OpParameters{.block = "*x*"}, OpParameters{.block = "*x16"},
        OpParameters{.format = "e2m1", .block = "1x16", .scale = "e4m3"}}) {
    matrix::Case made =
        caseOf({.op = "embedding",
                .parameters = parameters,
                .dims = {{"tokens", tokens}, {"hidden", hidden}, {"vocabulary", 30}}});
    std::vector<int64_t> chosen(tokens);
    for (HostTensor &input : made.inputs)
      if (input.dtype == f32)
        std::ranges::fill(input.data, std::byte{0xff}); // NaN
      else if (input.dtype == i64)
        std::memcpy(chosen.data(), input.data.data(), input.data.size());
    matrix::Harness harness("host");
    const size_t number = harness.add(made);
    harness.build();
    const std::vector<std::byte> y = harness.run(number).at(0).data;
    for (int64_t i = 0; i < tokens; ++i) {
      const bool isThere = chosen[i] >= 0 && chosen[i] < 30;
      EXPECT_EQ(std::memcmp(y.data() + i * bytes, none.data(), bytes) != 0, isThere)
          << parameters.block << ": " << i << " of " << chosen[i];
    }
  }
}

TEST(Gather, TextsArePure) { expectPure(points()); }

TEST(Gather, NvrtcCompilesThem) { expectNvrtc({points().front(), points().back()}); }

/// Two codes share a byte.
TEST(Gather, TakesEvenRowsOfPackedCodes) {
  EXPECT_THAT(
      errorOf({.op = "embedding", .parameters = {.format = "e2m1"}, .dims = {{"hidden", 63}}}),
      ::testing::HasSubstr("'hidden' must be even, not 63"));
}

TEST(Gather, HasNoTranspose) {
  EXPECT_THAT(errorOf({.op = "moe_permute_quant",
                       .parameters = {.transposed = "yes"},
                       .dims = {{"hidden", 64}}}),
              ::testing::HasSubstr("there is no parameter transposed"));
}

/// A kernel of two-dimensional blocks has no tile that lies in one row.
TEST(Gather, TakesBlocksOfOneRowForTheResult) {
  EXPECT_THAT(
      errorOf(
          {.op = "moe_permute_quant", .parameters = {.block = "32x32"}, .dims = {{"hidden", 64}}}),
      ::testing::HasSubstr("take blocks of one row"));
}
