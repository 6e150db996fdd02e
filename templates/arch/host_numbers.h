//===- eider/arch/host_numbers.h - Bits and floats --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// What one thread computes, of the names of nvidia.h, on a CPU. Conversions are exact integer
// models of the instructions; the rounding of the 16-bit and FP8 floats is written once, for any
// format.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_HOST_NUMBERS_H
#define EIDER_ARCH_HOST_NUMBERS_H

#include "eider/types.cuh"

#include <algorithm>
#include <bit>
#include <cmath>

namespace eider::arch {

//===-- Bits --------------------------------------------------------------===//

inline uint32 as_bits(float value) { return std::bit_cast<uint32>(value); }
inline float as_float(uint32 bits) { return std::bit_cast<float>(bits); }

inline uint32 byte_permute(uint32 low, uint32 high, uint32 selector) {
  const uint64 bytes = static_cast<uint64>(high) << 32 | low;
  uint32 result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<uint32>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}

inline uint32 signed_permute(uint32 low, uint32 high, uint32 selector) {
  uint32 result = byte_permute(low, high, selector);
  for (int i = 0; i < 4; ++i)
    if (selector >> 4 * i & 8)
      result = (result & ~(0xffu << 8 * i)) | ((result >> 8 * i & 0x80u) ? 0xffu << 8 * i : 0u);
  return result;
}

inline uint32 funnel_right(uint32 low, uint32 high, uint32 bits) {
  return static_cast<uint32>((static_cast<uint64>(high) << 32 | low) >> bits % 32);
}

inline uint32 select_bits(uint32 mask, uint32 a, uint32 b) { return (a & mask) | (b & ~mask); }

inline int opaque(int value) { return value; }
inline uint32 unseen_zero() { return 0; }

inline uint64 multiply_wide(uint32 a, uint32 b) { return static_cast<uint64>(a) * b; }

//===-- Float arithmetic --------------------------------------------------===//

inline float one_nan(float value) { return value != value ? as_float(0x7fffffffu) : value; }

inline float fma(float a, float b, float c) { return one_nan(std::fma(a, b, c)); }
inline float fma_up(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b), addend = c; // exact
  const double sum = product + addend, rest = sum - addend;
  const double lost = (product - rest) + (addend - (sum - rest)); // by the sum's rounding
  const float nearest = fma(a, b, c);
  const bool is_below = static_cast<double>(nearest) - sum < lost;
  return is_below ? std::nextafter(nearest, HUGE_VALF) : nearest;
}
inline float multiply_toward_zero(float a, float b) {
  const double product = static_cast<double>(a) * static_cast<double>(b); // exact
  const auto nearest = static_cast<float>(product);
  return std::fabs(nearest) > std::fabs(product) ? std::nextafter(nearest, 0.0f) : nearest;
}
inline float sqrt(float x) { return one_nan(std::sqrt(x)); }
inline float approximate_rcp(float x) { return one_nan(1.0f / x); }
inline float rcp_of_normal(float x) { return one_nan(1.0f / x); }
inline float rcp_of_normal_toward_zero(float x) {
  const float nearest = 1.0f / x;
  const double product = static_cast<double>(nearest) * static_cast<double>(x); // exact
  return product > 1.0 ? std::nextafter(nearest, 0.0f) : nearest;
}
inline float magnitude(float x) { return as_float(as_bits(x) & 0x7fffffffu); }

inline float maximum_number(float a, float b) {
  if (a != a || b != b)
    return one_nan(a != a ? b : a);
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
inline float minimum_number(float a, float b) {
  if (a != a || b != b)
    return one_nan(a != a ? b : a);
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
inline float maximum(float a, float b) {
  return a != a || b != b ? as_float(0x7fffffffu) : maximum_number(a, b);
}
inline float minimum(float a, float b) {
  return a != a || b != b ? as_float(0x7fffffffu) : minimum_number(a, b);
}
inline float maximum_magnitude(float a, float b) { return maximum(magnitude(a), magnitude(b)); }

// In double and rounded once, so that no library's float functions decide what a simulated kernel
// gives.
inline float rounded(double value) { return one_nan(static_cast<float>(value)); }
inline float rsqrt(float x) { return rounded(1.0 / std::sqrt(static_cast<double>(x))); }
inline float exp(float x) { return rounded(std::exp(static_cast<double>(x))); }
inline float exp2(float x) {
  return x < -126.0f ? 0.0f : rounded(std::exp2(static_cast<double>(x)));
}
inline float log(float x) { return rounded(std::log(static_cast<double>(x))); }
inline float tanh(float x) { return rounded(std::tanh(static_cast<double>(x))); }
inline float erf(float x) { return rounded(std::erf(static_cast<double>(x))); }

//===-- Small floats, by integers -----------------------------------------===//

/// A binary format of at most 16 bits. Its largest magnitude is followed by infinity, or NaN alone
/// where it has none, or nothing: then `nan` is what NaN becomes.
struct SmallFloat {
  int exponent_bits, mantissa_bits;
  uint32 largest, nan;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
inline constexpr SmallFloat bf16_format{8, 7, 0x7f7f, 0x7fff};
inline constexpr SmallFloat f16_format{5, 10, 0x7bff, 0x7fff};
inline constexpr SmallFloat e4m3_format{4, 3, 0x7e, 0x7f};
inline constexpr SmallFloat e5m2_format{5, 2, 0x7b, 0x7f};
inline constexpr SmallFloat e2m1_format{2, 1, 7, 7};

/// The code of |x|, nearest even; past the largest it saturates or goes to the next code. NaN gives
/// the format's.
inline uint32 round_magnitude(float x, const SmallFloat &format, bool saturate) {
  const uint32 bits = as_bits(x) & 0x7fffffffu;
  if (bits > 0x7f800000u)
    return format.nan;
  const int least = 1 - format.bias(); // exponent of the least normal number, and of the subnormals
  const int field = static_cast<int>(bits >> 23);
  const int exponent = (field == 0 ? 1 : field) - 127;
  const uint64 significand = (bits & 0x7fffffu) | (field == 0 ? 0 : 0x800000u);
  const int scale = exponent < least ? least : exponent;
  const int dropped =
      23 - format.mantissa_bits + (scale - exponent); // bits below the last that is kept
  if (dropped > 40)
    return 0;
  const uint64 kept = significand >> dropped, rest = significand - (kept << dropped);
  const uint64 half = dropped > 0 ? 1ull << (dropped - 1) : 1;
  const uint64 rounded = kept + (rest > half || (rest == half && (kept & 1)));
  // A subnormal has field 0 and no leading one; a carry out of the mantissa raises the field by
  // itself.
  const uint64 code = rounded + (static_cast<uint64>(scale - least) << format.mantissa_bits);
  if (code > format.largest)
    return saturate ? format.largest : format.largest + 1;
  return static_cast<uint32>(code);
}

/// The value of a code, exact: NaN to 0x7fffffff.
inline float value_of(uint32 code, const SmallFloat &format, bool has_infinity) {
  const int width = format.exponent_bits + format.mantissa_bits;
  const uint32 magnitude = code & ((1u << width) - 1);
  const bool negative = code >> width & 1;
  if (magnitude > format.largest) {
    const bool infinite = has_infinity && magnitude == format.largest + 1;
    return infinite ? as_float(negative ? 0xff800000u : 0x7f800000u) : as_float(0x7fffffffu);
  }
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32 mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const int significand =
      static_cast<int>(mantissa | (field == 0 ? 0u : 1u << format.mantissa_bits));
  const int exponent = (field == 0 ? 1 : field) - format.bias() - format.mantissa_bits;
  const float value = std::ldexp(static_cast<float>(significand), exponent);
  return negative ? -value : value;
}

/// A whole 16-bit code; NaN has no sign, as the instructions give it.
inline uint32 half_from(float x, const SmallFloat &format) {
  const uint32 sign = x == x ? as_bits(x) >> 16 & 0x8000u : 0;
  return sign | round_magnitude(x, format, /*saturate=*/false);
}
inline uint32 bf16x2_from(float low, float high) {
  return half_from(low, bf16_format) | half_from(high, bf16_format) << 16;
}
inline uint32 f16x2_from(float low, float high) {
  return half_from(low, f16_format) | half_from(high, f16_format) << 16;
}
inline uint32 f16x2_toward_zero(float low, float high) {
  const auto half = [](float x) {
    const uint32 nearest = half_from(x, f16_format);
    const bool is_beyond = std::fabs(value_of(nearest, f16_format, true)) > std::fabs(x);
    return is_beyond ? nearest - 1 : nearest;
  };
  return half(low) | half(high) << 16;
}
inline uint32 clamp_f16x2(uint32 pair, uint32 most) {
  const auto half = [](uint32 x, uint32 limit) {
    return (x & 0x7fffu) > 0x7c00u ? 0x7fffu : (x & 0x8000u) | std::min(x & 0x7fffu, limit);
  };
  return half(pair & 0xffffu, most & 0xffffu) | half(pair >> 16, most >> 16) << 16;
}
inline float float_from_low_f16(uint32 pair) { return value_of(pair & 0xffffu, f16_format, true); }
inline float float_from_high_f16(uint32 pair) { return value_of(pair >> 16, f16_format, true); }

inline uint32 multiply_f16x2(uint32 a, uint32 b) { // exact in float, so rounded once
  return f16x2_from(float_from_low_f16(a) * float_from_low_f16(b),
                    float_from_high_f16(a) * float_from_high_f16(b));
}

inline constexpr bool has_packed_maximum = true;

inline uint32 packed_magnitudes(uint32 pair) { return pair; }
inline uint32 maximum_magnitude_bf16x2(uint32 a, uint32 b) {
  const auto half = [](uint32 bits) { return as_float(bits << 16); };
  return bf16x2_from(maximum_magnitude(half(a), half(b)),
                     maximum_magnitude(half(a >> 16), half(b >> 16))) |
         ((a ^ b) & 0x80008000u);
}
inline uint32 minimum_bf16x2(uint32 a, uint32 b) {
  const auto half = [](uint32 bits) { return as_float(bits << 16); };
  return bf16x2_from(minimum(half(a), half(b)), minimum(half(a >> 16), half(b >> 16)));
}
inline uint32 maximum_bf16x2(uint32 a, uint32 b) {
  const auto half = [](uint32 bits) { return as_float(bits << 16); };
  return bf16x2_from(maximum(half(a), half(b)), maximum(half(a >> 16), half(b >> 16)));
}
inline uint32 minimum_f16x2(uint32 a, uint32 b) {
  return f16x2_from(minimum(float_from_low_f16(a), float_from_low_f16(b)),
                    minimum(float_from_high_f16(a), float_from_high_f16(b)));
}
inline uint32 maximum_f16x2(uint32 a, uint32 b) {
  return f16x2_from(maximum(float_from_low_f16(a), float_from_low_f16(b)),
                    maximum(float_from_high_f16(a), float_from_high_f16(b)));
}
inline uint32 maximum_magnitude_f16x2(uint32 a, uint32 b) {
  return f16x2_from(maximum_magnitude(float_from_low_f16(a), float_from_low_f16(b)),
                    maximum_magnitude(float_from_high_f16(a), float_from_high_f16(b))) |
         ((a ^ b) & 0x80008000u);
}

inline uint32 add_zero_times_bf16x2(uint32 pair, uint32 sum) {
  const auto half = [](uint32 bits) { return as_float(bits << 16); };
  return bf16x2_from(half(pair) * 0.0f + half(sum), half(pair >> 16) * 0.0f + half(sum >> 16));
}
inline uint32 add_zero_times_f16x2(uint32 pair, uint32 sum) {
  return f16x2_from(float_from_low_f16(pair) * 0.0f + float_from_low_f16(sum),
                    float_from_high_f16(pair) * 0.0f + float_from_high_f16(sum));
}

inline uint32 multiply_bf16x2(uint32 a, uint32 b) { // exact in float, but for what is below it
  const auto product = [](uint32 x, uint32 y) { return as_float(x << 16) * as_float(y << 16); };
  return bf16x2_from(product(a, b), product(a >> 16, b >> 16));
}

} // namespace eider::arch

#endif // EIDER_ARCH_HOST_NUMBERS_H
