//===- Fp8.cpp - The reference's own codec of FP8 and FP4 -----------------===//
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
  DType dtype;
  uint8_t sign;              ///< Its bit; the bits below it are the magnitude.
  int significand;           ///< Stored bits.
  int bias;                  ///< Of the exponent.
  uint8_t largest;           ///< Code of the largest finite value.
  uint8_t nan;               ///< The code that encoding gives for NaN.
  uint8_t beyond;            ///< What a value past the largest is where it does not saturate.
  bool unsignedZero = false; ///< ("UZ") No −0: its code is the one NaN, whatever the sign.
  bool hasNaN = true;        ///< Else a NaN becomes `nan` without its sign.
};

constexpr Format formats[] = {
    {DType::e4m3, 0x80, 3, 7, 0x7e, 0x7f, 0x7f},
    {DType::e5m2, 0x80, 2, 15, 0x7b, 0x7f, 0x7c},
    {DType::e4m3fnuz, 0x80, 3, 8, 0x7f, 0x80, 0x80, /*unsignedZero=*/true},
    {DType::e5m2fnuz, 0x80, 2, 16, 0x7f, 0x80, 0x80, /*unsignedZero=*/true},
    {DType::e2m1, 0x08, 1, 1, 7, 7, 7, /*unsignedZero=*/false, /*hasNaN=*/false},
};
constexpr size_t formatCount = std::size(formats);

size_t indexOf(DType type) {
  for (size_t i = 0; i < formatCount; ++i)
    if (formats[i].dtype == type)
      return i;
  return 0; // Programs with another format do not verify.
}

const Format &formatOf(DType type) { return formats[indexOf(type)]; }

/// The value that a magnitude code would have if the format had no Inf and no NaN.
double gridValue(const Format &format, int code) {
  int exponent = code >> format.significand;
  int digits = code & ((1 << format.significand) - 1);
  if (exponent == 0)
    return std::ldexp(digits, 1 - format.bias - format.significand);
  return std::ldexp(digits + (1 << format.significand),
                    exponent - format.bias - format.significand);
}

/// The values of all magnitude codes of eight bits, and of the one that would follow.
using Grid = std::array<double, 129>;

const Grid &gridOf(DType type) {
  static const auto grids = [] {
    std::array<Grid, formatCount> grids;
    for (size_t i = 0; i < formatCount; ++i)
      for (int code = 0; code < 129; ++code)
        grids[i][code] = gridValue(formats[i], code);
    return grids;
  }();
  return grids[indexOf(type)];
}

/// The magnitude code nearest to a value; a tie goes to the even code; or, where there is one, what
/// a random number says, of 0 to 1. 128 is past every format's largest.
int neighbouringCode(const Grid &grid, double magnitude, std::optional<double> random) {
  auto above =
      static_cast<int>(std::upper_bound(grid.begin(), grid.end(), magnitude) - grid.begin());
  int below = above - 1;
  if (above == 129)
    return 128;
  double down = magnitude - grid[below], up = grid[above] - magnitude;
  if (random)
    return down / (grid[above] - grid[below]) >= 1 - *random ? above : below;
  if (down != up)
    return down < up ? below : above;
  return below % 2 == 0 ? below : above;
}
} // namespace

double interpreter::decodeFp8(DType type, uint8_t code) {
  const Format &format = formatOf(type);
  const int magnitude = magnitudeOfCode(type, code);
  double value = gridOf(type)[magnitude];
  if (isNaNCode(type, code))
    value = std::numeric_limits<double>::quiet_NaN();
  else if (magnitude > format.largest)
    value = std::numeric_limits<double>::infinity();
  const bool isNegative = isNegativeCode(type, code) && !(format.unsignedZero && magnitude == 0);
  return std::copysign(value, isNegative ? -1.0 : 1.0);
}

uint8_t interpreter::encodeFp8(DType type, double value, EncodeRules rules) {
  const Format &format = formatOf(type);
  const uint8_t sign = std::signbit(value) ? format.sign : 0;
  if (std::isnan(value) && !rules.ignoreNaN)
    return format.hasNaN ? sign | format.nan : format.nan;
  if (std::isnan(value))
    return sign | format.largest;
  const bool isWithin = std::abs(value) <= largestFp8(type); // what is beyond is not random
  std::optional<double> random;
  if (isWithin && rules.random)
    random = (*rules.random + 0.5) / (format.sign == 0x80 ? 65536 : 256);
  int code = neighbouringCode(gridOf(type), std::abs(value), random);
  if (code > format.largest)
    code = rules.overflowToFormat ? format.beyond : format.largest;
  if (code == 0 && format.unsignedZero)
    return 0;
  return static_cast<uint8_t>(sign | code);
}

bool interpreter::isNaNCode(DType type, uint8_t code) {
  const Format &format = formatOf(type);
  if (format.unsignedZero)
    return code == format.nan;
  const int magnitude = magnitudeOfCode(type, code);
  return magnitude > format.largest && (magnitude == format.nan || magnitude > format.beyond);
}

bool interpreter::hasSignedNaN(DType type) {
  const Format &format = formatOf(type);
  return format.hasNaN && !format.unsignedZero;
}

double interpreter::largestFp8(DType type) { return gridOf(type)[formatOf(type).largest]; }

int interpreter::significantBitsOfFp8(DType type) { return formatOf(type).significand + 1; }

bool interpreter::isNegativeCode(DType type, uint8_t code) { return code & formatOf(type).sign; }

uint8_t interpreter::magnitudeOfCode(DType type, uint8_t code) {
  return code & (formatOf(type).sign - 1);
}

int interpreter::orderOfCode(DType type, uint8_t code) {
  const int magnitude = magnitudeOfCode(type, code);
  return isNegativeCode(type, code) ? -1 - magnitude : magnitude;
}
