//===- Elementwise.cpp - One value in, one value out ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Each operation is computed in double and rounded to the element type. Ranges are computed from
// the same operation at their ends.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Elementwise.h"

#include "compiler/interpreter/FunctionBounds.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <array>

using namespace eider;
using namespace eider::interpreter;
using mlir::arith::CmpFPredicate;

namespace {
constexpr double Infinity = std::numeric_limits<double>::infinity();

/// One rounding; every NaN of arithmetic is marked as such.
double finish(DType type, double value) {
  return std::isnan(value) ? arithmeticNaN() : roundTo(type, value);
}

/// The hull of a function over the corners of ranges, unless an operand may be anything. A NaN at
/// all corners is certain.
template <size_t N, class Function>
Range overCorners(DType type, const std::array<Range, N> &operands, Function function) {
  for (const Range &operand : operands)
    if (operand.isAnything())
      return Range::anything();
  Hull hull;
  for (unsigned corner = 0; corner < 1u << N; ++corner) {
    std::array<double, N> ends;
    for (size_t i = 0; i < N; ++i)
      ends[i] = corner >> i & 1 ? operands[i].upper : operands[i].lower;
    hull.add(finish(type, std::apply(function, ends)));
  }
  return hull.get();
}

/// A tensor like `a` for an elementwise result, with ranges where an operand has some.
template <class... Operands>
Tensor resultLike(DType type, const Tensor &a, const Operands &...rest) {
  Tensor result(type, a.shape);
  if (!(a.isExact() && (rest.isExact() && ...)))
    result.ranges.resize(result.values.size(), Range::point(0));
  result.isLoose = a.isLoose || (rest.isLoose || ...);
  return result;
}

/// Whether a sum is smaller than a term that is not exact.
bool cancels(const Tensor &sum, const Tensor &term) {
  if (term.isExact())
    return false;
  for (int64_t i = 0; i < sum.size(); ++i)
    if (std::abs(sum.values[i]) < std::abs(term.values[i]) && !term.ranges[i].isPoint())
      return true;
  return false;
}

/// Division where the divisor's range holds zero and is not zero itself has two branches: anything.
bool hasPole(Binary operation, Range divisor) {
  return operation == operations::divide && divisor.holdsZero() && !divisor.isPoint();
}
} // namespace

double operations::add(double a, double b) { return a + b; }
double operations::subtract(double a, double b) { return a - b; }
double operations::multiply(double a, double b) { return a * b; }
double operations::divide(double a, double b) { return a / b; }
double operations::negate(double a) { return -a; }
double operations::squareRoot(double a) { return std::sqrt(a); }

double operations::maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return arithmeticNaN();
  return isBelow(a, b) ? b : a;
}

double operations::minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return arithmeticNaN();
  return isBelow(b, a) ? b : a;
}

double operations::maximumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
}

double operations::minimumNumber(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
}

double operations::fusedMultiplyAdd(double a, double b, double c) {
  // In double a fused multiply-add would round twice: the product alone has 48 bits. All operands
  // are f32 values.
  return std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
}

Tensor interpreter::apply(Unary operation, const Tensor &a) {
  Tensor result = resultLike(a.dtype, a);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = finish(a.dtype, operation(a.values[i]));
  for (size_t i = 0; i < result.ranges.size(); ++i)
    result.ranges[i] = overCorners<1>(a.dtype, {a.range(i)}, operation);
  return result;
}

Tensor interpreter::apply(Binary operation, const Tensor &a, const Tensor &b) {
  Tensor result = resultLike(a.dtype, a, b);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = finish(a.dtype, operation(a.values[i], b.values[i]));
  for (size_t i = 0; i < result.ranges.size(); ++i)
    result.ranges[i] = hasPole(operation, b.range(i))
                           ? Range::anything()
                           : overCorners<2>(a.dtype, {a.range(i), b.range(i)}, operation);
  if (operation == operations::add || operation == operations::subtract)
    result.isLoose = result.isLoose || cancels(result, a) || cancels(result, b);
  return result;
}

Range interpreter::applyToRanges(Binary operation, Range a, Range b) {
  return hasPole(operation, b) ? Range::anything() : overCorners<2>(DType::f32, {a, b}, operation);
}

Tensor interpreter::apply(Ternary operation, const Tensor &a, const Tensor &b, const Tensor &c) {
  Tensor result = resultLike(a.dtype, a, b, c);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = finish(a.dtype, operation(a.values[i], b.values[i], c.values[i]));
  for (size_t i = 0; i < result.ranges.size(); ++i)
    result.ranges[i] = overCorners<3>(a.dtype, {a.range(i), b.range(i), c.range(i)}, operation);
  // The one operation of three operands is the fused multiply-add.
  result.isLoose =
      result.isLoose || cancels(result, c) || cancels(result, apply(operations::multiply, a, b));
  return result;
}

Tensor interpreter::square(const Tensor &a) {
  Tensor magnitude = absolute(a);
  return apply(operations::multiply, magnitude, magnitude);
}

Tensor interpreter::absolute(const Tensor &a) {
  Tensor result = resultLike(a.dtype, a);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = finish(a.dtype, std::abs(a.values[i]));
  for (size_t i = 0; i < result.ranges.size(); ++i) {
    Range range = a.range(i);
    if (range.isAnything() || range.isNaN())
      result.ranges[i] = range;
    else
      result.ranges[i] = {
          range.holdsZero() ? 0 : std::min(std::abs(range.lower), std::abs(range.upper)),
          range.largestMagnitude()};
  }
  return result;
}

//===-- Approximate functions ---------------------------------------------===//

/// A wider bound leaves too little of the 16 ulp of a scale to what comes after the function.
static constexpr double WideUlps = 12;

/// The range of an implementation at one operand.
static Range aroundValue(const Approximate &function, double operand) {
  double value = function.function(operand);
  if (std::isnan(value))
    return Range::point(arithmeticNaN());
  if (!std::isfinite(operand) || !std::isfinite(value))
    return Range::point(value);
  double slack = function.ulps(operand) * ulpOfF32(value);
  Hull hull;
  hull.add(finish(DType::f32, std::max(value - slack, function.codomain.lower)));
  hull.add(finish(DType::f32, std::min(value + slack, function.codomain.upper)));
  if (operand < function.vanishesBelow)
    hull.add(std::copysign(0.0, value));
  return hull.get();
}

Tensor interpreter::apply(const Approximate &function, const Tensor &a) {
  Tensor result(a.dtype, a.shape);
  result.isLoose = a.isLoose;
  result.ranges.resize(a.values.size(), Range::point(0));
  for (int64_t i = 0; i < a.size(); ++i) {
    result.values[i] = finish(a.dtype, function.function(a.values[i]));
    Range operand = a.range(i);
    if (operand.isAnything()) {
      result.ranges[i] = Range::anything();
      continue;
    }
    const bool mayVanish = operand.lower < function.vanishesBelow && result.values[i] != 0;
    result.isLoose = result.isLoose || mayVanish || function.ulps(a.values[i]) > WideUlps;
    Hull hull;
    hull.add(aroundValue(function, operand.lower));
    hull.add(aroundValue(function, operand.upper));
    if (operand.lower < function.turn && function.turn < operand.upper)
      hull.add(aroundValue(function, function.turn));
    result.ranges[i] = hull.get();
  }
  return result;
}

static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// -0 at -Inf.
static double gelu(double x) {
  return std::max(x, -std::numeric_limits<double>::max()) * std::erfc(-x * std::sqrt(0.5)) / 2;
}

std::optional<Approximate> interpreter::approximateFunction(mlir::Operation *op) {
  using Result = std::optional<Approximate>;
  using Bounds = FunctionBounds;
  const Range positive = {0, Infinity}, all = {-Infinity, Infinity};
  return llvm::TypeSwitch<mlir::Operation *, Result>(op)
      .Case<mlir::math::ExpOp>([&](auto) {
        return Approximate{std::exp, Bounds::exp, positive};
      })
      .Case<mlir::math::Exp2Op>([&](auto) {
        return Approximate{std::exp2, Bounds::exp2, positive, VanishingBelow::exp2};
      })
      .Case<mlir::math::LogOp>([&](auto) {
        return Approximate{std::log, Bounds::log, all};
      })
      .Case<mlir::math::Log2Op>([&](auto) {
        return Approximate{std::log2, Bounds::log2, all};
      })
      .Case<mlir::math::TanhOp>([&](auto) {
        return Approximate{std::tanh, Bounds::tanh, all};
      })
      .Case<mlir::math::ErfOp>([&](auto) {
        return Approximate{std::erf, Bounds::erf, all};
      })
      .Case<mlir::math::RsqrtOp>([&](auto) {
        return Approximate{reciprocalRoot, Bounds::rsqrt, positive};
      })
      .Case<ir::SigmoidOp>([&](auto) {
        return Approximate{sigmoid, Bounds::sigmoid, positive, VanishingBelow::sigmoid};
      })
      .Case<ir::GeluOp>([&](auto) {
        const double least = -0.7517915246935645; // where gelu is
        return Approximate{gelu, Bounds::gelu, all, VanishingBelow::gelu, least};
      })
      .Default([](auto) { return std::nullopt; });
}

//===-- Comparisons and conversions ---------------------------------------===//

static bool holds(CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case CmpFPredicate::AlwaysFalse:
    return false;
  case CmpFPredicate::OEQ:
    return !unordered && a == b;
  case CmpFPredicate::OGT:
    return !unordered && a > b;
  case CmpFPredicate::OGE:
    return !unordered && a >= b;
  case CmpFPredicate::OLT:
    return !unordered && a < b;
  case CmpFPredicate::OLE:
    return !unordered && a <= b;
  case CmpFPredicate::ONE:
    return !unordered && a != b;
  case CmpFPredicate::ORD:
    return !unordered;
  case CmpFPredicate::UEQ:
    return unordered || a == b;
  case CmpFPredicate::UGT:
    return unordered || a > b;
  case CmpFPredicate::UGE:
    return unordered || a >= b;
  case CmpFPredicate::ULT:
    return unordered || a < b;
  case CmpFPredicate::ULE:
    return unordered || a <= b;
  case CmpFPredicate::UNE:
    return unordered || a != b;
  case CmpFPredicate::UNO:
    return unordered;
  case CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

/// 0 or 1 where the comparison is certain, else [0, 1].
static Range compareRanges(CmpFPredicate predicate, Range a, Range b) {
  const Range either = {0, 1};
  if (a.isAnything() || b.isAnything())
    return either;
  bool first = holds(predicate, a.lower, b.upper), second = holds(predicate, a.upper, b.lower);
  bool apart = a.upper < b.lower || b.upper < a.lower;
  bool certain = (a.isPoint() && b.isPoint()) || a.isNaN() || b.isNaN() || apart;
  // Orders that hold (or fail) at both extreme corners do so everywhere; equality does when the
  // ranges are apart.
  bool isOrder = predicate != CmpFPredicate::OEQ && predicate != CmpFPredicate::ONE &&
                 predicate != CmpFPredicate::UEQ && predicate != CmpFPredicate::UNE;
  if (!certain && !(isOrder && first == second))
    return either;
  return Range::point(first ? 1 : 0);
}

Tensor interpreter::compareValues(CmpFPredicate predicate, const Tensor &a, const Tensor &b) {
  Tensor result = resultLike(DType::u8, a, b);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = holds(predicate, a.values[i], b.values[i]);
  for (size_t i = 0; i < result.ranges.size(); ++i)
    result.ranges[i] = compareRanges(predicate, a.range(i), b.range(i));
  return result;
}

Tensor interpreter::select(const Tensor &condition, const Tensor &a, const Tensor &b) {
  Tensor result = resultLike(a.dtype, a, b, condition);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = condition.values[i] != 0 ? a.values[i] : b.values[i];
  for (size_t i = 0; i < result.ranges.size(); ++i) {
    Range truth = condition.range(i);
    if (truth.isPoint()) {
      result.ranges[i] = truth.lower != 0 ? a.range(i) : b.range(i);
      continue;
    }
    Hull hull;
    hull.add(a.range(i));
    hull.add(b.range(i));
    result.ranges[i] = hull.get();
  }
  return result;
}

Tensor interpreter::convert(const Tensor &a, DType type) {
  bool widens = sizeOf(type) > sizeOf(a.dtype);
  auto one = [&](double value) { return widens ? value : finish(type, value); };
  Tensor result = resultLike(type, a);
  for (int64_t i = 0; i < a.size(); ++i)
    result.values[i] = one(a.values[i]);
  for (size_t i = 0; i < result.ranges.size(); ++i)
    result.ranges[i] = a.ranges[i].isAnything()
                           ? Range::anything()
                           : Range{one(a.ranges[i].lower), one(a.ranges[i].upper)};
  return result;
}
