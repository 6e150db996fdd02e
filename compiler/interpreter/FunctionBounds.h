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
  static constexpr double exp = 4;
  static constexpr double exp2 = 4;
  static constexpr double log = 4;
  static constexpr double log2 = 4;
  static constexpr double tanh = 8;
  static constexpr double erf = 8;
  static constexpr double rsqrt = 4;
  static constexpr double sigmoid = 8;
  /// 1 / (1 + exp(−x)) is 0 where exp(−x) overflows; the sigmoid is below 2^-127 there.
  static constexpr double sigmoidAbsolute = 0x1p-127;
};

/// Roundings between any summand and the sum of a reduction over n elements: a tree inside a thread
/// and across the lanes of a warp (log2 n together), then at most one partial sum after another for
/// the 32 warps of a block. Never more than n − 1.
constexpr int SerialAdditions = 32;

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_FUNCTIONBOUNDS_H
