//===- Sketch.h - A program as a list of steps ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// What the generator makes and the shrinker takes apart: a program of the DSL, the extents and
// values that it runs on, and how it is compiled. Plain data, so that an equal sketch is an equal
// test on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_SKETCH_H
#define EIDER_TESTS_RANDOM_SKETCH_H

#include "eider/compile.h"
#include "tests/matrix/Layout.h"

#include <optional>
#include <string>
#include <vector>

namespace eider::sketch {

/// How the extent of a dim is said: by the launch (of `hidden` by the compile options, since it
/// runs along rows), where the dim is declared, or as a constant, without a dim.
enum class Given { AtLaunch, Declared, Constant };

struct DimChoice {
  int64_t extent = 1;
  Given given = Given::AtLaunch;
  bool operator==(const DimChoice &) const = default;
};

/// The dims of a sketch: rows and columns of its matrix, rows of what an index chooses from.
enum DimName { Tokens, Hidden, Sources, DimCount };
inline constexpr const char *dimNames[DimCount] = {"tokens", "hidden", "sources"};

/// ceil(factor · dim / divisor), or the constant `factor`.
struct Axis {
  int dim = -1;
  int64_t factor = 1, divisor = 1;
  bool isOne() const { return dim < 0 && factor == divisor; }
  bool operator==(const Axis &) const = default;
};
using Axes = std::vector<Axis>;

enum class Op {
  Number,      ///< `number`
  Scalar,      ///< an f32 given at launch, `number`
  Input,       ///< `dtype`, `axes`
  ScaledInput, ///< `quantisation`, `axes`
  ScaleInput,  ///< one value a block of `axes`: scales of `quantisation`, in their layout
  InOut,       ///< `dtype`, `axes`
  Choice,      ///< an index input: `dtype` (i32, i64), `axes`
  Extent,      ///< of the dim `integer`
  Position,    ///< along the axis `integer`
  Unary,       ///< `function`
  Binary,      ///< `function`
  Clamp,
  Fma,
  Select, ///< `function`: a comparison of the first two operands
  Cast,   ///< `dtype`
  RoundTo,
  Broadcast, ///< over `axes`
  Reduce,    ///< `function` over `block`
  Half,      ///< `integer`: 0 the first
  Transpose,
  Gather,   ///< rows of operand 0, which operand 1 chooses
  Column,   ///< `integer`
  Repeat,   ///< `integer` each, over the columns `axes`
  Rotate,   ///< halves of `integer` neighbours
  Quantize, ///< `quantisation`; then given scales, then the second level
  Dequantize,
  Output, ///< as `dtype`
  ScaledOutput,
  Store,        ///< into the in-out that is operand 0
  Scatter,      ///< rows of operand 0 where operand 1 says, as `dtype`
  ScaledScatter ///< codes and scales of operand 0 where operand 1 says
};

/// What a quantisation or a scaled input says beside its shape.
struct Quantisation {
  DType format = DType::e4m3, scale = DType::f32;
  Block block = {};
  ScaleLayout layout = ScaleLayout::row_major;
  std::string mode = "default";
  std::pair<std::string, std::string> parameter = {}; ///< Over the mode; of an empty name: none.
  bool givenScales = false;
  bool operator==(const Quantisation &) const = default;
};

struct Step {
  Op op = Op::Number;
  std::vector<size_t> operands = {}; ///< Earlier steps.
  std::string function = {};
  DType dtype = DType::f32;
  Axes axes = {};
  Block block = {};
  Quantisation quantisation = {};
  double number = 0;
  int64_t integer = 0;
  std::string name = {}; ///< Of a value, for the text's variable; empty: none.
  bool operator==(const Step &) const = default;
};

struct Sketch {
  DimChoice dims[DimCount] = {};
  std::vector<Step> steps = {};
  std::string values = "normal"; ///< Of matrix::ValueSource.
  std::string codec = "auto";
  matrix::Layout layout = {};
  bool forAnyRows = false;
  unsigned schedule = 0; ///< 0: the heuristic's; else which of the candidates, counted round.
  uint64_t seed = 0;     ///< Of the values.
  bool operator==(const Sketch &other) const;
};

//===-- Types -------------------------------------------------------------===//

/// What a step gives.
struct Type {
  enum class Kind { Number, Value, Index, Scaled, Result };
  Kind kind = Kind::Value;
  DType dtype = DType::f32;
  Axes axes = {}; ///< None for a scalar; of codes for Scaled.
};

/// The smallest axes over which both repeat, as in the DSL; none where there are none.
std::optional<Axes> common(const Axes &left, const Axes &right);

/// The axes of one value a block.
Axes blocksOf(const Axes &axes, const Block &block);

/// What `step` gives after steps of those types; none where the DSL has no such step.
std::optional<Type> typeOf(const Sketch &sketch, const Step &step, const std::vector<Type> &before);

/// The type of every step; none for an ill-typed sketch: a step that the DSL has not, an in-out
/// that is not stored just once, no result.
std::optional<std::vector<Type>> typesOf(const Sketch &sketch);

/// The sketch without the steps that no result needs.
Sketch pruned(const Sketch &sketch);

bool isResult(Op op);
bool isArgument(Op op);

//===-- To a program ------------------------------------------------------===//

/// Records the sketch with the public DSL. Throws Error, as the DSL does.
Program record(const Sketch &sketch);

/// The name at the kernel's boundary of a step that is an argument or a result.
std::string boundaryName(const Sketch &sketch, size_t step);

/// The sketch as a person reads it, a line a step.
std::string describe(const Sketch &sketch);

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_SKETCH_H
