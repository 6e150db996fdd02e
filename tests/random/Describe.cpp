//===- Describe.cpp - A sketch as a person reads it -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Sketch.h"

#include <sstream>

using namespace eider;
using namespace eider::sketch;

static std::string textOf(const Axis &axis) {
  if (axis.dim < 0)
    return std::to_string(axis.factor);
  std::string text = dimNames[axis.dim];
  if (axis.factor != 1)
    text = std::to_string(axis.factor) + " * " + text;
  return axis.divisor == 1 ? text : "ceildiv(" + text + ", " + std::to_string(axis.divisor) + ")";
}

template <class Range, class Text>
static std::string joined(const Range &range, const char *separator, Text text) {
  std::string result;
  for (const auto &one : range)
    result += (result.empty() ? "" : separator) + text(one);
  return result;
}

static std::string textOf(const Axes &axes) {
  return "{" + joined(axes, ", ", [](const Axis &axis) { return textOf(axis); }) + "}";
}

static std::string textOf(const Block &block) {
  return joined(block, "x", [](int64_t extent) {
    return extent == whole ? std::string("*") : std::to_string(extent);
  });
}

static std::string textOf(ScaleLayout layout) {
  static constexpr const char *names[] = {"row_major", "mn_major_aligned", "packed_ue8m0",
                                          "swizzled_128x4", "te_gemm_ready"};
  return names[static_cast<int>(layout)];
}

static std::string textOf(const Quantisation &how) {
  std::string text = std::string(nameOf(how.format)) + ", block " + textOf(how.block) + ", scale " +
                     nameOf(how.scale);
  if (how.layout != ScaleLayout::row_major)
    text += ", " + textOf(how.layout);
  if (how.mode != "default")
    text += ", mode " + how.mode;
  if (!how.parameter.first.empty())
    text += ", " + how.parameter.first + " = " + how.parameter.second;
  return how.givenScales ? text + ", given scales" : text;
}

namespace {
struct OpText {
  Op op;
  const char *name;
};
constexpr OpText opTexts[] = {
    {Op::Scalar, "scalar"},
    {Op::Input, "input"},
    {Op::ScaledInput, "scaled_input"},
    {Op::ScaleInput, "input of scales"},
    {Op::InOut, "inout"},
    {Op::Choice, "input of indices"},
    {Op::Extent, "extent"},
    {Op::Position, "position"},
    {Op::Clamp, "clamp"},
    {Op::Fma, "fma"},
    {Op::Cast, "cast"},
    {Op::RoundTo, "round_to"},
    {Op::Broadcast, "broadcast"},
    {Op::Half, "half"},
    {Op::Transpose, "transpose"},
    {Op::Gather, "gather"},
    {Op::Column, "column"},
    {Op::Repeat, "repeat"},
    {Op::Rotate, "rotate_halves"},
    {Op::Quantize, "quantize"},
    {Op::Dequantize, "dequantize"},
    {Op::Output, "output"},
    {Op::ScaledOutput, "output"},
    {Op::Store, "store"},
    {Op::Scatter, "scatter"},
    {Op::ScaledScatter, "scatter"},
};
} // namespace

static std::string functionOf(const Step &step) {
  if (!step.function.empty())
    return (step.op == Op::Select ? "select " : "") + step.function;
  for (const OpText &text : opTexts)
    if (text.op == step.op)
      return text.name;
  return "";
}

/// What the step says beside its operands.
static std::string detailsOf(const Step &step) {
  switch (step.op) {
  case Op::Input:
  case Op::ScaleInput:
  case Op::InOut:
  case Op::Choice:
    return std::string(nameOf(step.dtype)) + " " + textOf(step.axes) +
           (step.quantisation.layout == ScaleLayout::row_major
                ? ""
                : " " + textOf(step.quantisation.layout));
  case Op::ScaledInput:
    return textOf(step.quantisation) + " " + textOf(step.axes);
  case Op::Extent:
    return dimNames[step.integer];
  case Op::Cast:
  case Op::RoundTo:
  case Op::Output:
  case Op::Scatter:
    return nameOf(step.dtype);
  case Op::Broadcast:
    return textOf(step.axes);
  case Op::Reduce:
    return textOf(step.block);
  case Op::Quantize:
    return textOf(step.quantisation);
  case Op::Repeat:
    return textOf(step.axes) + " each " + std::to_string(step.integer);
  case Op::Position:
  case Op::Half:
  case Op::Column:
  case Op::Rotate:
    return std::to_string(step.integer);
  default:
    return "";
  }
}

static std::string numberText(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

static std::string lineOf(const Sketch &sketch, size_t i) {
  const Step &step = sketch.steps[i];
  auto nameOfStep = [&](size_t operand) {
    const Step &from = sketch.steps[operand];
    return from.op == Op::Number ? numberText(from.number) : "v" + std::to_string(operand);
  };
  std::string inside = joined(step.operands, ", ", nameOfStep);
  const std::string details = step.op == Op::Scalar ? numberText(step.number) : detailsOf(step);
  inside += (inside.empty() || details.empty() ? "" : ", ") + details;
  const std::string value = isResult(step.op) ? boundaryName(sketch, i) : "v" + std::to_string(i);
  const std::string named = step.name.empty() ? "" : "  // named " + step.name;
  return "  " + value + " = " + functionOf(step) + "(" + inside + ")" + named + "\n";
}

std::string sketch::describe(const Sketch &sketch) {
  static constexpr const char *given[] = {"at launch", "declared", "constant"};
  std::string text;
  for (int dim = 0; dim < DimCount; ++dim)
    text += std::string(dim ? ", " : "  ") + dimNames[dim] + " = " +
            std::to_string(sketch.dims[dim].extent) + " (" +
            given[static_cast<int>(sketch.dims[dim].given)] + ")";
  text += "\n  values " + sketch.values + ", codec " + sketch.codec + ", " +
          (sketch.forAnyRows ? "variants for any rows" : "every variant") + ", rows " +
          std::to_string(sketch.layout.padding) + " elements apart, first at " +
          std::to_string(sketch.layout.shift) + ", schedule " + std::to_string(sketch.schedule) +
          "\n";
  for (size_t i = 0; i < sketch.steps.size(); ++i)
    if (sketch.steps[i].op != Op::Number)
      text += lineOf(sketch, i);
  return text;
}
