//===- Rounding.h - The reference's own roundings ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_ROUNDING_H
#define EIDER_INTERPRETER_ROUNDING_H

#include "eider/dtype.h"

#include <cstdint>

namespace eider::interpreter {

/// `value` rounded to f32, bf16 or f16, nearest even, subnormals kept; overflow gives Inf. To e8m0,
/// of a value that is not negative: down, no further than to its least; Inf gives NaN. A NaN comes
/// back as it is.
///
/// A double that came from + − × ÷ or sqrt of two f32 values rounds to the same f32 as the exact
/// result: 53 ≥ 2·24 + 2 bits make the second rounding innocent (Figueroa, "When is double rounding
/// innocuous?"), and a result in f32's subnormal range asks for still fewer bits.
double roundTo(DType type, double value);

/// The power of two next to a value that is not negative, at most or at least that value, among
/// those of e8m0: 2^-127 … 2^127. NaN stays NaN.
double powerOfTwoBelow(double value);
double powerOfTwoAbove(double value);

/// `value` rounded to so many significant bits, nearest even.
double roundToBits(double value, int bits);

/// One unit in the last place of an f32 of this magnitude; of a subnormal where it is below the
/// normal range.
double ulpOfF32(double value);

/// The largest finite value of f32, bf16 or f16.
double largestFinite(DType type);

/// Bits of a value of f32, bf16, f16 or e8m0 that is already rounded to the type. NaN: quiet, with
/// the value's sign.
uint32_t bitsOf(DType type, double value);

/// The value of these bits of f32, bf16, f16 or e8m0.
double valueOf(DType type, uint32_t bits);

//===-- NaN ---------------------------------------------------------------===//

/// A NaN that came out of arithmetic: processors disagree about its sign.
double arithmeticNaN();

/// Whether the sign of a NaN is that of a NaN the program was given.
bool hasKnownSign(double nan);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_ROUNDING_H
