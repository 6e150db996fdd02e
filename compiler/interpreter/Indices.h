//===- Indices.h - Positions, and rows chosen by an index -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_INDICES_H
#define EIDER_INTERPRETER_INDICES_H

#include "compiler/interpreter/Boundary.h"

namespace eider::interpreter {

/// eider.position: 0, 1, 2, … along the axis, in a tensor of `shape`.
Tensor position(const Extents &shape);

/// eider.gather: rows of the table; zeros where it has no such row. `rows` rows have one of its.
Tensor gatherRows(const Tensor &table, const Tensor &index, int64_t rows);

/// eider.column.
Tensor column(const Tensor &input, int64_t column);

/// eider.repeat along rows of `width`.
Tensor repeat(const Tensor &input, int64_t width, int64_t each);

/// eider.rotate.
Tensor rotate(const Tensor &input, int64_t over);

/// Where rows of a value go in tensors that the caller has: eider.scatter.
struct Placement {
  std::vector<int64_t> rows;   ///< Of each row of the value; -1: nowhere.
  std::vector<HostTensor> old; ///< The tensors as they were.

  /// The tensors with the rows of `values`, tensors of the same names, in their places.
  std::vector<HostTensor> place(const std::vector<HostTensor> &values) const;
  /// The rows of `tensors` that were placed; where none was, those of `values`.
  std::vector<HostTensor> take(const std::vector<HostTensor> &tensors,
                               const std::vector<HostTensor> &values) const;
  /// The rows of one of the tensors that nothing was placed in.
  std::vector<int64_t> keptRows(const HostTensor &tensor) const;
};

/// The rows that an index chooses of `extent`, -1 where it chooses none.
std::vector<int64_t> rowsChosen(const Tensor &index, int64_t extent);

/// The bytes of a row.
size_t rowBytes(const HostTensor &tensor);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_INDICES_H
