//===- Blocks.cpp - Which block an element belongs to ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Blocks.h"

#include "compiler/interpreter/Elementwise.h"
#include "compiler/interpreter/FunctionBounds.h"

#include <algorithm>
#include <functional>
#include <thread>

using namespace eider;
using namespace eider::interpreter;
using ir::Reduction;

Extents interpreter::blockExtents(llvm::ArrayRef<int64_t> block, const Extents &shape) {
  Extents extents;
  for (auto [extent, group] : llvm::zip_equal(shape, block))
    extents.push_back(mlir::ShapedType::isDynamic(group) ? std::max<int64_t>(extent, 1) : group);
  return extents;
}

Extents interpreter::blockGrid(llvm::ArrayRef<int64_t> block, const Extents &shape) {
  Extents grid;
  for (auto [extent, group] : llvm::zip_equal(shape, block))
    grid.push_back(mlir::ShapedType::isDynamic(group) ? 1 : extent / group + (extent % group != 0));
  return grid;
}

std::vector<int64_t> interpreter::blockOfElement(const Extents &shape, const Extents &extents) {
  std::vector<int64_t> blocks(elementsOf(shape));
  Extents position(shape.size());
  for (int64_t &block : blocks) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      int64_t count = shape[axis] / extents[axis] + (shape[axis] % extents[axis] != 0);
      block = block * count + position[axis] / extents[axis];
    }
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++position[axis] < shape[axis])
        break;
      position[axis] = 0;
    }
  }
  return blocks;
}

//===-- Sums --------------------------------------------------------------===//

namespace {
/// The sum of a block, with what is needed to bound every other order of adding.
struct Sum {
  double value = 0, lower = 0, upper = 0; ///< Of the values and of the ranges' ends.
  double magnitude = 0;                   ///< Of all that is not certainly infinite.
  double lost = 0;                        ///< Of the magnitude, beside what additions of f32 round.
  double slack = 0;                       ///< By what else the sum may be off.
  int64_t count = 0;
  bool positive = false, negative = false, anything = false, nan = false;
  bool infinite = false, negativeInfinite = false; ///< A certain +Inf, a certain −Inf.

  void add(double element, Range range) {
    value += element;
    lower += range.lower;
    upper += range.upper;
    ++count;
    nan = nan || range.isNaN();
    anything = anything || range.isAnything();
    positive = positive || range.upper > 0;
    negative = negative || range.lower < 0;
    infinite = infinite || (std::isinf(range.lower) && range.lower > 0);
    negativeInfinite = negativeInfinite || (std::isinf(range.upper) && range.upper < 0);
    bool certain = range.isNaN() || (range.isPoint() && std::isinf(range.lower));
    magnitude += certain ? 0 : range.largestMagnitude();
  }

  /// The same of a finite element that may be off by `by`.
  void addNear(double element, double by) {
    value += element;
    lower += element - by;
    upper += element + by;
    ++count;
    positive = positive || element + by > 0;
    negative = negative || element - by < 0;
    magnitude += std::abs(element) + by;
  }

  Range range() const;
};

/// γ_d = d·u / (1 − d·u), u = 2^-24, for the deepest path of additions (Higham, "Accuracy and
/// Stability", 3.1 and 4.2), and what the double accumulation itself may be off.
double relativeErrorOfSum(int64_t count) {
  double additions = static_cast<double>(count - 1);
  double depth =
      std::min(additions, std::ceil(std::log2(static_cast<double>(count))) + ExtraAdditions);
  double error = depth * 0x1p-24;
  return error / (1 - error) + additions * 0x1p-52;
}
} // namespace

Range Sum::range() const {
  if (nan || (infinite && negativeInfinite))
    return Range::point(arithmeticNaN());
  if (count == 0)
    return Range::point(0);
  const double slack = (relativeErrorOfSum(count) + lost) * magnitude + this->slack;
  // Partial sums of both signs may overflow on the way.
  bool mayOverflow = positive && negative && magnitude + slack >= 0x1p+128 - 0x1p+103;
  if (anything || mayOverflow)
    return Range::anything();
  if (infinite || negativeInfinite)
    return Range::point(value);
  if (std::isinf(magnitude))
    return positive ? Range{0, magnitude} : Range{-magnitude, 0};
  double low = roundTo(DType::f32, lower - slack), high = roundTo(DType::f32, upper + slack);
  if (!negative)
    low = std::max(low, 0.0);
  if (!positive)
    high = std::min(high, 0.0);
  // Absent elements of a tile are +0, so that the sign of a zero sum depends on the order.
  return {low == 0 ? -0.0 : low, high == 0 ? 0.0 : high};
}

/// The sums as a tensor of f32.
static Tensor tensorOf(const std::vector<Sum> &sums, const Extents &shape, bool isLoose) {
  Tensor result(DType::f32, shape);
  result.isLoose = isLoose;
  for (size_t i = 0; i < sums.size(); ++i) {
    const Sum &sum = sums[i];
    result.ranges.push_back(sum.range());
    result.isLoose = result.isLoose || (sum.positive && sum.negative);
    result.values[i] = std::isnan(sum.value) ? arithmeticNaN() : roundTo(DType::f32, sum.value);
  }
  return result;
}

static Tensor reduceSum(bool mean, const Tensor &input, const Extents &grid,
                        const Extents &extents) {
  std::vector<Sum> sums(elementsOf(grid));
  std::vector<int64_t> blocks = blockOfElement(input.shape, extents);
  for (int64_t i = 0; i < input.size(); ++i)
    sums[blocks[i]].add(input.values[i], input.range(i));
  Tensor result = tensorOf(sums, grid, input.isLoose);
  if (!mean)
    return result;
  Tensor counts(DType::f32, grid);
  for (size_t i = 0; i < sums.size(); ++i)
    counts.values[i] = roundTo(DType::f32, static_cast<double>(sums[i].count));
  return apply(operations::divide, result, counts);
}

/// What the product of a weight, its scale and a vector's element may be where they meet in any
/// order and what is below `least` may be lost: a partial sum is rounded before it is scaled, and
/// may be too small for f32 then.
static Range rangeOfProduct(double weight, double scale, Range vector, double least) {
  if (std::abs(scale) >= 0x1p128 && !std::isnan(weight) && !vector.isNaN())
    return Range::anything();                      // as the sum of its group is 0 or not
  const bool isLost = std::abs(scale) <= 0x1p-150; // as the product of two scales is 0 in f32
  Hull hull;
  for (double end : {vector.lower, vector.upper}) {
    const double product = weight * scale * end,
                 slack = std::abs(product) * 0x1p-22 + least * std::max(1.0, std::abs(scale));
    if (isLost && std::isinf(product))
      return Range::anything();
    const bool isKnown = std::isnan(product) || std::isinf(product) || product == 0;
    hull.add(isKnown ? product : product - slack);
    hull.add(isKnown ? product : product + slack);
  }
  return hull.get();
}

double interpreter::lostOfCodes(const double *left, const double *right, int64_t count) {
  double sum = 0, lost = 0;
  for (int64_t first = 0; first < count; first += 32) {
    const int64_t end = std::min(first + 32, count);
    auto product = [&](int64_t i) { // infinities are no one's rounding
      const double product = left[i] * right[i];
      return std::isfinite(product) ? product : 0;
    };
    double largest = std::abs(sum);
    for (int64_t i = first; i < end; ++i) {
      largest = std::max(largest, std::abs(product(i)));
      sum += product(i);
    }
    largest = 0x1p-13 * std::max(largest, std::abs(sum));
    lost += 2 * largest;
    for (int64_t i = first; i < end; ++i)
      lost += std::min(largest, std::abs(product(i)));
  }
  return lost;
}

/// What 128 products of codes may lose, whichever 32 of the two orders meet (a lane of a warp has
/// 16 neighbours, of which the first 8 meet those of the other lanes), and whether all of them are
/// one sum before they are added in f32, or each 64.
static double lostOfStage(const double *left, const double *right, int64_t count) {
  constexpr int64_t step = 64, own = 16, half = own / 2;
  double mostLost = 0, ofLanes[2][2 * step] = {};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t to =
        i / step * step + i % own / half * (step / 2) + i % step / own * half + i % half;
    ofLanes[0][to] = left[i];
    ofLanes[1][to] = right[i];
  }
  for (int64_t window : {step, 2 * step}) {
    double inOrder = 0, byLanes = 0;
    for (int64_t first = 0; first < count; first += window) {
      inOrder += lostOfCodes(left + first, right + first, std::min(window, count - first));
      byLanes += lostOfCodes(ofLanes[0] + first, ofLanes[1] + first, window);
    }
    mostLost = std::max({mostLost, inOrder, byLanes});
  }
  return mostLost;
}

/// Calls `task` with parts of 0 … count - 1, which are shared by the processors where they are
/// `work` operations or so together.
static void inParts(int64_t count, int64_t work,
                    const std::function<void(int64_t begin, int64_t end)> &task) {
  constexpr int64_t ofThread = int64_t(1) << 26;
  const int64_t threads =
      std::clamp<int64_t>(std::min<int64_t>(work / ofThread, std::thread::hardware_concurrency()),
                          1, std::max<int64_t>(count, 1));
  std::vector<std::thread> others;
  const auto beginOf = [&](int64_t part) { return count * part / threads; };
  for (int64_t part = 1; part < threads; ++part)
    others.emplace_back([&, part] { task(beginOf(part), beginOf(part + 1)); });
  task(0, beginOf(1));
  for (std::thread &other : others)
    other.join();
}

/// Of each row of a matrix the unit in which some kernel has it as f16 (RowsAsF16.cpp), if none of
/// its values is larger than known.
static std::vector<double> unitsOf(const Tensor &matrix) {
  constexpr double least = 0x1p-111, most = 0x1p127, ofUnit = 0x1p-15;
  const int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  std::vector<double> units(rows);
  for (int64_t row = 0; row < rows; ++row) {
    double amax = least;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
      if (const double size = matrix.range(i).largestMagnitude(); !std::isnan(size))
        amax = std::max(amax, size);
    units[row] = std::exp2(std::floor(std::log2(std::min(amax, most)))) * ofUnit;
  }
  return units;
}

Tensor interpreter::contract(const Factor &weights, const Factor &vector, Met met) {
  constexpr double largest = 0x1p127;
  constexpr int64_t promoted = 128; // products of codes, before they are added in f32
  const int64_t rows = weights.values.shape[0], columns = weights.values.shape[1];
  const bool isOfMatrices = vector.values.shape.size() == 2;
  const int64_t vectors = isOfMatrices ? vector.values.shape[0] : 1;
  // Tensor cores cut off each of 16 products, and the sum before, below the largest of them; the
  // last term of an f32 that is three bf16 is cut off, too. Of matrices a sum may be as long as a
  // row, of a vector as what a thread holds, of which it adds up four with its neighbours'.
  constexpr int64_t held = 128, each = 4;
  const int64_t chain = isOfMatrices ? columns / 16 : std::min(columns, held) / each;
  const bool cutsOff = met != Met::asFloats;
  const double leastOfAll = cutsOff ? 0x1p-115 : 0x1p-148,
               lost = cutsOff ? double(chain + 16) * 0x1p-23 : 0;
  // As f16 what is smaller than `whole` of its row's unit is rounded to 2^-24 of that, or, where
  // its largest is not known exactly, of twice that.
  constexpr double whole = 0x1p-16, rounded = 0x1p-24;
  const std::vector<double> units =
      met == Met::asF16 ? unitsOf(vector.values) : std::vector<double>();
  std::vector<Sum> sums(vectors * rows);
  const bool isExact = vector.values.isExact();
  const auto addUp = [&](int64_t number) {
    const int64_t row = number % rows * columns, first = number / rows * columns;
    Sum &sum = sums[number];
    sum.lost = lost;
    const double unit = units.empty() ? 1 : units[number / rows],
                 least = leastOfAll * std::max(1.0, unit);
    double unscaled = 0, inUnits = 0; // what a partial sum may reach
    for (int64_t k = 0; k < columns; ++k) {
      const double weight = weights.values.values[row + k], value = vector.values.values[first + k],
                   scale = weights.scaleOf(row + k) * vector.scaleOf(first + k);
      const double scaled = weight * scale * value, size = std::abs(scale);
      if (isExact && size > 0x1p-150 && size < 0x1p128 && std::isfinite(scaled) && scaled != 0) {
        // Nearly all are such.
        sum.addNear(scaled, std::abs(scaled) * 0x1p-22 + least * std::max(1.0, size));
        unscaled += std::abs(weight * value);
      } else {
        const Range element = vector.values.range(first + k);
        sum.add(scaled, rangeOfProduct(weight, scale, element, least));
        const double product = std::abs(weight) * element.largestMagnitude();
        unscaled += std::isfinite(product) ? product : 0;
      }
      if (met == Met::asF16 && std::isfinite(scaled)) {
        inUnits += std::abs(scaled) / unit;
        if (std::abs(value) < whole * unit)
          sum.slack += std::abs(weight * scale) * rounded * unit;
      }
      if (met == Met::asCodes && k % promoted == 0)
        sum.slack += std::abs(scale) * lostOfStage(&weights.values.values[row + k],
                                                   &vector.values.values[first + k],
                                                   std::min(promoted, columns - k));
    }
    // Sums that overflow before a small scale, or unit, depend on the order.
    sum.anything = sum.anything || unscaled >= largest || inUnits >= largest / 2;
  };
  inParts(vectors * rows, vectors * rows * columns, [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number)
      addUp(number);
  });
  return tensorOf(sums, isOfMatrices ? Extents{vectors, rows} : Extents{rows},
                  weights.values.isLoose || vector.values.isLoose);
}

/// So many neighbours along the first axis, or the one alone, of a shape of its own.
static Tensor slice(const Tensor &tensor, int64_t first, Extents shape) {
  const int64_t begin = first * (tensor.size() / std::max<int64_t>(1, tensor.shape[0])),
                count = elementsOf(shape);
  Tensor part(tensor.dtype, std::move(shape));
  std::copy_n(tensor.values.begin() + begin, count, part.values.begin());
  if (!tensor.isExact())
    part.ranges.assign(tensor.ranges.begin() + begin, tensor.ranges.begin() + begin + count);
  part.isLoose = tensor.isLoose;
  return part;
}

Tensor interpreter::contractGroups(const Factor &weights, const Factor &matrix, const Tensor *ends,
                                   Met met) {
  const Extents &shape = weights.values.shape;
  const int64_t rows = matrix.values.shape[0], columns = shape[1], length = shape[2];
  const int64_t ofEach = shape[0] ? (rows + shape[0] - 1) / shape[0] : 0; // where no ends are
  Tensor result(DType::f32, {rows, columns});
  result.ranges.assign(result.size(), Range::point(0));
  auto sliceOf = [&](const Factor &factor, int64_t first, const Extents &extents) -> Factor {
    return {slice(factor.values, first, extents),
            factor.scales ? std::optional(slice(*factor.scales, first, extents)) : std::nullopt};
  };
  int64_t begin = 0;
  for (int64_t group = 0; group < shape[0]; ++group) {
    const double given = ends ? ends->values[group] : static_cast<double>(begin + ofEach);
    const int64_t end = given < begin ? begin : given > rows ? rows : static_cast<int64_t>(given);
    const Tensor part = contract(sliceOf(weights, group, {columns, length}),
                                 sliceOf(matrix, begin, {end - begin, length}), met);
    std::copy(part.values.begin(), part.values.end(), result.values.begin() + begin * columns);
    std::copy(part.ranges.begin(), part.ranges.end(), result.ranges.begin() + begin * columns);
    result.isLoose = result.isLoose || part.isLoose;
    begin = end;
  }
  return result;
}

//===-- Maxima ------------------------------------------------------------===//

/// The neutral element of a maximum or minimum.
static double startOf(Reduction kind) {
  if (kind == Reduction::max)
    return -std::numeric_limits<double>::infinity();
  return kind == Reduction::min ? std::numeric_limits<double>::infinity() : 0;
}

static Binary operationOf(Reduction kind) {
  if (kind == Reduction::min)
    return operations::minimum;
  return kind == Reduction::amax_number ? operations::maximumNumber : operations::maximum;
}

static Tensor reduceExtremum(Reduction kind, const Tensor &input, const Extents &grid,
                             const Extents &extents) {
  std::vector<int64_t> blocks = blockOfElement(input.shape, extents);
  Binary operation = operationOf(kind);
  Tensor result(DType::f32, grid);
  std::fill(result.values.begin(), result.values.end(), startOf(kind));
  for (int64_t i = 0; i < input.size(); ++i)
    result.values[blocks[i]] = operation(result.values[blocks[i]], input.values[i]);
  result.isLoose = input.isLoose;
  if (input.isExact())
    return result;
  result.ranges.resize(result.values.size(), Range::point(startOf(kind)));
  for (int64_t i = 0; i < input.size(); ++i) {
    Range &range = result.ranges[blocks[i]];
    bool certain = range.isNaN() || input.range(i).isNaN();
    // A NaN among them decides, whatever the others may be, unless it is ignored.
    range = certain && kind != Reduction::amax_number
                ? Range::point(arithmeticNaN())
                : applyToRanges(operation, range, input.range(i));
  }
  return result;
}

Tensor interpreter::reduce(Reduction kind, const Tensor &input, llvm::ArrayRef<int64_t> block) {
  Extents grid = blockGrid(block, input.shape), extents = blockExtents(block, input.shape);
  if (kind == Reduction::sum || kind == Reduction::mean)
    return reduceSum(kind == Reduction::mean, input, grid, extents);
  bool magnitudes = kind == Reduction::amax || kind == Reduction::amax_number;
  return reduceExtremum(kind, magnitudes ? absolute(input) : input, grid, extents);
}

//===-- Broadcast and halves ----------------------------------------------===//

/// The elements of `input` at `indices`, in that order.
static Tensor gather(const Tensor &input, const Extents &shape,
                     const std::vector<int64_t> &indices) {
  Tensor result(input.dtype, shape);
  result.isLoose = input.isLoose;
  for (size_t i = 0; i < indices.size(); ++i)
    result.values[i] = input.values[indices[i]];
  if (!input.isExact())
    for (int64_t index : indices)
      result.ranges.push_back(input.ranges[index]);
  return result;
}

Tensor interpreter::broadcast(const Tensor &input, const Extents &shape, const Extents &extents) {
  return gather(input, shape, blockOfElement(shape, extents));
}

/// Where the elements of a matrix's transpose are in it, row by row.
static std::vector<int64_t> transposedOrder(const Extents &shape) {
  std::vector<int64_t> indices;
  for (int64_t column = 0; column < shape[1]; ++column)
    for (int64_t row = 0; row < shape[0]; ++row)
      indices.push_back(row * shape[1] + column);
  return indices;
}

Tensor interpreter::transpose(const Tensor &input) {
  return gather(input, {input.shape[1], input.shape[0]}, transposedOrder(input.shape));
}

CodeTensor interpreter::transpose(const CodeTensor &input) {
  CodeTensor result{input.format, input.rules, transpose(input.operand), {}};
  for (int64_t index : transposedOrder(input.operand.shape))
    result.codes.push_back(input.codes[index]);
  return result;
}

Tensor interpreter::half(const Tensor &input, ir::Half which) {
  Extents shape = input.shape;
  int64_t width = shape.back() / 2;
  shape.back() = width;
  std::vector<int64_t> indices(elementsOf(shape));
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t row = static_cast<int64_t>(i) / width, column = static_cast<int64_t>(i) % width;
    indices[i] = row * 2 * width + column + (which == ir::Half::second ? width : 0);
  }
  return gather(input, shape, indices);
}
