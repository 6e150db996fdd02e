//===- Pairwise.cpp - Few cells that hold every pair of values ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Pairwise.h"

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <tuple>

using namespace eider;
using namespace eider::matrix;

namespace {
/// Two values on two axes, the lower axis first.
using Pair = std::tuple<size_t, int, size_t, int>;

int valuesOn(size_t axis) { return static_cast<int>(axes()[axis].values.size()); }

/// Sets the unset axes from `axis` on to any values that go together; false if there are none.
bool complete(Cell &cell, size_t axis = 0) {
  if (axis == AxisCount)
    return true;
  if (cell.at[axis] != Unset)
    return complete(cell, axis + 1);
  for (int value = 0; value < valuesOn(axis); ++value) {
    cell.at[axis] = value;
    if (isValid(cell) && complete(cell, axis + 1))
      return true;
  }
  cell.at[axis] = Unset;
  return false;
}

bool canComplete(Cell cell) { return isValid(cell) && complete(cell); }

/// All pairs that some cell holds.
std::set<Pair> possiblePairs() {
  std::set<Pair> pairs;
  for (size_t a = 0; a < AxisCount; ++a)
    for (size_t b = a + 1; b < AxisCount; ++b)
      for (int x = 0; x < valuesOn(a); ++x)
        for (int y = 0; y < valuesOn(b); ++y) {
          Cell cell;
          cell.at[a] = x;
          cell.at[b] = y;
          if (canComplete(cell))
            pairs.insert({a, x, b, y});
        }
  return pairs;
}

template <class Visit> void eachPair(const Cell &cell, Visit visit) {
  for (size_t a = 0; a < AxisCount; ++a)
    for (size_t b = a + 1; b < AxisCount; ++b)
      if (cell.at[a] != Unset && cell.at[b] != Unset)
        visit(Pair{a, cell.at[a], b, cell.at[b]});
}

/// How many of the pairs that a value on `axis` makes with those already set are new.
int newPairs(const Cell &cell, size_t axis, int value, const std::set<Pair> &missing) {
  int count = 0;
  for (size_t other = 0; other < AxisCount; ++other) {
    if (other == axis || cell.at[other] == Unset)
      continue;
    Pair pair = axis < other ? Pair{axis, value, other, cell.at[other]}
                             : Pair{other, cell.at[other], axis, value};
    count += static_cast<int>(missing.count(pair));
  }
  return count;
}

/// Grows `cell` by the best value on each axis, the axes in random order.
void grow(Cell &cell, const std::set<Pair> &missing, std::mt19937_64 &random) {
  std::array<size_t, AxisCount> order;
  for (size_t i = 0; i < AxisCount; ++i)
    order[i] = i;
  for (size_t i = AxisCount; i > 1; --i) // std::shuffle differs between libraries
    std::swap(order[i - 1], order[random() % i]);
  for (size_t axis : order) {
    if (cell.at[axis] != Unset)
      continue;
    int best = Unset, most = -1, start = static_cast<int>(random() % valuesOn(axis));
    for (int step = 0; step < valuesOn(axis); ++step) {
      int value = (start + step) % valuesOn(axis);
      Cell tried = cell;
      tried.at[axis] = value;
      int count = newPairs(cell, axis, value, missing);
      if (count > most && canComplete(tried)) {
        best = value;
        most = count;
      }
    }
    cell.at[axis] = best;
  }
}
} // namespace

std::vector<Cell> matrix::pairwiseCells(uint64_t seed) {
  constexpr int candidates = 10;
  std::mt19937_64 random(seed);
  std::set<Pair> missing = possiblePairs();
  std::vector<Cell> cells;
  while (!missing.empty()) {
    Cell best;
    size_t most = 0;
    for (int i = 0; i < candidates; ++i) {
      auto [a, x, b, y] = *std::next(missing.begin(), static_cast<long>(random() % missing.size()));
      Cell cell;
      cell.at[a] = x;
      cell.at[b] = y;
      grow(cell, missing, random);
      size_t count = 0;
      eachPair(cell, [&](const Pair &pair) { count += missing.count(pair); });
      if (count > most) {
        best = cell;
        most = count;
      }
    }
    eachPair(best, [&](const Pair &pair) { missing.erase(pair); });
    cells.push_back(best);
  }
  return cells;
}

size_t matrix::uncoveredPairs(const std::vector<Cell> &cells) {
  std::set<Pair> missing = possiblePairs();
  for (const Cell &cell : cells)
    eachPair(cell, [&](const Pair &pair) { missing.erase(pair); });
  return missing.size();
}

namespace {
/// Sets an axis to any of the values that go with the cell, as likely as each other.
void draw(Cell &cell, Axis axis, std::mt19937_64 &random) {
  std::vector<int> fitting;
  for (int value = 0; value < static_cast<int>(infoOf(axis).values.size()); ++value) {
    cell[axis] = value;
    if (canComplete(cell))
      fitting.push_back(value);
  }
  cell[axis] = fitting[random() % fitting.size()];
}

/// Calls `visit` with each combination of values on `product`.
template <class Visit> void eachCombination(std::span<const Axis> product, Cell cell, Visit visit) {
  if (product.empty())
    return visit(cell);
  for (int value = 0; value < static_cast<int>(infoOf(product[0]).values.size()); ++value) {
    cell[product[0]] = value;
    if (canComplete(cell))
      eachCombination(product.subspan(1), cell, visit);
  }
}
} // namespace

std::vector<Cell> matrix::numericsProduct() {
  static constexpr Axis product[] = {Axis::Op, Axis::Format, Axis::Block, Axis::ScaleLayout,
                                     Axis::Numerics};
  std::vector<Cell> cells;
  std::mt19937_64 random(2);
  eachCombination(product, Cell(), [&](Cell cell) {
    for (const Axis axis : {Axis::Scale, Axis::Source, Axis::Codec, Axis::Dtype, Axis::Width,
                            Axis::Rows, Axis::Memory, Axis::Values})
      draw(cell, axis, random);
    cells.push_back(cell);
  });
  return cells;
}

std::vector<Cell> matrix::wholeProduct() {
  static constexpr Axis texts[] = {Axis::Op,    Axis::Dtype, Axis::Format,
                                   Axis::Block, Axis::Codec, Axis::Width},
                        shapes[] = {Axis::Rows};
  std::vector<Cell> cells;
  std::mt19937_64 random(1);
  eachCombination(texts, Cell(), [&](Cell text) {
    draw(text, Axis::Scale, random);
    draw(text, Axis::ScaleLayout, random);
    draw(text, Axis::Source, random);
    draw(text, Axis::Numerics, random);
    auto add = [&](Cell cell) {
      draw(cell, Axis::Memory, random);
      draw(cell, Axis::Values, random);
      cells.push_back(cell);
    };
    if (isRepresentative(text))
      return eachCombination(shapes, text, add);
    draw(text, Axis::Rows, random);
    add(text);
  });
  return cells;
}
