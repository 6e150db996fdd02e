//===- Cell.h - One cell of the test matrix ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_CELL_H
#define EIDER_TESTS_MATRIX_CELL_H

#include "tests/matrix/Harness.h"

#include <array>
#include <string>
#include <vector>

namespace eider::matrix {

/// The axes of the matrix. A shape is given relative to the block: B columns, R rows.
enum class Axis : size_t {
  Op,
  Dtype,
  Format,
  Scale,
  Block,
  ScaleLayout,
  Codec,
  Source,
  Numerics,
  Width,
  Rows,
  Memory,
  Values
};
inline constexpr size_t AxisCount = 13;

/// The library's ops, in its order, but those that an index chooses rows for: these have dims and
/// inputs of their own, and tests in tests/indices.
const std::vector<OpInfo> &ops();

/// Name and values of each axis, in the order of Axis.
struct AxisInfo {
  const char *name;
  std::vector<const char *> values;
};
const std::array<AxisInfo, AxisCount> &axes();
inline const AxisInfo &infoOf(Axis axis) { return axes()[static_cast<size_t>(axis)]; }

/// A value's index on each axis; Unset while a cell is being made.
inline constexpr int Unset = -1;
struct Cell {
  std::array<int, AxisCount> at;
  Cell() { at.fill(Unset); }
  bool operator==(const Cell &) const = default;

  int &operator[](Axis axis) { return at[static_cast<size_t>(axis)]; }
  int operator[](Axis axis) const { return at[static_cast<size_t>(axis)]; }
  /// The value on an axis; empty while unset.
  std::string text(Axis axis) const {
    return (*this)[axis] == Unset ? "" : infoOf(axis).values[(*this)[axis]];
  }
  /// All values, the unset ones left out: `quantize bf16 e4m3 1x128 …`.
  std::string name() const;
};

/// The cell of a name that Cell::name gave. Throws Error.
Cell cellNamed(const std::string &name);

/// Whether the values set so far go together: what a scale source or a numerics mode means for the
/// op.
bool isValid(const Cell &cell);

/// Whether the cell's op stands for those that read, reduce and write as it does and differ from it
/// in elementwise functions alone, or has no scales. Of the others the products leave some axes to
/// chance: they have many cells.
bool isRepresentative(const Cell &cell);

/// The extent that a signature gives, of `tokens`, `2 * hidden`, `ceildiv(hidden, 128)` or `1`.
int64_t extentOf(const std::string &expression, const Dims &dims);

/// The cell's program on inputs that follow from the cell and `seed` alone. Throws Error.
Case makeCase(const Cell &cell, uint64_t seed);

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_CELL_H
