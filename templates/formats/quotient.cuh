//===- eider/formats/quotient.cuh - Exact division for codes ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A quantisation divides many elements by one scale, and only the *code* must come out as if the
// quotient had been rounded correctly to float first. Two fused operations on an element do that
// where a true division takes about ten:
//
//   operands from bf16 or f16:  r = 1/s,  low = (1 - s·r)·r,   q = fma(x, r, x·low)
//   operands in float:          r = 1/s,  q = x·r,             q = fma(fma(-q, s, x), r, q)
//
// Both are proved for every operand and all scales in [2^-100, 2^126] (tests/conformance/codecs).
// Scales outside it are rare: there, operand and scale are first multiplied by a power of two that
// brings the scale inside. What that loses in an operand (overflow to infinity, or bits of the
// tiniest) cannot reach the code, which saturates or is 0. A scale of 0, Inf or NaN, and an operand
// of Inf, make q NaN here; `quotient_of_specials` then says what the division gives.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_QUOTIENT_CUH
#define EIDER_FORMATS_QUOTIENT_CUH

#include "eider/fragment.cuh"

namespace eider {

/// Whether `scale` is outside [2^-100, 2^126]: small or large, 0, negative, Inf or NaN.
EIDER_DEVICE bool is_unusual_scale(float scale) {
  constexpr uint32 least = (127 - 100) << 23, most = (127 + 126) << 23;
  return arch::as_bits(scale) - least > most - least;
}

/// A scale, ready to divide by.
struct Divisor {
  float scale;      ///< In [2^-100, 2^126] after `bring_inside`, or 0, Inf or NaN.
  float reciprocal; ///< 1/scale, correctly rounded.
  float low;        ///< What `reciprocal` lacks of 1/scale.

  EIDER_DEVICE explicit Divisor(float s)
      : scale(s), reciprocal(arch::rcp_of_normal(s)),
        low(arch::fma(-s, reciprocal, 1.0f) * reciprocal) {}

  /// x / scale as above, for x that a bf16 or an f16 holds (`narrow`) or any float.
  template <bool narrow> EIDER_DEVICE float quotient(float x) const {
    if constexpr (narrow)
      return arch::fma(x, reciprocal, x * low);
    const float q = x * reciprocal;
    return arch::fma(arch::fma(-q, scale, x), reciprocal, q);
  }

  /// x / scale where it is 0, infinite or NaN.
  EIDER_DEVICE float quotient_of_specials(float x) const {
    return x * arch::approximate_rcp(scale);
  }
};

/// The power of two, with the sign of `scale`, by which an unusual scale and its operands are
/// multiplied.
EIDER_DEVICE float factor_for(float scale) {
  const float magnitude = arch::magnitude(scale);
  const float factor = magnitude < 1.0f ? 0x1p64f : 0x1p-64f;
  return scale < 0.0f ? -factor : factor;
}

} // namespace eider

#endif // EIDER_FORMATS_QUOTIENT_CUH
