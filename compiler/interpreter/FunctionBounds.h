//===- FunctionBounds.h - Bounds of functions and sums ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_FUNCTIONBOUNDS_H
#define EIDER_INTERPRETER_FUNCTIONBOUNDS_H

#include <algorithm>
#include <cmath>

namespace eider::interpreter {

/// The bound of each approximate function of the template library at an operand (templates/math.cuh
/// states the same), in ulp of the f32 result. Whatever is not here is correctly rounded.
struct FunctionBounds {
  static double exp(double) { return 2; }
  static double exp2(double) { return 2; }
  static double log(double) { return 2; }
  static double log2(double) { return 4; }
  static double tanh(double) { return 2; }
  static double erf(double) { return 2; }
  static double rsqrt(double) { return 2; }
  // What is raised to a power is rounded first: the more, the further below 0.
  static double sigmoid(double x) { return 5 + 1.25 * std::clamp(-x, 0.0, 90.0); }
  static double gelu(double x) {
    const double below = std::clamp(-x, 0.0, 14.0);
    return 96 + 0.6 * std::pow(below, 6);
  }
};

/// Below these operands a result may be 0 instead: the powers there are subnormal.
struct VanishingBelow {
  static constexpr double exp2 = -126, sigmoid = -87, gelu = -12.9;
};

/// Additions on the deepest path of a reduction beyond log2 n: the trees inside a thread, across
/// the lanes of a warp and across the warps of a block are balanced, and each may round its depth
/// up.
constexpr int ExtraAdditions = 3;

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_FUNCTIONBOUNDS_H
