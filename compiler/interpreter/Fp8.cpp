//===- Fp8.cpp - The reference's own FP8 codec ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Fp8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace eider;
using namespace eider::interpreter;

namespace {
struct Format {
  int significand; ///< Stored bits.
  int bias;        ///< Of the exponent.
  uint8_t largest; ///< Code of the largest finite value.
  uint8_t nan;     ///< The NaN code that encoding gives.
  uint8_t beyond;  ///< What a value past the largest is where it does not saturate.
};

constexpr Format E4m3 = {3, 7, 0x7e, 0x7f, 0x7f};
constexpr Format E5m2 = {2, 15, 0x7b, 0x7f, 0x7c};

const Format &formatOf(DType type) { return type == DType::e4m3 ? E4m3 : E5m2; }

/// The value that a magnitude code would have if the format had no Inf and no NaN.
double gridValue(const Format &format, int code) {
  int exponent = code >> format.significand;
  int digits = code & ((1 << format.significand) - 1);
  if (exponent == 0)
    return std::ldexp(digits, 1 - format.bias - format.significand);
  return std::ldexp(digits + (1 << format.significand),
                    exponent - format.bias - format.significand);
}

using Grid = std::array<double, 128>;

Grid makeGrid(const Format &format) {
  Grid grid;
  for (int code = 0; code < 128; ++code)
    grid[code] = gridValue(format, code);
  return grid;
}

const Grid &gridOf(DType type) {
  static const Grid e4m3 = makeGrid(E4m3), e5m2 = makeGrid(E5m2);
  return type == DType::e4m3 ? e4m3 : e5m2;
}

/// The magnitude code nearest to a value within the grid; a tie goes to the even code.
uint8_t nearestCode(const Grid &grid, double magnitude) {
  auto above =
      static_cast<int>(std::upper_bound(grid.begin(), grid.end(), magnitude) - grid.begin());
  int below = above - 1;
  if (above == 128)
    return 127;
  double down = magnitude - grid[below], up = grid[above] - magnitude;
  if (down != up)
    return static_cast<uint8_t>(down < up ? below : above);
  return static_cast<uint8_t>(below % 2 == 0 ? below : above);
}
} // namespace

double interpreter::decodeFp8(DType type, uint8_t code) {
  const Format &format = formatOf(type);
  int magnitude = code & 0x7f;
  double value = gridOf(type)[magnitude];
  if (isNaNCode(type, code))
    value = std::numeric_limits<double>::quiet_NaN();
  else if (magnitude > format.largest)
    value = std::numeric_limits<double>::infinity();
  return std::copysign(value, code & 0x80 ? -1.0 : 1.0);
}

uint8_t interpreter::encodeFp8(DType type, double value, EncodeRules rules) {
  const Format &format = formatOf(type);
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return sign | (rules.ignoreNaN ? format.largest : format.nan);
  uint8_t code = nearestCode(gridOf(type), std::abs(value));
  if (code > format.largest)
    code = rules.overflowToFormat ? format.beyond : format.largest;
  return sign | code;
}

bool interpreter::isNaNCode(DType type, uint8_t code) {
  return type == DType::e4m3 ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c;
}

double interpreter::largestFp8(DType type) { return gridOf(type)[formatOf(type).largest]; }

int interpreter::orderOfCode(uint8_t code) { return code & 0x80 ? -1 - (code & 0x7f) : code; }
