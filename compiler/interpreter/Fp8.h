//===- Fp8.h - The reference's own codec of FP8 and FP4 ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_FP8_H
#define EIDER_INTERPRETER_FP8_H

#include "eider/dtype.h"

#include <cstdint>
#include <optional>

namespace eider::interpreter {

// A code is in the low bits of its byte: eight, or four of e2m1.

/// What becomes of values that a format cannot hold.
struct EncodeRules {
  bool overflowToFormat =
      false;              ///< Beyond the maximum: Inf (e5m2) or else NaN instead of the maximum.
  bool ignoreNaN = false; ///< NaN becomes the maximum with its sign instead of NaN.
  /// Stochastic: a value that lies p of the way from a code to the next one away from 0 has that
  /// one where p · 2^16 + random + ½ is at least 2^16; for codes of four bits 2^8. None: nearest
  /// even.
  std::optional<uint16_t> random = {};
  bool operator==(const EncodeRules &) const = default;
};

/// The value of a code.
double decodeFp8(DType format, uint8_t code);

/// The code nearest to `value`, ties to the even code, or a neighbour by the rules' random number,
/// the sign copied; found by comparing distances to the two neighbours. Where the format has no
/// NaN, NaN gives the positive maximum.
uint8_t encodeFp8(DType format, double value, EncodeRules rules = {});

bool isNaNCode(DType format, uint8_t code);

/// Whether the code of a NaN has its sign.
bool hasSignedNaN(DType format);

/// 448, 57344, 240, 57344, 6.
double largestFp8(DType format);

/// The bits of a normal number's significand, the leading one included.
int significantBitsOfFp8(DType format);

/// Sign and magnitude of a code.
bool isNegativeCode(DType format, uint8_t code);
uint8_t magnitudeOfCode(DType format, uint8_t code);

/// Codes in the order of their values, −0 just below +0; of no use for NaN codes.
int orderOfCode(DType format, uint8_t code);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_FP8_H
