//===- Sketch.cpp - The types of a sketch's steps -------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The rules of eider/dsl.h once more, so that the generator knows what goes together and the
// shrinker tries nothing that could not be written.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Sketch.h"

#include <algorithm>

using namespace eider;
using namespace eider::sketch;
using Kind = Type::Kind;

bool Sketch::operator==(const Sketch &other) const {
  return std::ranges::equal(dims, other.dims) && steps == other.steps && values == other.values &&
         codec == other.codec && layout.padding == other.layout.padding &&
         layout.shift == other.layout.shift && forAnyRows == other.forAnyRows &&
         schedule == other.schedule && seed == other.seed;
}

bool sketch::isResult(Op op) { return op >= Op::Output; }

bool sketch::isArgument(Op op) { return op >= Op::Scalar && op <= Op::Choice; }

//===-- Shapes ------------------------------------------------------------===//

static std::optional<Axis> commonAxis(const Axis &left, const Axis &right) {
  if (left == right || right.isOne())
    return left;
  if (left.isOne())
    return right;
  if (left.dim != right.dim || left.factor != right.factor)
    return std::nullopt;
  if (left.divisor % right.divisor == 0)
    return right;
  if (right.divisor % left.divisor == 0)
    return left;
  return std::nullopt;
}

std::optional<Axes> sketch::common(const Axes &left, const Axes &right) {
  Axes result = left.size() >= right.size() ? left : right;
  const Axes &other = left.size() >= right.size() ? right : left;
  for (size_t i = 1; i <= other.size(); ++i) {
    Axis &axis = result[result.size() - i];
    const auto both = commonAxis(axis, other[other.size() - i]);
    if (!both)
      return std::nullopt;
    axis = *both;
  }
  return result;
}

Axes sketch::blocksOf(const Axes &axes, const Block &block) {
  Axes result = axes;
  for (size_t i = 0; i < axes.size(); ++i)
    if (block[i] == whole)
      result[i] = {};
    else
      result[i].divisor *= block[i];
  return result;
}

//===-- Types -------------------------------------------------------------===//

namespace {
/// What one step gives.
class Rules {
public:
  Rules(const Sketch &sketch, const Step &step, const std::vector<Type> &before)
      : sketch(sketch), step(step), before(before) {}

  std::optional<Type> type() const {
    for (size_t operand : step.operands)
      if (operand >= before.size())
        return std::nullopt;
    if (step.op <= Op::Extent)
      return step.operands.empty() ? leaf() : std::nullopt;
    if (!hasOperands())
      return std::nullopt;
    if (step.op <= Op::RoundTo)
      return elementwise();
    if (step.op <= Op::Transpose)
      return shaped();
    if (step.op <= Op::Rotate)
      return ofRows();
    return step.op <= Op::Dequantize ? scaled() : result();
  }

private:
  const Sketch &sketch;
  const Step &step;
  const std::vector<Type> &before;

  const Type &operand(size_t i) const { return before[step.operands[i]]; }
  Op opOf(size_t i) const { return sketch.steps[step.operands[i]].op; }
  bool isValue(size_t i) const { return operand(i).kind == Kind::Value; }
  bool isTensor(size_t i) const { return isValue(i) && !operand(i).axes.empty(); }
  bool isIndex(size_t i) const { return operand(i).kind == Kind::Index; }
  bool isNumber(size_t i) const { return operand(i).kind == Kind::Number; }
  bool isMatrix(size_t i) const { return operand(i).axes.size() == 2; }

  static Type value(DType dtype, const Axes &axes) { return {Kind::Value, dtype, axes}; }
  static Type index(const Axes &axes) { return {Kind::Index, DType::i64, axes}; }

  bool hasOperands() const {
    const size_t count = step.operands.size();
    switch (step.op) {
    case Op::Binary:
    case Op::Gather:
    case Op::Store:
    case Op::Scatter:
    case Op::ScaledScatter:
      return count == 2;
    case Op::Clamp:
    case Op::Fma:
      return count == 3;
    case Op::Select:
      return count == 4;
    case Op::Quantize:
      return count == 1u + step.quantisation.givenScales + (step.quantisation.scale == DType::e4m3);
    default:
      return count == 1;
    }
  }

  std::optional<Type> leaf() const {
    switch (step.op) {
    case Op::Number:
      return Type{Kind::Number, DType::f32, {}};
    case Op::Scalar:
      return value(DType::f32, {});
    case Op::Choice:
      return Type{Kind::Index, step.dtype, step.axes};
    case Op::Extent:
      return index({});
    case Op::ScaledInput:
      if (step.quantisation.block.size() != step.axes.size())
        return std::nullopt;
      return Type{Kind::Scaled, step.quantisation.format, step.axes};
    default:
      return step.axes.empty() ? std::nullopt : std::optional(value(step.dtype, step.axes));
    }
  }

  /// The axes over which all operands from `first` on repeat, which are values, or numbers.
  std::optional<Axes> commonOf(size_t first, size_t last) const {
    std::optional<Axes> axes = Axes();
    for (size_t i = first; i < last && axes; ++i)
      axes = common(*axes, operand(i).axes);
    return axes;
  }

  bool areValues(size_t first, size_t last) const {
    for (size_t i = first; i < last; ++i)
      if (!isValue(i) && !isNumber(i))
        return false;
    return true;
  }

  /// Indices, of which one may be a whole number.
  bool areIndices() const {
    auto isInteger = [&](size_t i) {
      const double number = sketch.steps[step.operands[i]].number;
      return isNumber(i) && number == static_cast<double>(static_cast<int64_t>(number));
    };
    return (isIndex(0) || isIndex(1)) && (isIndex(0) || isInteger(0)) &&
           (isIndex(1) || isInteger(1));
  }

  std::optional<Type> elementwise() const {
    const std::optional<Axes> axes = commonOf(0, step.operands.size());
    if (!axes)
      return std::nullopt;
    switch (step.op) {
    case Op::Position: {
      if (!isTensor(0) || step.integer >= static_cast<int64_t>(axes->size()))
        return std::nullopt;
      Axes along(axes->size());
      along[step.integer] = (*axes)[step.integer];
      return index(along);
    }
    case Op::Binary:
      if (areIndices() && (step.function == "+" || step.function == "-"))
        return index(*axes);
      [[fallthrough]];
    case Op::Clamp:
    case Op::Fma:
      if (!areValues(0, step.operands.size()) || (isNumber(0) && isNumber(1)))
        return std::nullopt;
      return value(DType::f32, *axes);
    case Op::Select:
      if (!areValues(2, 4) || !(areIndices() || areValues(0, 2)) || (isNumber(0) && isNumber(1)))
        return std::nullopt;
      return value(DType::f32, *axes);
    default:
      if (!isValue(0))
        return std::nullopt;
      return value(step.op == Op::Cast ? step.dtype : DType::f32, *axes);
    }
  }

  std::optional<Type> shaped() const {
    if (!isTensor(0))
      return std::nullopt;
    Axes axes = operand(0).axes;
    const DType dtype = operand(0).dtype;
    switch (step.op) {
    case Op::Broadcast: {
      const std::optional<Axes> both = common(axes, step.axes);
      if (axes.size() > step.axes.size() || !both || *both != step.axes)
        return std::nullopt;
      return value(sizeOf(dtype) == 1 ? DType::f32 : dtype, step.axes); // scales are widened
    }
    case Op::Reduce:
      if (step.block.size() != axes.size())
        return std::nullopt;
      return value(DType::f32, blocksOf(axes, step.block));
    case Op::Half:
      if (axes.back().factor % 2 != 0 || axes.back().divisor != 1)
        return std::nullopt;
      axes.back().factor /= 2;
      return value(dtype, axes);
    default:
      if (axes.size() != 2 || axes[0] == axes[1])
        return std::nullopt;
      std::swap(axes[0], axes[1]);
      return value(dtype, axes);
    }
  }

  /// Whether operand 1 has one index for each row of `axes`.
  bool choosesFor(const Axes &rows) const {
    const Axes &chosen = operand(1).axes;
    return isIndex(1) && !chosen.empty() && (chosen.size() == 1 || chosen.back().isOne()) &&
           (rows.empty() || chosen.front() == rows.front());
  }

  std::optional<Type> ofRows() const {
    Axes axes = operand(0).axes;
    switch (step.op) {
    case Op::Gather: {
      const bool isTable = opOf(0) == Op::Input || (opOf(0) == Op::Dequantize && isTableOfCodes());
      if (!isTensor(0) || !isMatrix(0) || !isTable || !choosesFor({}))
        return std::nullopt;
      axes.front() = operand(1).axes.front();
      return value(operand(0).dtype, axes);
    }
    case Op::Column:
      if ((opOf(0) != Op::Input && opOf(0) != Op::Choice) || !isMatrix(0) || axes.back().dim >= 0 ||
          step.integer >= axes.back().factor)
        return std::nullopt;
      axes.back() = {};
      return Type{operand(0).kind, operand(0).dtype, axes};
    case Op::Repeat: {
      const bool isInput = opOf(0) == Op::Input || opOf(0) == Op::Gather;
      if (!isTensor(0) || !isInput || axes.back().dim >= 0 || step.axes.size() != 1)
        return std::nullopt;
      axes.back() = step.axes.front();
      return value(operand(0).dtype, axes);
    }
    default:
      if (!isTensor(0) || step.integer < 2 || step.integer % 2 != 0)
        return std::nullopt;
      return value(DType::f32, axes);
    }
  }

  bool isTableOfCodes() const {
    const Step &from = sketch.steps[sketch.steps[step.operands[0]].operands[0]];
    return from.op == Op::ScaledInput && from.quantisation.layout == ScaleLayout::row_major;
  }

  std::optional<Type> scaled() const {
    if (step.op == Op::Dequantize)
      return operand(0).kind == Kind::Scaled ? std::optional(value(DType::f32, operand(0).axes))
                                             : std::nullopt;
    const Quantisation &how = step.quantisation;
    if (!isTensor(0) || how.block.size() != operand(0).axes.size())
      return std::nullopt;
    if (how.givenScales && (opOf(1) != Op::ScaleInput || operand(1).dtype != how.scale ||
                            operand(1).axes != blocksOf(operand(0).axes, how.block)))
      return std::nullopt;
    if (how.scale == DType::e4m3) {
      const Type &global = before[step.operands.back()];
      const bool isOne = global.axes.size() == 1 && global.axes.front().isOne();
      if (global.kind != Kind::Value || global.dtype != DType::f32 || !isOne)
        return std::nullopt;
    }
    return Type{Kind::Scaled, how.format, operand(0).axes};
  }

  std::optional<Type> result() const {
    const Type none{Kind::Result, DType::f32, {}};
    const Axes &axes = operand(0).axes;
    switch (step.op) {
    case Op::Output:
      return isTensor(0) ? std::optional(none) : std::nullopt;
    case Op::ScaledOutput:
      return operand(0).kind == Kind::Scaled ? std::optional(none) : std::nullopt;
    case Op::Store: {
      const bool isStored = areValues(1, 2) && opOf(0) == Op::InOut;
      const std::optional<Axes> both = common(axes, operand(1).axes);
      return isStored && both == axes ? std::optional(none) : std::nullopt;
    }
    case Op::Scatter:
      return isTensor(0) && isMatrix(0) && choosesFor(axes) ? std::optional(none) : std::nullopt;
    default: {
      if (opOf(0) != Op::Quantize || !isMatrix(0) || !choosesFor(axes))
        return std::nullopt;
      const Quantisation &how = sketch.steps[step.operands[0]].quantisation;
      const bool goWithRows = how.layout == ScaleLayout::row_major && how.block.front() == 1;
      return how.givenScales || goWithRows ? std::optional(none) : std::nullopt;
    }
    }
  }
};
} // namespace

std::optional<Type> sketch::typeOf(const Sketch &sketch, const Step &step,
                                   const std::vector<Type> &before) {
  return Rules(sketch, step, before).type();
}

/// Whether each in-out is stored once.
static bool storesInOuts(const Sketch &sketch) {
  std::vector<size_t> stores(sketch.steps.size());
  for (const Step &step : sketch.steps)
    if (step.op == Op::Store)
      ++stores[step.operands.front()];
  for (size_t i = 0; i < sketch.steps.size(); ++i)
    if (stores[i] != (sketch.steps[i].op == Op::InOut))
      return false;
  return true;
}

/// Whether every dim that stands somewhere can be read from the shape of an argument.
static bool givesItsDims(const Sketch &sketch) {
  bool used[DimCount] = {}, given[DimCount] = {};
  for (const Step &step : sketch.steps) {
    if (step.op == Op::Scatter || step.op == Op::ScaledScatter)
      used[Sources] = given[Sources] = true;
    if (step.op == Op::Extent)
      used[step.integer] = true;
    // Memory of a layout is padded: it does not say how many scales there are.
    const bool says = isArgument(step.op) && (step.op != Op::ScaleInput ||
                                              step.quantisation.layout == ScaleLayout::row_major);
    for (const Axis &axis : step.axes) {
      if (axis.dim < 0 || sketch.dims[axis.dim].given == Given::Constant)
        continue;
      used[axis.dim] = true;
      given[axis.dim] |= says && axis.divisor == 1;
    }
  }
  for (int dim = 0; dim < DimCount; ++dim)
    if (used[dim] && !given[dim])
      return false;
  return true;
}

std::optional<std::vector<Type>> sketch::typesOf(const Sketch &sketch) {
  std::vector<Type> types;
  bool hasResult = false;
  for (const Step &step : sketch.steps) {
    const std::optional<Type> type = typeOf(sketch, step, types);
    if (!type)
      return std::nullopt;
    types.push_back(*type);
    hasResult |= isResult(step.op);
  }
  const bool isWhole = hasResult && storesInOuts(sketch) && givesItsDims(sketch);
  return isWhole ? std::optional(types) : std::nullopt;
}

Sketch sketch::pruned(const Sketch &sketch) {
  std::vector<bool> needed(sketch.steps.size());
  for (size_t i = sketch.steps.size(); i-- > 0;) {
    needed[i] = needed[i] || isResult(sketch.steps[i].op);
    for (size_t operand : sketch.steps[i].operands)
      needed[operand] = needed[operand] || needed[i];
  }
  Sketch result = sketch;
  result.steps.clear();
  std::vector<size_t> place(sketch.steps.size());
  for (size_t i = 0; i < sketch.steps.size(); ++i) {
    if (!needed[i])
      continue;
    place[i] = result.steps.size();
    result.steps.push_back(sketch.steps[i]);
    for (size_t &operand : result.steps.back().operands)
      operand = place[operand];
  }
  return result;
}
