//===- oracle.cuh - What conversions must give, by definition ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Shares nothing with the codecs: a code's value follows from its format's definition, and a code
// is right for a float when none of its neighbours is nearer. All of that is exact in double. The
// same text runs on the host and on a GPU.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_ORACLE_CUH
#define EIDER_TESTS_ORACLE_CUH

#include "eider/arch/arch.h"

namespace oracle {

using eider::uint32;

/// A binary format of 4, 8 or 16 bits.
struct Format {
  int bits, mantissa_bits, bias;
  uint32 largest; ///< The largest finite magnitude code.
  bool has_infinity;
  uint32 nan;                 ///< The magnitude code that conversions to the format give for NaN.
  bool unsigned_zero = false; ///< No -0: its code is the format's only NaN.
  bool has_nan = true;        ///< Else NaN gives the code `nan` without a sign.

  EIDER_DEVICE uint32 magnitude(uint32 code) const { return code & ((1u << (bits - 1)) - 1); }
  EIDER_DEVICE uint32 sign(uint32 code) const { return code >> (bits - 1) & 1; }
  EIDER_DEVICE uint32 infinity_or_nan() const { return has_infinity ? largest + 1 : nan; }
};

EIDER_DEVICE double power_of_two(int exponent) {
  const int within = exponent > 127 ? 127 : exponent; // of a float; formats end at 2^128
  const double power = eider::arch::as_float(static_cast<uint32>(within + 127) << 23);
  return exponent > 127 ? 2 * power : power;
}

/// The value of a finite magnitude code, and of the one after the largest as if the format went on.
EIDER_DEVICE double value(uint32 magnitude, const Format &f) {
  const int field = static_cast<int>(magnitude >> f.mantissa_bits);
  const double fraction = static_cast<double>(magnitude & ((1u << f.mantissa_bits) - 1)) /
                          static_cast<double>(1u << f.mantissa_bits);
  return field == 0 ? fraction * power_of_two(1 - f.bias)
                    : (1.0 + fraction) * power_of_two(field - f.bias);
}

/// Half way from a magnitude code to the next.
EIDER_DEVICE double upper_midpoint(uint32 magnitude, const Format &f) {
  return (value(magnitude, f) + value(magnitude + 1, f)) / 2;
}

enum Overflow { saturates, overflows };

/// Whether `magnitude` is the code of |x|: nearest, a tie to the even code, NaN to the format's
/// NaN.
EIDER_DEVICE bool is_magnitude_of(uint32 magnitude, float x, const Format &f, Overflow overflow) {
  if (x != x)
    return magnitude == f.nan;
  const double exact = static_cast<double>(x < 0.0f ? -x : x);
  const bool even = magnitude % 2 == 0;
  if (magnitude > f.largest) {
    const double limit = upper_midpoint(f.largest, f);
    const bool too_large = exact > limit || (exact == limit && f.largest % 2 == 1);
    return overflow == overflows && magnitude == f.infinity_or_nan() && too_large;
  }
  if (magnitude > 0) {
    const double lower = upper_midpoint(magnitude - 1, f);
    if (exact < lower || (exact == lower && !even))
      return false;
  }
  if (magnitude == f.largest && overflow == saturates)
    return true;
  const double upper = upper_midpoint(magnitude, f);
  return exact < upper || (exact == upper && even);
}

/// Whether `code` is that of |x| with a sign, be it NaN or zero where the format has both of either
/// sign.
EIDER_DEVICE bool is_code_of(uint32 code, float x, uint32 sign, const Format &f,
                             Overflow overflow) {
  const uint32 magnitude = f.magnitude(code);
  if (!f.has_nan)
    return x != x ? code == f.nan
                  : f.sign(code) == sign && is_magnitude_of(magnitude, x, f, saturates);
  if (f.unsigned_zero && magnitude == 0 && f.sign(code)) {
    const double exact = static_cast<double>(x < 0.0f ? -x : x);
    return x != x || (overflow == overflows && exact >= upper_midpoint(f.largest, f));
  }
  const bool has_sign = !(f.unsigned_zero && magnitude == 0);
  return f.sign(code) == (has_sign ? sign : 0) && !(f.unsigned_zero && x != x) &&
         is_magnitude_of(magnitude, x, f, overflow);
}

/// The same with the sign of x.
EIDER_DEVICE bool is_code_of(uint32 code, float x, const Format &f, Overflow overflow) {
  return is_code_of(code, x, eider::arch::as_bits(x) >> 31, f, overflow);
}

/// Whether the magnitude code of |x|, which is not NaN, is the one that a random number of twice
/// the code's bits gives: the next one where |x| lies so far from a code that both add up to 1, a
/// half of the last bit included.
EIDER_DEVICE bool is_stochastic_magnitude_of(uint32 magnitude, float x, uint32 random,
                                             const Format &f) {
  const double numbers = 1 << 2 * f.bits;
  const double exact = static_cast<double>(x < 0.0f ? -x : x), own = value(magnitude, f);
  if (magnitude > f.largest || exact >= value(f.largest, f))
    return magnitude == f.largest;
  if (exact == own)
    return true;
  const bool is_up = exact < own;
  if (is_up ? magnitude == 0 : magnitude == f.largest)
    return false;
  const double below = is_up ? value(magnitude - 1, f) : own;
  const double above = is_up ? own : value(magnitude + 1, f);
  const bool goes_up = (exact - below) / (above - below) >= (numbers - 0.5 - random) / numbers;
  return below < exact && exact < above && is_up == goes_up;
}

/// Whether x is the value of the code: NaN for any NaN, zeros with their sign.
EIDER_DEVICE bool is_value_of(float x, uint32 code, const Format &f) {
  const uint32 magnitude = f.magnitude(code);
  if (f.unsigned_zero && magnitude == 0 && f.sign(code))
    return x != x;
  if (magnitude > f.largest && !(f.has_infinity && magnitude == f.largest + 1))
    return x != x;
  const float expected = magnitude > f.largest ? eider::arch::as_float(0x7f800000u)
                                               : static_cast<float>(value(magnitude, f));
  return eider::arch::as_bits(x) == (eider::arch::as_bits(expected) | f.sign(code) << 31);
}

} // namespace oracle

#endif // EIDER_TESTS_ORACLE_CUH
