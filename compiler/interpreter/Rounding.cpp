//===- Rounding.cpp - The reference's own roundings -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Rounding.h"

#include "compiler/interpreter/Fp8.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace eider;

namespace {
/// A binary floating-point type of at most 32 bits, with Inf and NaN as IEEE 754 has them.
struct Layout {
  int significand; ///< Stored bits.
  int lowest;      ///< Exponent of the smallest normal number.
  int highest;     ///< Exponent of the largest finite number.
};

Layout layoutOf(DType type) {
  switch (type) {
  case DType::bf16:
    return {7, -126, 127};
  case DType::f16:
    return {10, -14, 15};
  default:
    return {23, -126, 127};
  }
}

/// The bit of a double's payload that marks a NaN of arithmetic.
constexpr uint64_t ArithmeticMark = 1;
} // namespace

double interpreter::roundTo(DType type, double value) {
  if (type == DType::f32)
    return std::isnan(value) ? value : static_cast<float>(value);
  if (type == DType::e4m3)
    return std::isnan(value) ? value : decodeFp8(type, encodeFp8(type, value));
  if (type == DType::e8m0)
    return std::isfinite(value) ? powerOfTwoBelow(value) : arithmeticNaN();
  const bool isInteger = type == DType::i32 || type == DType::i64; // exact: below 2^53
  if (isInteger || !std::isfinite(value) || value == 0)
    return value;
  Layout layout = layoutOf(type);
  int exponent = std::max(std::ilogb(value), layout.lowest);
  // Scaling by a power of two is exact, so nearbyint's nearest even is the only rounding.
  double rounded = std::ldexp(std::nearbyint(std::ldexp(value, layout.significand - exponent)),
                              exponent - layout.significand);
  return std::abs(rounded) > largestFinite(type)
             ? std::copysign(std::numeric_limits<double>::infinity(), value)
             : rounded;
}

double interpreter::powerOfTwoBelow(double value) {
  if (std::isnan(value))
    return value;
  return std::exp2(value < 0x1p-127 ? -127 : value > 0x1p127 ? 127 : std::ilogb(value));
}

double interpreter::powerOfTwoAbove(double value) {
  double below = powerOfTwoBelow(value);
  return below < value && below < 0x1p127 ? 2 * below : below;
}

double interpreter::roundToBits(double value, int bits) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int shift = bits - 1 - std::ilogb(value);
  return std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
}

double interpreter::ulpOfF32(double value) {
  if (!std::isfinite(value) || std::abs(value) < 0x1p-126)
    return 0x1p-149;
  return std::ldexp(1.0, std::min(std::ilogb(value), 127) - 23);
}

double interpreter::largestFinite(DType type) {
  Layout layout = layoutOf(type);
  return std::ldexp(2.0 - std::ldexp(1.0, -layout.significand), layout.highest);
}

uint32_t interpreter::bitsOf(DType type, double value) {
  if (type == DType::f32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == DType::e4m3)
    return encodeFp8(type, value);
  if (type == DType::e8m0)
    return std::isnan(value) ? 255 : static_cast<uint32_t>(std::ilogb(value) + 127);
  Layout layout = layoutOf(type);
  uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  uint32_t infinity = static_cast<uint32_t>(layout.highest - layout.lowest + 2)
                      << layout.significand;
  if (std::isnan(value))
    return sign | infinity | 1u << (layout.significand - 1);
  if (std::isinf(value))
    return sign | infinity;
  double magnitude = std::abs(value);
  if (magnitude < std::ldexp(1.0, layout.lowest))
    return sign | static_cast<uint32_t>(std::ldexp(magnitude, layout.significand - layout.lowest));
  int exponent = std::ilogb(magnitude);
  auto digits = static_cast<uint32_t>(std::ldexp(magnitude, layout.significand - exponent));
  auto biased = static_cast<uint32_t>(exponent - layout.lowest + 1);
  return sign | ((biased << layout.significand) + (digits - (1u << layout.significand)));
}

double interpreter::valueOf(DType type, uint32_t bits) {
  if (type == DType::f32)
    return std::bit_cast<float>(bits);
  if (type == DType::e4m3)
    return decodeFp8(type, static_cast<uint8_t>(bits));
  if (type == DType::e8m0)
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  Layout layout = layoutOf(type);
  uint32_t magnitude = bits & 0x7fff;
  uint32_t biased = magnitude >> layout.significand;
  uint32_t digits = magnitude & ((1u << layout.significand) - 1);
  double value;
  if (biased == static_cast<uint32_t>(layout.highest - layout.lowest + 2))
    value =
        digits ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (biased == 0)
    value = std::ldexp(digits, layout.lowest - layout.significand);
  else
    value = std::ldexp(digits + (1u << layout.significand),
                       static_cast<int>(biased) - 1 + layout.lowest - layout.significand);
  return std::copysign(value, bits & 0x8000 ? -1.0 : 1.0);
}

double interpreter::arithmeticNaN() {
  auto bits = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
  return std::bit_cast<double>(bits | ArithmeticMark);
}

bool interpreter::hasKnownSign(double nan) {
  return !(std::bit_cast<uint64_t>(nan) & ArithmeticMark);
}
