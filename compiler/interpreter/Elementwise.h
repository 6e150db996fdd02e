//===- Elementwise.h - One value in, one value out --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_ELEMENTWISE_H
#define EIDER_INTERPRETER_ELEMENTWISE_H

#include "compiler/interpreter/Tensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace eider::interpreter {

/// Operations that are correctly rounded: exact operands give the exact class.
using Unary = double (*)(double);
using Binary = double (*)(double, double);
using Ternary = double (*)(double, double, double);

/// `operation` must be monotone in each operand on either side of zero (of a divisor), as + − × ÷
/// min max negation and sqrt are.
Tensor apply(Unary operation, const Tensor &a);
Tensor apply(Binary operation, const Tensor &a, const Tensor &b);
Tensor apply(Ternary operation, const Tensor &a, const Tensor &b, const Tensor &c);

/// The same on single ranges; results are rounded to f32.
Range applyToRanges(Binary operation, Range a, Range b);

namespace operations {
double add(double a, double b);
double subtract(double a, double b);
double multiply(double a, double b);
double divide(double a, double b);
double maximum(double a, double b);       ///< NaN propagates.
double minimum(double a, double b);       ///< NaN propagates.
double maximumNumber(double a, double b); ///< A NaN operand is ignored.
double minimumNumber(double a, double b); ///< A NaN operand is ignored.
double negate(double a);
double squareRoot(double a);
double fusedMultiplyAdd(double a, double b, double c);
} // namespace operations

/// a · a, whose range does not go below zero.
Tensor square(const Tensor &a);
Tensor absolute(const Tensor &a);

/// A monotone function of bounded error. `ulps` bounds |implementation − function| in ulp of the
/// f32 result; results stay within `codomain`. An exact operand beyond the finite numbers, or of
/// infinite value, gives that very value.
struct Approximate {
  Unary function, ulps;
  Range codomain;
  double vanishesBelow = -std::numeric_limits<double>::infinity(); ///< where 0 is right as well
  double turn = std::numeric_limits<double>::quiet_NaN();          ///< where it is not monotone
};
Tensor apply(const Approximate &function, const Tensor &a);

/// The function of a `math` op or of `eider.sigmoid` and `eider.gelu`; none if it is not
/// approximate or not known.
std::optional<Approximate> approximateFunction(mlir::Operation *op);

/// arith.cmpf. Where ranges overlap the result may be either.
Tensor compareValues(mlir::arith::CmpFPredicate predicate, const Tensor &a, const Tensor &b);
Tensor select(const Tensor &condition, const Tensor &a, const Tensor &b);

/// arith.extf and arith.truncf: one rounding, the sign of a NaN kept when widening.
Tensor convert(const Tensor &a, DType type);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_ELEMENTWISE_H
