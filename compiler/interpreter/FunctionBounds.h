//===- FunctionBounds.h - Bounds of functions and sums ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_FUNCTIONBOUNDS_H
#define EIDER_INTERPRETER_FUNCTIONBOUNDS_H

namespace eider::interpreter {

/// The bound of each approximate function of the template library (templates/math.cuh states the
/// same figures), in ulp of the f32 result. Whatever is not here is correctly rounded.
struct FunctionBounds {
  static constexpr double exp = 2;
  static constexpr double exp2 = 2;
  static constexpr double log = 2;
  static constexpr double log2 = 4;
  static constexpr double tanh = 2;
  static constexpr double erf = 2;
  static constexpr double rsqrt = 2;
  static constexpr double sigmoid = 4;
};

/// Additions on the deepest path of a reduction beyond log2 n: the trees inside a thread, across
/// the lanes of a warp and across the warps of a block are balanced, and each may round its depth
/// up.
constexpr int ExtraAdditions = 3;

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_FUNCTIONBOUNDS_H
