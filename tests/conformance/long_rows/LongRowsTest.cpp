//===- LongRowsTest.cpp - Rows that no registers hold, by the reference ---===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace eider;
using matrix::testDevice;
using namespace eider::at_points;

namespace {

/// A little more than eight blocks hold together; odd, and even.
constexpr int64_t odd = 524289, even = 524296;

Point point(const std::string &op, const OpParameters &parameters, int64_t hidden = odd) {
  return {.op = op, .parameters = parameters, .dims = {{"tokens", 2}, {"hidden", hidden}}};
}

/// Reductions that wait for others, along rows, of groups, blocks and of the whole matrix.
std::vector<Point> points() {
  std::vector<Point> all = {
      point("softmax", {}),
      point("softmax", {.dtype = "f32"}, even),
      point("rms_norm", {.dtype = "f16"}, even),
      point("layer_norm", {}),
      point("quantize", {.block = "1x*"}),
      point("quantize", {.block = "1x*", .mode = "vllm_token"}, even),
      point("rms_norm_quant", {}),
      point("rms_norm_quant", {.block = "1x*"}),
      point("rms_norm_quant", {.block = "*x*"}, even),
      point("rms_norm_quant", {.block = "128x128"}, even),
      point("add_layer_norm_quant", {.format = "e5m2", .block = "1x*"}, even),
      point("layer_norm_quant", {.transposed = "yes"}, even),
  };
  all[1].codec = all[4].codec = "software";
  all[3].layout = {/*padding=*/3, /*shift=*/1};
  all[6].values = "specials";
  return all;
}

TEST(LongRows, AgreeWithTheReference) { expectReference(points()); }

/// Rows whose sum waits for the largest of all.
TEST(LongRows, WaitForTheWholeMatrix) {
  Builder b("normalised");
  const Value x = b.input("x", f32, {b.dim("tokens"), b.dim("hidden")});
  const Value n = x / amax(x, {whole, whole});
  b.output("y", n * sum(n * n, 1), f16);
  expectReference({caseOf(b.build(), {{"tokens", 2}, {"hidden", odd}}, "tokens")});
}

TEST(LongRows, TextsArePure) { expectPure(points()); }

TEST(LongRows, TextsCompileForEveryTarget) {
  if (testDevice() == "host")
    expectNvrtc(points());
}

/// Without clusters of blocks a row is long sooner.
TEST(LongRows, BeginWhereABlockEnds) {
  for (const auto &[target, longest] : {std::pair{"sm_75", 65536}, {"sm_90a", 524288}})
    for (const int64_t hidden : {longest, longest + 1}) {
      CompileOptions options;
      options.target = target;
      options.dims = {{"hidden", hidden}};
      const std::string text = emit(libraryOp("rms_norm_quant", {}), options, Stage::Cuda);
      EXPECT_EQ(text.find("_pieces") != std::string::npos, hidden > longest) << target;
    }
}

/// The largest of each row is all that its last piece has: who leaves it out has other codes
/// everywhere.
TEST(LongRows, EndWithAPieceOfOneElement) {
  matrix::Case made = caseOf(point("quantize", {.dtype = "f32", .block = "1x*"}));
  const auto setLast = [](matrix::Case &given, float value) {
    for (size_t row = 1; row <= 2; ++row)
      std::memcpy(given.inputs[0].data.data() + (row * odd - 1) * sizeof(float), &value,
                  sizeof(float));
  };
  setLast(made, 1e4f);
  expectReference(std::vector<matrix::Case>{made});
  if (testDevice() != "host")
    return;
  matrix::Case without = made;
  setLast(without, 0.0f);
  for (const Comparison &output : compare(made.program, made.inputs, runOnHost(without)))
    EXPECT_EQ(output.wrong, 2) << output.name;
}

} // namespace
