//===- eider/formats/quotient.cuh - Exact division for codes ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A quantisation divides many elements by one scale, and only the *code* must come out as if the
// quotient had been rounded correctly to float first. Two or three fused operations on an element
// do that where a true division takes about ten:
//
//   two:    r <= 1/s, low = (1 - s·r)·r,  q = x·r + x·low
//   three:  r = 1/s,  q = x·r,            q = q - (q·s - x)·r
//
// Both are proved for every operand and all scales in [2^-100, 2^100] (tests/conformance/codecs).
// Stochastic rounding needs the quotient itself, which three operations give: q·s - x is exact, and
// to divide it by the rounded reciprocal leaves an error of less than 3/2^25 of q's last place,
// while quotients of floats that near the middle of two are few enough to be walked, too. Operands
// may be so small that what is corrected underflows, where the quotient is below every place that
// is drawn for; so scales are in [2^-60, 2^100] there. Codes of four bits divide by one times 2^14,
// which shifts quotients, rests and the reciprocal alike, far from either end of a float.
//
// The others are rare: `Rescaling` brings them inside, or a division serves. The reciprocal of two
// operations is rounded toward zero, so that `low` is not negative and a zero keeps its sign. `low`
// is rounded up: to nearest, one scale, whose significand is all ones, would put an operand on a
// tie that is next to one.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_QUOTIENT_CUH
#define EIDER_FORMATS_QUOTIENT_CUH

#include "eider/fragment.cuh"

namespace eider {

/// Whether the scale is outside [2^lowest, 2^100]: small or large, 0, negative, Inf or NaN.
template <int lowest = -100> EIDER_DEVICE bool is_unusual_scale(float scale) {
  constexpr uint32 least = (127 + lowest) << 23, most = (127 + 100) << 23;
  return arch::as_bits(scale) - least > most - least;
}

/// Whether a number has a minus sign, be it 0. NaN has none.
EIDER_DEVICE bool has_minus(float scale) {
  return arch::as_bits(scale) - 0x80000000u <= 0x7f800000u;
}

/// A scale in [2^-100, 2^100], ready to divide by two operations an element or by three.
template <int operations> struct Divisor {
  float scale, reciprocal, low;

  EIDER_DEVICE explicit Divisor(float s) : scale(s), reciprocal(reciprocal_of(s)) {
    // What the reciprocal lacks of 1/s: rest / s is rest · reciprocal and as much of that again.
    const float rest = arch::fma(-s, reciprocal, 1.0f), nearly = rest * reciprocal;
    low = arch::fma_up(rest, nearly, nearly);
  }

  /// x / scale. NaN for an infinite x, and where a float x / scale is beyond the largest float.
  EIDER_DEVICE float quotient(float x) const {
    if constexpr (operations == 2)
      return arch::fma(x, reciprocal, x * low);
    const float q = x * reciprocal;
    return arch::fma(-arch::fma(q, scale, -x), reciprocal, q); // of -0 it is -0
  }

private:
  static EIDER_DEVICE float reciprocal_of(float s) {
    return operations == 2 ? arch::rcp_of_normal_toward_zero(s) : arch::rcp_of_normal(s);
  }
};

/// For an unusual scale: factors for operand and scale after which the scale is usual and the code
/// of their quotient the same. What a factor loses in an operand (overflow to infinity, or bits of
/// the tiniest) cannot reach the code, which saturates or is 0. A scale of 0, Inf or NaN becomes 1
/// and its reciprocal the operand's factor, so that 0/0 and Inf/Inf are NaN as they should.
struct Rescaling {
  float factor, scale;

  EIDER_DEVICE explicit Rescaling(float s) {
    const float magnitude = arch::magnitude(s);
    const bool is_finite = magnitude > 0.0f && magnitude < arch::as_float(0x7f800000u);
    const float power = magnitude < 1.0f ? 0x1p64f : 0x1p-64f;
    factor = is_finite ? (has_minus(s) ? -power : power) : arch::approximate_rcp(s);
    scale = is_finite ? s * factor : 1.0f;
  }
};

} // namespace eider

#endif // EIDER_FORMATS_QUOTIENT_CUH
