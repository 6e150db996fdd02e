//===- Record.cpp - From a sketch to a program ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Functions.h"
#include "tests/random/Sketch.h"

#include <variant>

using namespace eider;
using namespace eider::sketch;

namespace {
/// Records a sketch, step by step.
class Recorder {
public:
  explicit Recorder(const Sketch &sketch) : sketch(sketch), dims(DimCount, Dim(1)) {
    for (int dim = 0; dim < DimCount; ++dim)
      declare(static_cast<DimName>(dim));
  }

  Program program() {
    for (size_t i = 0; i < sketch.steps.size(); ++i)
      record(i);
    return builder.build();
  }

private:
  const Sketch &sketch;
  Builder builder{"sketch"};
  std::vector<Dim> dims;
  std::vector<std::variant<std::monostate, double, Value, Scaled>> made;
  std::optional<Value> seed, offset; ///< Of stochastic rounding, once it is needed.

  bool isUsed(DimName dim) const {
    for (const Step &step : sketch.steps) {
      const bool isOfTable = step.op == Op::Scatter || step.op == Op::ScaledScatter;
      if ((isOfTable && dim == Sources) || (step.op == Op::Extent && step.integer == dim))
        return true;
      for (const Axis &axis : step.axes)
        if (axis.dim == dim)
          return true;
    }
    return false;
  }

  void declare(DimName dim) {
    const DimChoice &choice = sketch.dims[dim];
    if (choice.given == Given::Constant)
      dims[dim] = Dim(choice.extent);
    else if (isUsed(dim) && choice.given == Given::Declared)
      dims[dim] = builder.dim(dimNames[dim], choice.extent);
    else if (isUsed(dim))
      dims[dim] = builder.dim(dimNames[dim]);
  }

  Dim dimOf(const Axis &axis) const {
    const Dim multiple = axis.factor * (axis.dim < 0 ? Dim(1) : dims[axis.dim]);
    return axis.divisor == 1 ? multiple : ceildiv(multiple, axis.divisor);
  }

  Shape shapeOf(const Axes &axes) const {
    Shape shape;
    for (const Axis &axis : axes)
      shape.push_back(dimOf(axis));
    return shape;
  }

  Operand operand(const Step &step, size_t i) const {
    const auto &given = made[step.operands[i]];
    if (const auto *number = std::get_if<double>(&given))
      return Operand(*number);
    return Operand(std::get<Value>(given));
  }
  const Value &value(const Step &step, size_t i) const {
    return std::get<Value>(made[step.operands[i]]);
  }
  const Scaled &scaled(const Step &step, size_t i) const {
    return std::get<Scaled>(made[step.operands[i]]);
  }

  void record(size_t i) {
    const Step &step = sketch.steps[i];
    if (isResult(step.op)) {
      write(step, boundaryName(sketch, i));
      made.emplace_back();
    } else if (step.op == Op::Number) {
      made.emplace_back(step.number);
    } else if (step.op == Op::ScaledInput) {
      const Quantisation &how = step.quantisation;
      made.emplace_back(builder.scaled_input(boundaryName(sketch, i), how.format,
                                             shapeOf(step.axes), how.block, how.scale, how.layout));
    } else if (step.op == Op::Quantize) {
      made.emplace_back(quantized(step));
    } else {
      Value value = isArgument(step.op) ? argument(step, boundaryName(sketch, i)) : computed(step);
      if (!step.name.empty())
        value.named(step.name);
      made.emplace_back(value);
    }
  }

  Value argument(const Step &step, const std::string &name) {
    switch (step.op) {
    case Op::Scalar:
      return builder.scalar(name, static_cast<float>(step.number));
    case Op::InOut:
      return builder.inout(name, step.dtype, shapeOf(step.axes));
    case Op::ScaleInput:
      return builder.input(name, step.dtype, shapeOf(step.axes), step.quantisation.layout);
    default:
      return builder.input(name, step.dtype, shapeOf(step.axes));
    }
  }

  Value computed(const Step &step) {
    switch (step.op) {
    case Op::Extent:
      return builder.extent(dims[step.integer]);
    case Op::Position:
      return position(operand(step, 0), static_cast<int>(step.integer));
    case Op::Unary:
      return unaryNamed(step.function)(operand(step, 0));
    case Op::Binary:
      return binaryNamed(step.function)(operand(step, 0), operand(step, 1));
    case Op::Clamp:
      return clamp(operand(step, 0), operand(step, 1), operand(step, 2));
    case Op::Fma:
      return fma(operand(step, 0), operand(step, 1), operand(step, 2));
    case Op::Select:
      return select(comparisonNamed(step.function)(operand(step, 0), operand(step, 1)),
                    operand(step, 2), operand(step, 3));
    case Op::Cast:
      return cast(operand(step, 0), step.dtype);
    case Op::RoundTo:
      return round_to(operand(step, 0), step.dtype);
    case Op::Broadcast:
      return broadcast(operand(step, 0), shapeOf(step.axes));
    case Op::Reduce:
      return reductionNamed(step.function)(operand(step, 0), step.block);
    case Op::Half:
      return step.integer == 0 ? first_half(operand(step, 0)) : second_half(operand(step, 0));
    case Op::Transpose:
      return transpose(operand(step, 0));
    case Op::Gather:
      return gather(operand(step, 0), operand(step, 1));
    case Op::Column:
      return column(operand(step, 0), step.integer);
    case Op::Repeat:
      return repeat(operand(step, 0), dimOf(step.axes.front()), step.integer);
    case Op::Rotate:
      return rotate_halves(operand(step, 0), step.integer);
    default:
      return dequantize(scaled(step, 0));
    }
  }

  Scaled quantized(const Step &step) {
    const Quantisation &how = step.quantisation;
    QuantizeOptions options{.block = how.block,
                            .scale = how.scale,
                            .layout = how.layout,
                            .mode = how.mode,
                            .numerics = {},
                            .scales = {},
                            .global = {},
                            .seed = {},
                            .offset = {}};
    if (!how.parameter.first.empty())
      options.numerics.insert(how.parameter);
    if (how.parameter.second == "stochastic") {
      if (!seed) {
        seed = builder.integer("seed", 7);
        offset = builder.integer("offset", 1);
      }
      options.seed = *seed;
      options.offset = *offset;
    }
    if (how.givenScales)
      options.scales = value(step, 1);
    if (how.scale == DType::e4m3)
      options.global = value(step, step.operands.size() - 1);
    return quantize(operand(step, 0), how.format, options);
  }

  void write(const Step &step, const std::string &name) {
    switch (step.op) {
    case Op::Output:
      return builder.output(name, value(step, 0), step.dtype);
    case Op::ScaledOutput:
      return builder.output(name, scaled(step, 0));
    case Op::Store:
      return builder.store(value(step, 0), operand(step, 1));
    case Op::Scatter:
      return builder.scatter(name, value(step, 0), value(step, 1), dims[Sources], step.dtype);
    default:
      return builder.scatter(name, scaled(step, 0), value(step, 1), dims[Sources]);
    }
  }
};
} // namespace

std::string sketch::boundaryName(const Sketch &sketch, size_t step) {
  const Step &given = sketch.steps[step];
  const std::string number = std::to_string(step);
  if (isResult(given.op))
    return "y" + number;
  return given.op == Op::ScaleInput ? "x" + number + "_scale" : "x" + number;
}

Program sketch::record(const Sketch &sketch) { return Recorder(sketch).program(); }
