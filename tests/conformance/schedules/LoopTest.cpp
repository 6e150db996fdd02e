//===- LoopTest.cpp - Several tiles a block, against the reference --------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Elsewhere rows are so few that each has a block. Here the grid is smaller than that, so that what
// is loaded ahead, what stays in registers and what the tile before has stored matter.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"

using namespace eider;
using namespace eider::matrix;

namespace {

/// Cells of one op and block whose blocks take tiles in turn: both variants, rows that no vector
/// fills, and nothing but y.
std::vector<std::string> cellsOf(const std::string &op, const std::string &block) {
  const std::string head = op + " · ", middle = " · " + block + " · row_major · ";
  return {head + "bf16 · e4m3 · f32" + middle +
              "hardware · dynamic · default · B+1 · several · contiguous · normal",
          head + "f32 · e5m2 · f32" + middle +
              "software · dynamic · default · B+1 · several · strided misaligned · specials"};
}

void expectAll(const std::vector<std::string> &ops, const std::string &block,
               const std::vector<std::string> &schedules) {
  std::vector<Case> cases;
  for (const std::string &op : ops)
    for (const std::string &cell : cellsOf(op, block))
      for (const std::string &schedule : schedules)
        cases.push_back(scheduled(cell, schedule));
  expectReference(cases);
}

/// 37 rows by 1 to 5 blocks; the in-out's row is loaded ahead of the store to the row before.
TEST(Loops, OfRows) {
  expectAll({"add_rms_norm_quant", "layer_norm_quant"}, "1x128",
            {"row<threads = 32, vector = 16, blocks = 3, prefetch = 1>",
             "row<threads = 96, vector = 4, blocks = 1, prefetch = 1, hoist = 1, streaming = 1>",
             "row<threads = 32, vector = 16, rows = 2, blocks = 5, hoist = 1>"});
}

TEST(Loops, OfRowsOfHalves) {
  expectAll({"silu_mul_quant"}, "1x*",
            {"row<threads = 32, vector = 16, blocks = 3, prefetch = 1, streaming = 1>",
             "row<threads = 64, vector = 8, blocks = 2>"});
}

TEST(Loops, OfSegments) {
  expectAll({"silu_mul_quant", "gelu_bias_quant"}, "1x128",
            {"map<threads = 32, vector = 4, loads = 1, rows = 2, blocks = 5, streaming = 1>",
             "map<threads = 64, vector = 8, loads = 1, blocks = 2, software = 1>"});
}

/// Few lanes hold a group in several chunks each: of rows, of parts of rows, of clusters; with what
/// else goes by groups, columns or an element's number.
TEST(Loops, OfFoldedLanes) {
  std::vector<at_points::Point> points;
  const auto add = [&](const std::string &op, const OpParameters &parameters,
                       const std::vector<std::string> &schedules) {
    const bool turns = op.ends_with("rope_quant"); // whole heads
    for (const std::string &schedule : schedules)
      for (const Layout &layout : {Layout{}, {/*padding=*/16, /*shift=*/0}, {3, 1}})
        points.push_back(
            {.op = op,
             .parameters = parameters,
             .dims = {{"tokens", 37}, {"hidden", points.size() % 2 && !turns ? 984 : 1024}},
             .layout = layout,
             .values = "specials",
             .schedule = schedule});
  };
  const std::vector<std::string> ofRows = {
      "row<threads = 32, vector = 16, lanes = 4, blocks = 3, prefetch = 1>",
      "row<threads = 8, vector = 16, lanes = 1, rows = 4, tiles = 2>",
      "row<threads = 16, vector = 8, lanes = 2, rows = 2, tiles = 2>",
      "row<threads = 32, vector = 4, lanes = 8, tiles = 3, cluster = 2>"};
  const std::vector<std::string> ofParts = {
      "map<threads = 32, vector = 8, loads = 2, lanes = 8, tiles = 2>",
      "map<threads = 8, vector = 16, rows = 4, loads = 4, lanes = 2>",
      "map<threads = 16, vector = 8, rows = 8, loads = 2, lanes = 8, tiles = 2>"};
  for (const char *dtype : {"bf16", "f32"}) {
    add("add_rms_norm_quant", {.dtype = dtype}, ofRows);
    add("layer_norm_quant", {.dtype = dtype, .block = "1x64", .copy = "bf16"}, ofRows);
    add("softmax_quant", {.dtype = dtype, .amax = "yes"}, ofRows);
    add("gelu_bias_quant", {.dtype = dtype}, ofParts);
    add("quantize", {.dtype = dtype, .scaleLayout = "mn_major_aligned"}, ofParts);
    add("quantize", {.dtype = dtype, .scaleLayout = "mn_major_aligned"},
        {"map<threads = 16, vector = 16, rows = 32, loads = 1>"}); // as the heuristic has it
    add("quantize",
        {.dtype = dtype, .block = "1x256", .scale = "e8m0", .scaleLayout = "swizzled_128x4"},
        {"map<threads = 96, vector = 8, loads = 2, lanes = 16>"});
    add("silu_mul_quant", {.dtype = dtype, .block = "1x64"},
        {"map<threads = 16, vector = 8, rows = 8, loads = 2, lanes = 4, tiles = 2>"});
    add("quantize", {.dtype = dtype, .numerics = {{"rounding", "stochastic"}}}, ofParts);
  }
  add("requantize", {}, ofParts);
  const size_t turned = points.size(); // halves of heads, which a thread holds both of
  for (const char *op : {"rope_quant", "norm_rope_quant"})
    for (int64_t head : {64, 128}) // within the lanes of a group, and not
      add(op, {.settings = {{"head", std::to_string(head)}}}, ofParts);
  for (size_t i = turned; i < points.size(); ++i)
    points[i].dims.insert({"max_position", 40});
  at_points::expectReference(points);
}

/// Shared memory is written again while stores are on their way out of it: by the next row, by
/// another matrix of the same type. Where rows begin anywhere threads store as ever.
std::vector<at_points::Point> storedInBulk() {
  std::vector<at_points::Point> points;
  const auto add = [&](const std::string &op, const OpParameters &parameters,
                       const std::string &schedule) {
    for (const Layout &layout : {Layout{}, {/*padding=*/16, /*shift=*/0}, {3, 1}})
      points.push_back({.op = op,
                        .parameters = parameters,
                        .dims = {{"tokens", 37}, {"hidden", 512}},
                        .layout = layout,
                        .values = "specials",
                        .schedule = schedule});
  };
  for (const char *dtype : {"bf16", "f32"}) {
    for (const char *schedule :
         {"row<threads = 32, vector = 16, blocks = 3, bulk = 1>",
          "row<threads = 64, vector = 8, tiles = 3, prefetch = 1, bulk = 1>",
          "row<threads = 32, vector = 8, rows = 2, blocks = 5, streaming = 1, bulk = 1>",
          "row<threads = 32, vector = 4, tiles = 2, cluster = 4, bulk = 1>",
          "row<threads = 64, vector = 4, lanes = 32, blocks = 3, bulk = 1>",
          "row<threads = 32, vector = 8, lanes = 32, tiles = 3, prefetch = 1, bulk = 1>",
          "row<threads = 64, vector = 2, lanes = 32, tiles = 2, cluster = 2, bulk = 1>"}) {
      add("softmax", {.dtype = dtype, .settings = {{"causal", "1"}}}, schedule);
      add("softmax", {.dtype = dtype}, schedule);
      add("add_rms_norm", {.dtype = dtype}, schedule);
      add("add_layer_norm_quant", {.dtype = dtype}, schedule);
      add("rms_norm_quant", {.dtype = dtype, .copy = "bf16"}, schedule);
    }
    add("silu", {.dtype = dtype},
        "map<threads = 32, vector = 8, loads = 1, rows = 2, blocks = 5, bulk = 1>");
    add("silu_mul_quant", {.dtype = dtype, .copy = "f16"},
        "map<threads = 32, vector = 4, loads = 3, tiles = 2, bulk = 1>");
    add("silu", {.dtype = dtype},
        "map<threads = 64, vector = 4, loads = 2, lanes = 32, rows = 2, blocks = 5, bulk = 1>");
    // Of a warp's chunks some are outside, so that each is a copy.
    add("silu_mul_quant", {.dtype = dtype, .copy = "f16"},
        "map<threads = 32, vector = 4, loads = 3, lanes = 32, tiles = 2, bulk = 1>");
  }
  return points;
}

TEST(Loops, InBulk) { at_points::expectReference(storedInBulk()); }

/// And by the heuristic's schedules, of rows that are stored so without being asked.
TEST(BulkStores, NvrtcCompilesTheTexts) {
  std::vector<at_points::Point> points;
  for (const at_points::Point &point : storedInBulk())
    if (points.size() < 6 && (points.empty() || points.back().op != point.op))
      points.push_back(point);
  for (const char *op : {"rms_norm", "softmax", "add_rms_norm_quant"})
    for (int turn = 0; turn < 2; ++turn) // of targets
      points.push_back({.op = op, .dims = {{"tokens", 37}, {"hidden", 4096 << turn}}});
  at_points::expectNvrtc(points);
}

/// Of single elements a group is several chunks of a warp.
TEST(Loops, OfElements) {
  expectAll({"silu_mul_quant", "gelu_bias_quant"}, "1x128",
            {"map<threads = 32, vector = 1, rows = 4, loads = 4>",
             "map<threads = 96, vector = 1, loads = 8, tiles = 2>"});
  expectAll({"add_rms_norm_quant"}, "1x64",
            {"row<threads = 64, vector = 1, tiles = 2>",
             "row<threads = 32, vector = 1, blocks = 2, prefetch = 1>"});
}

TEST(Loops, OfBlocks) {
  expectAll({"quantize"}, "128x128",
            {"tile<threads = 1024, vector = 16, rows = 128, columns = 128, blocks = 2, "
             "streaming = 1>",
             "tile<threads = 512, vector = 16, rows = 128, columns = 128, tiles = 2, "
             "prefetch = 1>"});
}

/// Shared memory is written again by the next tile; odd rows and columns.
TEST(Loops, OfTransposes) {
  expectAll({"cast_transpose"}, "1x64",
            {"tile<threads = 256, vector = 16, rows = 64, columns = 128, blocks = 2>",
             "tile<threads = 64, vector = 4, rows = 64, columns = 64, tiles = 2, streaming = 1>"});
  expectAll({"cast_transpose"}, "128x128",
            {"tile<threads = 1024, vector = 8, rows = 128, columns = 128, blocks = 1>",
             "tile<threads = 256, vector = 16, rows = 128, columns = 128, blocks = 2, "
             "prefetch = 1>"});
}

/// Runs of a transpose's rows are whole in all lanes that have one together, and begin anywhere:
/// eight lanes have 16 bytes each, 16 have eight; some rows are outside.
TEST(Loops, OfTransposesAnywhere) {
  std::vector<at_points::Point> points;
  for (const char *block : {"1x128", "128x128"})
    for (int64_t hidden : {136, 192, 200})
      for (const Layout &layout : {Layout{}, {3, 1}})
        points.push_back({.op = "cast_transpose",
                          .parameters = {.block = block},
                          .dims = {{"tokens", 261}, {"hidden", hidden}},
                          .layout = layout,
                          .values = "specials"});
  points.push_back({.op = "silu_mul_quant",
                    .parameters = {.block = "1x64", .transposed = "yes"},
                    .dims = {{"tokens", 197}, {"hidden", 96}},
                    .values = "specials"});
  at_points::expectReference(points);
}

/// Of more than 12 million elements, whose transpose begins its rows within sectors, tiles go down
/// the matrix, one a block or many; the last ones of a column are cut.
TEST(Loops, DownTheMatrix) {
  std::vector<at_points::Point> points;
  for (int64_t tokens : {3089, 3088}) // anywhere, at every 16 bytes
    points.push_back({.op = "cast_transpose",
                      .parameters = {.block = "128x128"},
                      .dims = {{"tokens", tokens}, {"hidden", 4096}}});
  points.front().schedule =
      "tile<threads = 512, vector = 16, rows = 128, columns = 128, blocks = 5>";
  at_points::expectReference(points);
}

} // namespace
