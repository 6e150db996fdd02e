//===- Parts.cpp - What a random sketch computes and gives ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Author.h"
#include "tests/random/Choices.h"
#include "tests/random/Functions.h"
#include "tests/random/Generate.h"

#include <algorithm>

using namespace eider;
using namespace eider::sketch;
using Kind = Type::Kind;

void Author::writeStep() {
  using Part = void (Author::*)();
  // The one row of a vector is its whole, of which no sum is taken.
  const bool isRows = theme != Theme::Turned && theme != Theme::Vector;
  const bool isWithoutBlocks = theme == Theme::Rows || theme == Theme::Chosen;
  const std::vector<Weighted<Part>> parts = {
      {6, &Author::writeUnary},
      {8, &Author::writeBinary},
      {2, &Author::writeSelect},
      {2, &Author::writeMask},
      {4, &Author::writeReduction},
      {isRows ? 2u : 0u, &Author::writeNorm},
      {isRows ? 1u : 0u, &Author::writeSoftmax},
      {isWithoutBlocks ? 2u : 0u, &Author::writeNeighbours},
      {theme == Theme::Turned || theme == Theme::Wild ? 5u : 0u, &Author::writeTranspose},
      {1, &Author::writeRoundTrip}};
  (this->*among(parts))();
}

//===-- Elementwise -------------------------------------------------------===//

void Author::writeUnary() {
  const auto x = pick([&](size_t step) { return isTensor(step) && isHeld(types[step].axes); });
  if (!x)
    return;
  const Step spread{
      .op = Op::Broadcast, .operands = {*x}, .axes = isTurned(*x) ? turned() : matrix()};
  if (oneIn(6))
    add({.op = Op::RoundTo, .operands = {*x}, .dtype = among<DType>({bf16, f16})});
  else if (oneIn(8) && typeOf(sketch, spread, types)) // what has twice the columns does not fit
    add(spread);
  else if (oneIn(8))
    add({.op = Op::Cast, .operands = {*x}, .dtype = among<DType>({bf16, f16, f32})});
  else
    unary(among(unaryNames()), *x);
}

void Author::writeBinary() {
  const auto x = pick([&](size_t step) { return isTensor(step) && isHeld(types[step].axes); });
  if (!x)
    return;
  const size_t other = partner(*x);
  if (oneIn(8)) {
    const size_t low = number(-1), high = number(2);
    add({.op = Op::Clamp, .operands = {*x, low, high}});
  } else if (oneIn(8)) {
    const Step fma{.op = Op::Fma, .operands = {*x, other, partner(*x)}};
    if (typeOf(sketch, fma, types)) // partners of a row's value need not fit each other
      add(fma);
  } else if (oneIn(2)) {
    binary(among(binaryNames()), *x, other);
  } else {
    binary(among(binaryNames()), other, *x);
  }
}

void Author::writeSelect() {
  const auto x = elements();
  if (!x)
    return;
  const size_t a = partner(*x), b = partner(*x);
  add({.op = Op::Select, .operands = {*x, a, *x, b}, .function = among(comparisonNames())});
}

/// Elements behind a mask of positions and extents.
void Author::writeMask() {
  const auto x = elements();
  if (!x)
    return;
  const int64_t last = static_cast<int64_t>(matrix().size()) - 1;
  const size_t column = add({.op = Op::Position, .operands = {*x}, .integer = last});
  size_t bound = number(static_cast<double>(below(70)));
  if (last == 1 && oneIn(2)) {
    const size_t row = add({.op = Op::Position, .operands = {*x}, .integer = 0});
    bound = oneIn(2) ? row : binary("+", row, bound);
  } else if (oneIn(3) && sketch.dims[Hidden].given != Given::Constant) {
    bound = binary("-", add({.op = Op::Extent, .integer = Hidden}), bound);
  }
  const size_t other = someNumber();
  add({.op = Op::Select,
       .operands = {column, bound, *x, other},
       .function = among(comparisonNames())});
}

//===-- Along rows and blocks ---------------------------------------------===//

void Author::writeReduction() {
  const auto x = pick([&](size_t step) {
    return isElements(step) || (isTurned(step) && theme == Theme::Turned) ||
           (theme == Theme::Wild && isTensor(step) && types[step].axes.size() == 2);
  });
  if (!x)
    return;
  const Block over = oneIn(2) && !isTurned(*x) ? wholeRow() : blockFor(*x);
  const bool isWhole = std::ranges::all_of(over, [](int64_t extent) { return extent == whole; });
  std::string function = among(reductionNames());
  // No family keeps the order of such sums; and means are over whole blocks.
  const bool isWild = theme == Theme::Wild;
  const bool divides = over.back() == whole || sketch.dims[Hidden].extent % over.back() == 0;
  if (!isWild && ((isWhole && (function == "sum" || function == "mean")) ||
                  (function == "mean" && (!divides || over.front() > 1))))
    function = "amax";
  reduced(function, *x, over);
}

void Author::writeNorm() {
  auto x = elements();
  if (!x)
    return;
  if (oneIn(3))
    x = binary("-", *x, reduced("mean", *x, wholeRow()));
  const size_t square = binary("*", *x, *x);
  const size_t mean = reduced(oneIn(3) ? "sum" : "mean", square, wholeRow());
  const size_t sum = binary("+", mean, number(1e-6));
  const size_t normed = binary("*", *x, unary("rsqrt", sum));
  binary("*", normed, partner(normed));
}

void Author::writeSoftmax() {
  const auto x = elements();
  if (!x)
    return;
  const size_t shifted = binary("-", *x, reduced("max", *x, wholeRow()));
  const size_t e = unary("exp", shifted);
  const size_t sum = reduced("sum", e, wholeRow());
  if (oneIn(2))
    binary("/", e, sum);
  else
    binary("*", e, unary("rcp", sum));
}

/// Neighbours that change places, and short rows that repeat.
void Author::writeNeighbours() {
  const auto x = elements();
  const int64_t hidden = sketch.dims[Hidden].extent;
  std::vector<int64_t> overs;
  for (int64_t over = 2; over <= 256 && hidden > 0; over *= 2)
    if (hidden % over == 0)
      overs.push_back(over);
  if (!x || overs.empty() || theme == Theme::Vector)
    return;
  const int64_t over = among(overs);
  const size_t rotated = add({.op = Op::Rotate, .operands = {*x}, .integer = over});
  if (oneIn(2)) {
    binary("+", *x, rotated);
    return;
  }
  const int64_t each = oneIn(3) ? 2 : 1;
  const size_t angles =
      input(oneIn(2) ? Axes{{-1, over / each}} : Axes{{Tokens}, {-1, over / each}});
  if (types[angles].axes.back().isOne())
    return;
  const size_t repeated =
      add({.op = Op::Repeat, .operands = {angles}, .axes = {{Hidden}}, .integer = each});
  binary("*", rotated, repeated);
}

void Author::writeTranspose() {
  const auto x = elements();
  if (x && matrix().size() == 2)
    add({.op = Op::Transpose, .operands = {*x}});
}

/// To codes and back.
void Author::writeRoundTrip() {
  if (const auto x = elements())
    add({.op = Op::Dequantize, .operands = {quantized(*x)}});
}

//===-- Results -----------------------------------------------------------===//

/// Whether a kernel can give the value as it is.
bool Author::isOutput(size_t value) const {
  if (!isTensor(value) || !isHeld(types[value].axes))
    return false;
  const Axes &axes = types[value].axes;
  const bool isOfColumns = matrix().size() == 2 && (axes.size() == 1 || axes.front().isOne()) &&
                           !axes.back().isOne(); // which every row would write
  return theme == Theme::Wild || !isOfColumns;
}

void Author::writeResult(size_t value) {
  const bool isMatrix = isElements(value) || isTurned(value);
  const auto dtype = among<DType>({bf16, f16, f32});
  const auto chosen = pick([&](size_t step) {
    return sketch.steps[step].op == Op::Choice && types[step].axes.size() == 1;
  });
  const bool scatters = theme == Theme::Chosen && chosen && isElements(value) && oneIn(3);
  if (!isMatrix || oneIn(3)) {
    if (scatters)
      add({.op = Op::Scatter, .operands = {value, *chosen}, .dtype = dtype});
    else
      add({.op = Op::Output, .operands = {value}, .dtype = dtype});
    return;
  }
  const size_t scaled = quantized(value);
  const Step scatter{.op = Op::ScaledScatter, .operands = {scaled, chosen.value_or(0)}};
  if (scatters && typeOf(sketch, scatter, types))
    add(scatter);
  else
    add({.op = Op::ScaledOutput, .operands = {scaled}});
}

void Author::writeResults() {
  std::vector<bool> isRead(types.size());
  for (const Step &step : sketch.steps)
    for (size_t operand : step.operands)
      isRead[operand] = true;
  const size_t count = types.size();
  size_t results = 0;
  for (size_t i = count; i-- > 0 && results < 4;)
    if (isOutput(i) && !isArgument(sketch.steps[i].op) && (!isRead[i] || oneIn(8))) {
      writeResult(i);
      ++results;
    }
  for (size_t i = 0; i < count; ++i)
    if (sketch.steps[i].op == Op::InOut) {
      add({.op = Op::Store, .operands = {i, *elements()}});
      ++results;
    }
  if (results == 0)
    writeResult(*elements());
}

Sketch sketch::generate(uint64_t seed) {
  const auto sketches = rc::gen::noShrink(rc::gen::exec([=] { return Author(seed).write(); }));
  return sketches(rc::Random(seed), rc::kNominalSize).value();
}
