//===- ShapeTraps.cpp - Rows, strides and groups that others got wrong ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/conformance/traps/Trap.h"

#include <cmath>

using namespace eider;
using namespace eider::traps;

namespace {
/// Values that tell where they stand.
std::vector<float> numbered(int64_t rows, int64_t columns) {
  std::vector<float> values;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      values.push_back(static_cast<float>((row * 31 + column * 7) % 113 - 56));
  return values;
}

/// The inputs of a quantising op.
std::vector<HostTensor> inputsOf(const std::string &op, int64_t rows, int64_t columns) {
  int64_t width = op == "silu_mul_quant" ? 2 * columns : columns;
  std::vector<HostTensor> inputs = {floats("x", {rows, width}, numbered(rows, width))};
  if (op == "add_rms_norm_quant")
    inputs.push_back(floats("residual", {rows, columns}, numbered(rows, columns)));
  if (op.ends_with("rms_norm_quant"))
    inputs.push_back(floats("weight", {columns}, numbered(1, columns)));
  return inputs;
}

/// The same as bf16, which holds these values.
std::vector<HostTensor> asBf16(std::vector<HostTensor> tensors) {
  for (HostTensor &tensor : tensors) {
    std::vector<std::byte> upper;
    for (size_t i = 2; i < tensor.data.size(); i += 4)
      upper.insert(upper.end(), {tensor.data[i], tensor.data[i + 1]});
    tensor.dtype = bf16;
    tensor.data = std::move(upper);
  }
  return tensors;
}

const char *const QuantisingOps[] = {"quantize", "rms_norm_quant", "add_rms_norm_quant",
                                     "silu_mul_quant"};
} // namespace

TEST(ShapeTraps, ZeroTokens) {
  for (const char *op : QuantisingOps)
    for (const char *block : {"1x128", "1x*", "128x128"})
      for (const HostTensor &output : run(op, parameters("e4m3", block), inputsOf(op, 0, 256)))
        EXPECT_EQ(output.data.size(), 0u) << op << " " << output.name;
}

TEST(ShapeTraps, HiddenIsNoMultipleOfTheBlockOrTheVector) {
  for (const char *op : QuantisingOps)
    for (int64_t columns : {1, 17, 127, 131})
      run(op, parameters("e5m2", "1x128"), inputsOf(op, 5, columns));
}

/// Between the rows lies a NaN of every type; a partial block that reads on would have it for its
/// amax.
TEST(ShapeTraps, PaddingIsReadAsData) {
  for (auto [block, columns] :
       {std::pair("1x128", 130), std::pair("1x*", 77), std::pair("128x128", 130)}) {
    auto outputs = run("quantize", parameters("e4m3", block), inputsOf("quantize", 130, columns),
                       "auto", {/*padding=*/16, /*shift=*/0});
    for (float scale : floatsOf(outputs, "y_scale"))
      ASSERT_FALSE(std::isnan(scale)) << block;
  }
}

TEST(ShapeTraps, RowsWithAStride) {
  for (const char *op : QuantisingOps)
    for (matrix::Layout layout :
         {matrix::Layout{16, 0}, matrix::Layout{3, 0}, matrix::Layout{3, 1}, matrix::Layout{0, 1}})
      run(op, parameters("e4m3", "1x64"), inputsOf(op, 9, 192), "auto", layout);
}

/// Every block has a magnitude of its own: its scale says which block it was taken from.
TEST(ShapeTraps, ScalesAreWrittenToTheWrongGroup) {
  struct Grid {
    const char *block;
    int64_t rows, columns;
  };
  for (Grid grid : {Grid{"1x16", 1, 16}, Grid{"1x128", 1, 128}, Grid{"128x128", 128, 128}}) {
    const int64_t down = 3, across = 5, rows = down * grid.rows, columns = across * grid.columns;
    std::vector<float> x;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        const int64_t block = row / grid.rows * across + column / grid.columns;
        x.push_back(448.0f * static_cast<float>(1 + block));
      }
    auto outputs =
        run("quantize", parameters("e4m3", grid.block), {floats("x", {rows, columns}, x)});
    std::vector<float> scales = floatsOf(outputs, "y_scale");
    ASSERT_EQ(scales.size(), static_cast<size_t>(down * across));
    for (size_t i = 0; i < scales.size(); ++i)
      EXPECT_EQ(scales[i], static_cast<float>(i + 1)) << grid.block;
  }
}

/// The new residual is stored while the norm still needs the old one: wide rows, where a kernel may
/// come by twice.
TEST(ShapeTraps, InOutIsReadAfterItsStore) {
  for (int64_t columns : {64, 3000, 20000})
    run("add_rms_norm_quant", parameters("e4m3", "1x*"),
        inputsOf("add_rms_norm_quant", 3, columns));
  run("add_rms_norm_quant", parameters("e4m3", "128x128"),
      inputsOf("add_rms_norm_quant", 130, 300));
}

/// Rows that begin anywhere are read around their chunks and written by neighbours: every row at
/// another address, with and without a gap that holds NaN and is not to be written.
TEST(ShapeTraps, WideRowsThatBeginAnywhere) {
  struct Given {
    const char *op, *format, *block;
    int64_t rows, columns;
    matrix::Layout layout;
  };
  for (const Given &given : {Given{"quantize", "e4m3", "1x128", 9, 8193, {}},
                             Given{"quantize", "e5m2", "1x*", 3, 8191, {4, 1}},
                             Given{"quantize", "e2m1", "1x16", 8, 1026, {2, 2}},
                             Given{"rms_norm_quant", "e4m3", "1x128", 3, 2047, {1, 3}},
                             Given{"add_rms_norm_quant", "e4m3", "1x128", 9, 1041, {}},
                             Given{"silu_mul_quant", "e4m3", "1x32", 2, 1023, {3, 5}}}) {
    OpParameters chosen = parameters(given.format, given.block);
    run(given.op, chosen, inputsOf(given.op, given.rows, given.columns), "auto", given.layout);
    chosen.dtype = "bf16";
    run(given.op, chosen, asBf16(inputsOf(given.op, given.rows, given.columns)), "auto",
        given.layout);
  }
}
