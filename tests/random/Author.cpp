//===- Author.cpp - Arguments, shapes and steps of a random sketch --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Author.h"

#include "tests/random/Choices.h"
#include "tests/random/Functions.h"

#include <algorithm>
#include <stdexcept>

using namespace eider;
using namespace eider::sketch;
using Kind = Type::Kind;

Author::Author(uint64_t seed) {
  sketch.seed = seed;
  theme = among<Theme>({{10, Theme::Rows},
                        {4, Theme::Blocks},
                        {4, Theme::Turned},
                        {4, Theme::Chosen},
                        {1, Theme::Vector},
                        {1, Theme::Wild}});
  const bool isSquare = theme == Theme::Turned;
  const auto rows = among<int64_t>(isSquare ? std::vector<int64_t>{32, 64, 128}
                                            : std::vector<int64_t>{2, 4, 8, 16, 32, 64, 128});
  block = {rows, isSquare ? rows : among<int64_t>({16, 32, 64, 128})};
  chooseDims();
  chooseRun();
}

void Author::chooseDims() {
  auto extent = [](bool isEven) {
    const auto chosen = among<int64_t>(
        {1, 2, 3, 7, 16, 31, 32, 33, 64, 100, 127, 128, 129, 130, 192, 256, 257, 320});
    return isEven ? chosen + chosen % 2 : chosen;
  };
  const bool isWide = oneIn(25);
  int64_t hidden = isWide ? among<int64_t>({1000, 2050, 4100}) : extent(oneIn(2));
  int64_t tokens = isWide ? among<int64_t>({1, 2, 3})
                          : among<int64_t>({0, 1, 1, 2, 3, 5, 8, 13, 17, 33, 37, 64, 65, 129, 140});
  if (theme == Theme::Wild && oneIn(4))
    hidden = 0;
  auto givenFor = [](int64_t extent) {
    const auto given =
        among<Given>({{7, Given::AtLaunch}, {2, Given::Declared}, {1, Given::Constant}});
    return given == Given::Constant && extent < 2 ? Given::Declared : given; // one is no axis
  };
  sketch.dims[Tokens] = {tokens, givenFor(tokens)};
  sketch.dims[Hidden] = {hidden, givenFor(hidden)};
  if (sketch.dims[Tokens].given == Given::Constant && sketch.dims[Hidden] == sketch.dims[Tokens])
    sketch.dims[Tokens].given = Given::AtLaunch; // a matrix and its transpose would be one
  // Enough rows that each row has a place of its own; none at all now and then.
  sketch.dims[Sources] = {oneIn(8) ? 0 : tokens + static_cast<int64_t>(below(40)), Given::AtLaunch};
}

void Author::chooseRun() {
  sketch.values = among<std::string>({{6, "normal"}, {4, "specials"}, {1, "tiny"}, {1, "huge"}});
  sketch.codec = oneIn(3) ? "software" : "auto";
  sketch.layout = {among<int64_t>({0, 0, 0, 3, 16}), among<int64_t>({0, 0, 0, 1})};
  sketch.forAnyRows = oneIn(2);
  if (oneIn(4))
    sketch.schedule = 1 + static_cast<unsigned>(below(50));
}

Sketch Author::write() {
  writeInputs();
  for (size_t count = 1 + below(8); count > 0; --count)
    writeStep();
  writeResults();
  if (!typesOf(pruned(sketch))) // what says the dims is not needed: now it is
    add({.op = Op::Output, .operands = {input(matrix())}});
  return pruned(sketch);
}

//===-- Steps -------------------------------------------------------------===//

size_t Author::add(Step step) {
  const std::optional<Type> type = typeOf(sketch, step, types);
  sketch.steps.push_back(std::move(step));
  if (!type)
    throw std::logic_error("the generator wrote an ill-typed step, the last of\n" +
                           describe(sketch));
  types.push_back(*type);
  return sketch.steps.size() - 1;
}

size_t Author::number(double value) { return add({.op = Op::Number, .number = value}); }

/// What a value may be called: words that texts use, too.
static std::string someName() {
  return oneIn(6) ? among<std::string>({"h", "row", "tile", "scale", "mean", "amax", "rows", "x",
                                        "column", "weight", "gate", "amax_of_groups"})
                  : "";
}

size_t Author::unary(const std::string &function, size_t operand) {
  return add({.op = Op::Unary, .operands = {operand}, .function = function, .name = someName()});
}

size_t Author::binary(const std::string &function, size_t left, size_t right) {
  return add(
      {.op = Op::Binary, .operands = {left, right}, .function = function, .name = someName()});
}

size_t Author::reduced(const std::string &function, size_t operand, const Block &block) {
  return add({.op = Op::Reduce,
              .operands = {operand},
              .function = function,
              .block = block,
              .name = someName()});
}

size_t Author::input(const Axes &axes) {
  return add({.op = Op::Input, .dtype = among<DType>({bf16, f16, f32}), .axes = axes});
}

//===-- Shapes ------------------------------------------------------------===//

Axes Author::matrix() const {
  return theme == Theme::Vector ? Axes{{Hidden}} : Axes{{Tokens}, {Hidden}};
}

Axes Author::turned() const { return {{Hidden}, {Tokens}}; }

bool Author::isTensor(size_t step) const {
  return types[step].kind == Kind::Value && !types[step].axes.empty();
}

bool Author::isTurned(size_t step) const {
  return isTensor(step) && types[step].axes == turned() && theme != Theme::Vector;
}

bool Author::isElements(size_t step) const {
  return isTensor(step) && types[step].axes == matrix();
}

bool Author::isHeld(const Axes &axes) const {
  const bool isOfAnother = std::ranges::any_of(axes, [](const Axis &axis) {
    return axis.dim == Sources || axis.factor != 1; // what is chosen from, what halves are taken of
  });
  if (theme == Theme::Wild || isOfAnother || axes.size() < 2)
    return !isOfAnother || theme == Theme::Wild;
  if (axes[0].dim == Hidden || axes[1].dim == Tokens) // of the transpose
    return axes == turned();
  return axes[0].divisor == 1 || axes == blocksOf(matrix(), block);
}

Block Author::wholeRow() const { return theme == Theme::Vector ? Block{whole} : Block{1, whole}; }

int64_t Author::group() const { return among<int64_t>({2, 8, 16, 32, 32, 64, 128, 128, 256}); }

/// A block of a quantisation or a reduction of elements.
Block Author::blockFor(size_t value) const {
  const int64_t along = group();
  switch (theme) {
  case Theme::Vector:
    return oneIn(3) ? Block{whole} : Block{along};
  case Theme::Rows:
  case Theme::Chosen:
    if (oneIn(8) && theme == Theme::Rows)
      return {whole, whole};
    return oneIn(3) ? Block{1, whole} : Block{1, along};
  case Theme::Blocks:
    if (oneIn(2))
      return block;
    return oneIn(2) ? Block{1, whole} : Block{1, std::min(along, block[1])};
  case Theme::Turned:
    if (oneIn(2))
      return block;
    return oneIn(3) && !isTurned(value) ? Block{1, whole} : Block{1, std::min(along, block[1])};
  case Theme::Wild:
    break;
  }
  return {among<int64_t>({1, 1, 3, 16, whole}), among<int64_t>({1, 24, 32, 128, 1024, whole})};
}

//===-- Choices -----------------------------------------------------------===//

std::optional<size_t> Author::pick(const std::function<bool(size_t)> &holds) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < types.size(); ++i)
    if (holds(i))
      found.push_back(i);
  if (found.empty())
    return std::nullopt;
  return found[std::max(below(found.size()), below(found.size()))];
}

std::optional<size_t> Author::elements() const {
  return pick([&](size_t step) { return isElements(step); });
}

size_t Author::someNumber() {
  return number(among<double>({0, -0.0, 1, -1, 0.5, 2, 3.25, 1e-6, 448, 1e30, -7}));
}

size_t Author::partner(size_t step) {
  if (oneIn(4))
    return someNumber();
  const auto found = pick([&](size_t other) {
    if (types[other].kind != Kind::Value)
      return false;
    const auto axes = common(types[step].axes, types[other].axes);
    return axes && isHeld(*axes);
  });
  return found ? *found : step;
}

//===-- Arguments ---------------------------------------------------------===//

void Author::writeInputs() {
  const bool isVector = theme == Theme::Vector;
  if (theme == Theme::Chosen)
    writeChosenRows();
  else if (oneIn(5))
    add({.op = Op::InOut, .dtype = among<DType>({bf16, f16, f32}), .axes = matrix()});
  if (theme != Theme::Chosen || oneIn(2))
    input(matrix());
  if (oneIn(3))
    input(matrix());
  if (oneIn(3))
    input({{Hidden}});
  if (oneIn(4) && !isVector)
    input({{Tokens}, {}});
  if (oneIn(6))
    input(isVector ? Axes{{Hidden, 1, group()}} : Axes{{Tokens}, {Hidden, 1, group()}});
  if (oneIn(10))
    input({{Hidden, 1, group()}});
  if (oneIn(12)) // values of types that scales have
    add({.op = Op::ScaleInput,
         .dtype = among<DType>({DType::e4m3, DType::e8m0, bf16}),
         .axes = oneIn(2) || isVector ? matrix() : Axes{{Tokens}, {}}});
  if (oneIn(4))
    add({.op = Op::Scalar, .number = among<double>({1e-6, 0.5, 3, -2})});
  if (oneIn(5)) {
    const size_t codes = scaledInput(matrix(), isVector ? Block{group()} : blockFor(0));
    add({.op = Op::Dequantize, .operands = {codes}});
  }
  if (oneIn(6) && !isVector && theme != Theme::Turned) {
    const size_t both = input({{Tokens}, {Hidden, 2}});
    for (int64_t half : {0, 1})
      add({.op = Op::Half, .operands = {both}, .integer = half});
  }
}

void Author::writeChosenRows() {
  const auto index = among<DType>({DType::i32, DType::i64});
  size_t chosen = 0;
  if (oneIn(3)) {
    const size_t several = add({.op = Op::Choice, .dtype = index, .axes = {{Tokens}, {-1, 3}}});
    chosen =
        add({.op = Op::Column, .operands = {several}, .integer = static_cast<int64_t>(below(3))});
  } else {
    chosen = add({.op = Op::Choice, .dtype = index, .axes = {{Tokens}}});
  }
  const Axes rows = {{Sources}, {Hidden}};
  size_t table = 0;
  if (oneIn(3)) {
    const size_t codes = scaledInput(rows, {1, oneIn(3) ? whole : group()});
    table = add({.op = Op::Dequantize, .operands = {codes}});
  } else {
    table = input(rows);
  }
  add({.op = Op::Gather, .operands = {table, chosen}});
}

//===-- Quantisation ------------------------------------------------------===//

static std::vector<ScaleLayout> layoutsOf(DType scale, const Block &block) {
  std::vector<ScaleLayout> layouts = {ScaleLayout::row_major, ScaleLayout::row_major};
  if (block.size() != 2)
    return layouts;
  if (scale == DType::f32)
    layouts.push_back(ScaleLayout::mn_major_aligned);
  if (scale == DType::f32 && (block == Block{1, 128} || block == Block{128, 128}))
    layouts.push_back(ScaleLayout::te_gemm_ready);
  if (scale == DType::e8m0)
    layouts.push_back(ScaleLayout::packed_ue8m0);
  if (scale == DType::e8m0 || scale == DType::e4m3)
    layouts.push_back(ScaleLayout::swizzled_128x4);
  return layouts;
}

/// Modes that go with scales of a type, which may be given.
static std::vector<std::string> modesOf(DType scale, bool givenScales) {
  std::vector<std::string> modes = {"default", "default", "default", "deepgemm"};
  auto add = [&](std::initializer_list<const char *> more) {
    modes.insert(modes.end(), more.begin(), more.end());
  };
  if (scale != DType::f16 && scale != DType::e4m3)
    add({"mx", "mx_ocp"});
  if (!givenScales)
    add({"vllm_group", "vllm_token"});
  if (!givenScales && scale == DType::f32)
    add({"tilekernels", "sglang_group", "trtllm_token", "te_current"});
  return modes;
}

static const std::pair<std::string, std::string> &parameterFor(DType scale) {
  static const std::vector<std::pair<std::string, std::string>> any = {{"nan", "ignore"},
                                                                       {"overflow", "format"},
                                                                       {"arithmetic", "reciprocal"},
                                                                       {"rounding", "stochastic"}};
  static const std::vector<std::pair<std::string, std::string>> powers = {
      {"nan", "ignore"},         {"overflow", "format"},    {"arithmetic", "reciprocal"},
      {"power_of_two", "even"},  {"power_of_two", "ceil"},  {"power_of_two", "floor"},
      {"power_of_two", "rceil"}, {"rounding", "stochastic"}};
  return among(scale == DType::f16 || scale == DType::e4m3 ? any : powers);
}

static DType someScale() {
  return among<DType>(
      {{5, DType::f32}, {1, DType::bf16}, {1, DType::f16}, {2, DType::e8m0}, {2, DType::e4m3}});
}

Quantisation Author::quantisationFor(size_t value) const {
  Quantisation how;
  // Rows of codes of half a byte are even.
  const bool packs = !isTurned(value) && sketch.dims[Hidden].extent % 2 == 0;
  how.format = among<DType>({{4, DType::e4m3},
                             {2, DType::e5m2},
                             {1, DType::e4m3fnuz},
                             {1, DType::e5m2fnuz},
                             {packs ? 2u : 0u, DType::e2m1}});
  how.scale = someScale();
  how.block = blockFor(value);
  how.layout = among(layoutsOf(how.scale, how.block));
  how.givenScales = oneIn(5);
  how.mode = among(modesOf(how.scale, how.givenScales));
  if (how.mode == "default" && oneIn(3))
    how.parameter = parameterFor(how.scale);
  return how;
}

size_t Author::quantized(size_t value) {
  Step step{.op = Op::Quantize, .operands = {value}, .quantisation = quantisationFor(value)};
  const Quantisation &how = step.quantisation;
  if (how.givenScales) {
    Step scales{
        .op = Op::ScaleInput, .dtype = how.scale, .axes = blocksOf(types[value].axes, how.block)};
    scales.quantisation.layout = how.layout;
    step.operands.push_back(add(scales));
  }
  if (how.scale == DType::e4m3)
    step.operands.push_back(add({.op = Op::ScaleInput, .dtype = f32, .axes = {{}}}));
  return add(step);
}

size_t Author::scaledInput(const Axes &axes, const Block &along) {
  Quantisation how;
  const bool packs = sketch.dims[Hidden].extent % 2 == 0;
  how.format = among<DType>({DType::e4m3, DType::e5m2, DType::e4m3fnuz, DType::e5m2fnuz,
                             packs ? DType::e2m1 : DType::e4m3});
  how.scale = someScale();
  how.block = along;
  if (axes.front().dim != Sources) // whose scales go with their rows
    how.layout = among(layoutsOf(how.scale, how.block));
  return add({.op = Op::ScaledInput, .axes = axes, .quantisation = how});
}
