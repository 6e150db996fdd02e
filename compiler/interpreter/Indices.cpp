//===- Indices.cpp - Positions, and rows chosen by an index ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Indices.h"

#include "compiler/interpreter/Elementwise.h"

#include <algorithm>
#include <cstring>

using namespace eider;
using namespace eider::interpreter;

/// A tensor of `shape` whose element i is the input's element `from(i)`; 0 where that is -1.
template <class From> static Tensor pick(const Tensor &input, const Extents &shape, From from) {
  Tensor result(input.dtype, shape);
  result.isLoose = input.isLoose;
  if (!input.isExact())
    result.ranges.resize(result.values.size(), Range::point(0));
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t index = from(i);
    if (index < 0)
      continue;
    result.values[i] = input.values[index];
    if (!input.isExact())
      result.ranges[i] = input.ranges[index];
  }
  return result;
}

std::vector<int64_t> interpreter::rowsChosen(const Tensor &index, int64_t extent) {
  std::vector<int64_t> rows;
  for (double chosen : index.values)
    rows.push_back(
        chosen >= 0 && chosen < static_cast<double>(extent) ? static_cast<int64_t>(chosen) : -1);
  return rows;
}

Tensor interpreter::position(const Extents &shape) {
  Tensor result(DType::i64, shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = static_cast<double>(i);
  return result;
}

Tensor interpreter::gatherRows(const Tensor &table, const Tensor &index, int64_t rows) {
  const int64_t width = table.shape.back();
  const std::vector<int64_t> chosen = rowsChosen(index, table.shape.front() * rows);
  return pick(table, {static_cast<int64_t>(chosen.size()), width}, [&](int64_t i) {
    const int64_t row = chosen[i / width];
    return row < 0 ? -1 : row / rows * width + i % width;
  });
}

Tensor interpreter::column(const Tensor &input, int64_t column) {
  const int64_t width = input.shape.back();
  return pick(input, {input.shape.front(), 1}, [&](int64_t i) { return i * width + column; });
}

Tensor interpreter::repeat(const Tensor &input, int64_t width, int64_t each) {
  const int64_t period = input.shape.back();
  Extents shape = input.shape;
  shape.back() = width;
  return pick(input, shape,
              [&](int64_t i) { return i / width * period + i % width / each % period; });
}

Tensor interpreter::rotate(const Tensor &input, int64_t over) {
  const int64_t half = over / 2;
  auto isFirst = [&](int64_t i) { return i % over < half; }; // groups divide the rows
  Tensor turned =
      pick(input, input.shape, [&](int64_t i) { return isFirst(i) ? i + half : i - half; });
  Tensor negated = apply(operations::negate, turned);
  for (int64_t i = 0; i < turned.size(); ++i) {
    if (!isFirst(i))
      continue;
    turned.values[i] = negated.values[i];
    if (!turned.isExact())
      turned.ranges[i] = negated.ranges[i];
  }
  return turned;
}

//===-- Scattered rows ----------------------------------------------------===//

size_t interpreter::rowBytes(const HostTensor &tensor) {
  return tensor.shape.front() ? tensor.data.size() / static_cast<size_t>(tensor.shape.front()) : 0;
}

std::vector<HostTensor> Placement::place(const std::vector<HostTensor> &values) const {
  std::vector<HostTensor> tensors = old;
  for (HostTensor &tensor : tensors) {
    const HostTensor &value = *findTensor(values, tensor.name);
    const size_t bytes = rowBytes(tensor);
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i] >= 0)
        std::memcpy(tensor.data.data() + static_cast<size_t>(rows[i]) * bytes,
                    value.data.data() + i * bytes, bytes);
  }
  return tensors;
}

std::vector<HostTensor> Placement::take(const std::vector<HostTensor> &tensors,
                                        const std::vector<HostTensor> &values) const {
  std::vector<HostTensor> taken = values;
  for (HostTensor &value : taken) {
    const HostTensor *tensor = findTensor(tensors, value.name);
    if (!tensor)
      continue;
    const size_t bytes = rowBytes(*tensor);
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i] >= 0)
        std::memcpy(value.data.data() + i * bytes,
                    tensor->data.data() + static_cast<size_t>(rows[i]) * bytes, bytes);
  }
  return taken;
}

std::vector<int64_t> Placement::keptRows(const HostTensor &tensor) const {
  std::vector<bool> written(static_cast<size_t>(tensor.shape.front()));
  for (int64_t row : rows)
    if (row >= 0)
      written[static_cast<size_t>(row)] = true;
  std::vector<int64_t> kept;
  for (size_t row = 0; row < written.size(); ++row)
    if (!written[row])
      kept.push_back(static_cast<int64_t>(row));
  return kept;
}
