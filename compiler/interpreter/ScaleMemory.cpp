//===- ScaleMemory.cpp - Scales in the layouts of memory ------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/ScaleMemory.h"

#include <cstring>
#include <functional>

using namespace eider;
using namespace eider::interpreter;

static int64_t ceilOf(int64_t count, int64_t multiple) { return (count + multiple - 1) / multiple; }

/// Fills the places of a grid of rows × columns.
static void place(std::vector<int64_t> &places, const Extents &grid,
                  const std::function<int64_t(int64_t, int64_t)> &at) {
  for (int64_t row = 0; row < grid[0]; ++row)
    for (int64_t column = 0; column < grid[1]; ++column)
      places.push_back(at(row, column));
}

ScaleMemory::ScaleMemory(ScalePlacement placement, DType scale, const Extents &grid)
    : dtype(scale), shape(grid) {
  if (placement.layout == ScaleLayout::row_major) {
    for (int64_t i = 0; i < elementsOf(grid); ++i)
      places.push_back(i);
    return;
  }
  const int64_t rows = grid[0], columns = grid[1];
  const int64_t rows4 = 4 * ceilOf(rows, 4), columns4 = 4 * ceilOf(columns, 4);
  switch (placement.layout) {
  case ScaleLayout::row_major:
    break;
  case ScaleLayout::mn_major_aligned:
    shape = {columns, rows4};
    place(places, grid, [&](int64_t row, int64_t column) { return column * rows4 + row; });
    break;
  case ScaleLayout::packed_ue8m0: // The lowest byte of a word is its first.
    dtype = DType::i32;
    shape = {columns4 / 4, rows4};
    place(places, grid, [&](int64_t row, int64_t column) {
      const int64_t word = column / 4 * rows4 + row;
      return 4 * word + column % 4;
    });
    break;
  case ScaleLayout::swizzled_128x4:
    shape = {ceilOf(rows, 128), columns4 / 4 * 512};
    place(places, grid, [&](int64_t row, int64_t column) {
      const int64_t tile = row / 128 * (columns4 / 4) + column / 4, inside = row % 128;
      return tile * 512 + inside % 32 * 16 + inside / 32 * 4 + column % 4;
    });
    break;
  case ScaleLayout::te_gemm_ready:
    if (placement.perRow) {
      shape = {columns, rows4};
      place(places, grid, [&](int64_t row, int64_t column) { return column * rows4 + row; });
    } else {
      shape = {rows, columns4};
      place(places, grid, [&](int64_t row, int64_t column) { return row * columns4 + column; });
    }
    break;
  }
}

HostTensor interpreter::toHost(const std::string &name, const Tensor &scales,
                               ScalePlacement placement) {
  const ScaleMemory memory(placement, scales.dtype, scales.shape);
  const size_t width = sizeOf(scales.dtype);
  HostTensor result{name, memory.dtype, memory.shape, {}};
  result.data.resize(sizeOf(memory.dtype) * static_cast<size_t>(elementsOf(memory.shape)));
  for (size_t i = 0; i < memory.places.size(); ++i) {
    const uint32_t bits = bitsOf(scales.dtype, scales.values[i]);
    std::memcpy(result.data.data() + static_cast<size_t>(memory.places[i]) * width, &bits, width);
  }
  return result;
}

Tensor interpreter::scalesFromHost(const HostTensor &tensor, ScalePlacement placement, DType scale,
                                   const Extents &grid) {
  const ScaleMemory memory(placement, scale, grid);
  const size_t width = sizeOf(scale);
  Tensor scales(scale, grid);
  for (size_t i = 0; i < memory.places.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, tensor.data.data() + static_cast<size_t>(memory.places[i]) * width, width);
    scales.values[i] = valueOf(scale, bits);
  }
  return scales;
}

std::string interpreter::dirtyPadding(const HostTensor &tensor, ScalePlacement placement,
                                      DType scale, const Extents &grid) {
  const ScaleMemory memory(placement, scale, grid);
  const size_t width = sizeOf(scale);
  std::vector<bool> isScale(tensor.data.size() / width);
  for (int64_t place : memory.places)
    isScale[static_cast<size_t>(place)] = true;
  for (size_t i = 0; i < tensor.data.size(); ++i)
    if (!isScale[i / width] && tensor.data[i] != std::byte{0}) {
      const auto element = static_cast<int64_t>(i / sizeOf(tensor.dtype));
      return tensor.name + "[" + std::to_string(element / memory.shape[1]) + ", " +
             std::to_string(element % memory.shape[1]) + "]";
    }
  return "";
}
