//===- Product.cpp - Every text that the op library can give --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/text/Product.h"

#include <set>
#include <span>
#include <sstream>

using namespace eider;
using namespace eider::text;
using matrix::Axis;
using matrix::Cell;

/// The axes that a text does not depend on; each cell has their first value.
static Cell cellOfTexts() {
  Cell cell;
  for (Axis axis : {Axis::Rows, Axis::Memory, Axis::Values})
    cell[axis] = 0;
  return cell;
}

/// Calls `visit` with each combination of values on `product` that goes together.
template <class Visit>
static void eachCombination(std::span<const Axis> product, Cell cell, Visit visit) {
  if (product.empty())
    return visit(cell);
  for (int value = 0; value < static_cast<int>(matrix::infoOf(product[0]).values.size()); ++value) {
    cell[product[0]] = value;
    if (matrix::isValid(cell))
      eachCombination(product.subspan(1), cell, visit);
  }
}

/// The next numerics after those of `number` that go with the cell.
static void setNumerics(Cell &cell, size_t number) {
  const size_t count = matrix::infoOf(Axis::Numerics).values.size();
  do
    cell[Axis::Numerics] = static_cast<int>(number++ % count);
  while (!matrix::isValid(cell));
}

std::vector<Cell> text::productOfTexts() {
  static constexpr Axis axes[] = {Axis::Op,    Axis::Dtype, Axis::Format,
                                  Axis::Block, Axis::Codec, Axis::Source},
                        numerics[] = {Axis::Numerics};
  const int widths = static_cast<int>(matrix::infoOf(Axis::Width).values.size());
  const int scales = static_cast<int>(matrix::infoOf(Axis::Scale).values.size());
  const int layouts = static_cast<int>(matrix::infoOf(Axis::ScaleLayout).values.size());
  std::vector<Cell> cells;
  auto add = [&](Cell cell) {
    cell[Axis::Width] = static_cast<int>(cells.size()) % widths;
    cell[Axis::Scale] = static_cast<int>(cells.size()) % scales;
    if (!matrix::isValid(cell))
      cell[Axis::Scale] = 0; // f32 goes with everything
    cell[Axis::ScaleLayout] = static_cast<int>(cells.size() / 7) % layouts;
    if (!matrix::isValid(cell))
      cell[Axis::ScaleLayout] = 0; // and so does row_major
    cells.push_back(cell);
  };
  eachCombination(axes, cellOfTexts(), [&](Cell cell) {
    if (matrix::isRepresentative(cell))
      return eachCombination(numerics, cell, add);
    setNumerics(cell, cells.size());
    add(cell);
  });
  return cells;
}

std::vector<Cell> text::withoutRepeats(const std::vector<Cell> &cells) {
  std::set<std::string> seen;
  std::vector<Cell> kept;
  for (Cell cell : cells) {
    for (Axis axis : {Axis::Rows, Axis::Memory, Axis::Values})
      cell[axis] = 0;
    if (seen.insert(cell.name()).second)
      kept.push_back(cell);
  }
  return kept;
}

/// Has conversion instructions for FP8.
static bool convertsFp8(const std::string &target) {
  return target == "host" || std::stoi(target.substr(target.find('_') + 1)) >= 89;
}

std::string text::textOf(const Cell &cell, const std::string &target) {
  matrix::Case made = matrix::makeCase(cell, /*seed=*/0);
  made.options.target = target;
  if (!convertsFp8(target))
    made.options.codec = "software";
  return emit(made.program, made.options, Stage::Cuda);
}

std::string text::withoutHeaders(const std::string &text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("//"))
      kept += line + "\n";
  return kept;
}
