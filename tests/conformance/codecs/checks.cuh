//===- checks.cuh - Codecs and arithmetic against the oracle ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A check looks at one input of its domain, a number of at most 32 bits, and gives how far off the
// result is: 0 where it is right, 1 where what must be exact is not, and for approximate functions
// the distance in floats. checks.def lists them with their domains and bounds. The same text runs
// on the host and on a GPU.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_CHECKS_CUH
#define EIDER_TESTS_CHECKS_CUH

#include "eider/formats/e2m1.cuh"
#include "eider/formats/e4m3.cuh"
#include "eider/formats/e4m3fnuz.cuh"
#include "eider/formats/e5m2.cuh"
#include "eider/formats/e5m2fnuz.cuh"
#include "eider/formats/e8m0.cuh"
#include "eider/reduce/operations.cuh"
#include "oracle.cuh"

namespace checks {

using namespace eider;

template <class T> EIDER_DEVICE constexpr oracle::Format format_of() {
  if constexpr (same<T, e4m3>)
    return {8, 3, 7, 0x7e, false, 0x7f};
  else if constexpr (same<T, e5m2>)
    return {8, 2, 15, 0x7b, true, 0x7f};
  else if constexpr (same<T, e4m3fnuz>)
    return {8, 3, 8, 0x7f, false, 0x80, true};
  else if constexpr (same<T, e5m2fnuz>)
    return {8, 2, 16, 0x7f, false, 0x80, true};
  else if constexpr (same<T, e2m1>)
    return {4, 1, 1, 7, false, 7, false, /*has_nan=*/false};
  else if constexpr (same<T, f16>)
    return {16, 10, 15, 0x7bff, true, 0x7fff};
  else
    return {16, 7, 127, 0x7f7f, true, 0x7fff};
}

/// Every encoder on the float with these bits.
template <class T, CodecPath path> EIDER_DEVICE uint32 encode(uint32 bits) {
  using C = Codec<T, path>;
  constexpr oracle::Format f = format_of<T>();
  const float x = arch::as_float(bits);
  const uint32 number = C::encode_number(x).bits;
  const Fragment<float, 1> single{{bits}};
  const uint32 number_overflow = C::encode_number_overflow(single)[0].bits;
  bool right = oracle::is_code_of(C::encode(x).bits, x, f, oracle::saturates) &&
               oracle::is_code_of(C::encode_overflow(x).bits, x, f, oracle::overflows);
  if (x == x) {
    right = right && oracle::is_code_of(number, x, f, oracle::saturates) &&
            oracle::is_code_of(number_overflow, x, f, oracle::overflows);
  } else {
    const uint32 most = (bits >> 31) << (f.bits - 1) | f.largest;
    right = right && number == most && number_overflow == most;
  }
  return !right;
}

/// Random numbers that are given, where a kernel draws them.
template <class Number, int count> struct GivenDraws {
  Fragment<Number, count> draws;
  template <class, int size> EIDER_DEVICE Fragment<Number, size> of(int) const {
    static_assert(size == count);
    return draws;
  }
};

/// A float and its random bits, at each place of so many, beside others or NaN.
template <class T, int size = 8> EIDER_DEVICE uint32 encode_stochastic(uint32 number) {
  const float x = arch::as_float(number * 0x9e3779b9u);
  constexpr uint32 bits = 8 * sizeof(Draw<T>), per_word = 32 / bits, most = (1u << bits) - 1;
  const uint32 place = number % size, random = number * 0x85ebca6bu >> (32 - bits);
  const float other = number / size % 2 ? arch::as_float(0x7fc00000u) : 1.0f;
  Fragment<float, size> values{};
  GivenDraws<Draw<T>, size> draws{};
  for (uint32 i = 0; i < size; ++i) {
    values.fill(i, i == place ? x : other);
    draws.draws.words[i / per_word] |= (i == place ? random : most - random) << i % per_word * bits;
  }
  const auto codes = Codec<T, software>::encode_stochastic(values, draws);
  constexpr oracle::Format f = format_of<T>();
  const uint32 code =
      codes.words[place * f.bits / 32] >> place * f.bits % 32 & ((1u << f.bits) - 1);
  if (x != x)
    return !oracle::is_code_of(code, x, f, oracle::saturates);
  const bool has_sign = !(f.unsigned_zero && f.magnitude(code) == 0);
  return f.sign(code) != (has_sign ? arch::as_bits(x) >> 31 : 0) ||
         !oracle::is_stochastic_magnitude_of(f.magnitude(code), x, random, f);
}

/// The same by numbers of 16 bits that bytes stand for.
template <class T> EIDER_DEVICE uint32 encode_stochastic_by_bytes(uint32 number) {
  const float x = arch::as_float(number * 0x9e3779b9u);
  const uint32 word = number * 0x85ebca6bu;
  Fragment<float, 4> values{};
  GivenDraws<uint16, 4> numbers{};
  for (uint32 i = 0; i < 4; ++i) {
    values.fill(i, x);
    const uint32 own = word >> i * 8 & 0xffu, next = word >> (i + 1) % 4 * 8 & 0xffu;
    numbers.draws.words[i / 2] |= (own << 8 | next) << i % 2 * 16;
  }
  using C = Codec<T, software>;
  return C::encode_stochastic(values, numbers).words[0] !=
         C::encode_stochastic(values, GivenDraws<uint8, 4>{{word}}).words[0];
}

/// A float at each place of a word or two, next to NaN.
template <class T, CodecPath path> EIDER_DEVICE uint32 encode_in_word(uint32 number) {
  const float x = arch::as_float(number * 0x9e3779b9u);
  const uint32 place = number % 8;
  Fragment<float, 8> all{};
  for (uint32 i = 0; i < 8; ++i)
    all.fill(i, i == place ? x : arch::as_float(0x7fc00000u));
  const auto codes = Codec<T, path>::encode(all);
  constexpr int bits = format_of<T>().bits;
  const uint32 code = codes.words[place * bits / 32] >> place * bits % 32 & ((1u << bits) - 1);
  return !oracle::is_code_of(code, x, format_of<T>(), oracle::saturates);
}

/// A code at each place of a word or two, next to another: number = place, other code, code.
template <class T, CodecPath path> EIDER_DEVICE uint32 decode(uint32 number) {
  constexpr uint32 mask = (1u << format_of<T>().bits) - 1;
  const uint32 code = number & mask, other = number >> 8 & mask, place = number >> 16;
  Fragment<T, 8> all{};
  for (uint32 i = 0; i < 8; ++i)
    all.fill(i, T{static_cast<unsigned char>(i == place ? code : other)});
  const float value = Codec<T, path>::decode(all)[place];
  return !oracle::is_value_of(value, code, format_of<T>());
}

/// bf16 or f16 from the float with these bits; NaN stays one, whatever its bits.
template <class T> EIDER_DEVICE uint32 narrow(uint32 bits) {
  const float x = arch::as_float(bits);
  const uint32 code = to<T>(x).bits;
  constexpr oracle::Format f = format_of<T>();
  return x != x ? f.magnitude(code) <= f.largest + 1
                : !oracle::is_code_of(code, x, f, oracle::overflows);
}

/// float from a bf16 or an f16, once and again, from either half of a word.
template <class T> EIDER_DEVICE uint32 widen(uint32 code) {
  const uint32 other = code ^ 0xffff;
  const Fragment<float, 2> again = widen_again(Fragment<T, 2>{{code | other << 16}});
  return !oracle::is_value_of(to<float>(T{static_cast<unsigned short>(code)}), code,
                              format_of<T>()) ||
         !oracle::is_value_of(again[0], code, format_of<T>()) ||
         !oracle::is_value_of(again[1], other, format_of<T>());
}

//===-- Powers of two -----------------------------------------------------===//

/// Whether p is 2^-127 … 2^127, and the e8m0 of p is that number.
EIDER_DEVICE bool is_e8m0(float p) {
  const e8m0 code = to<e8m0>(p);
  const int exponent = static_cast<int>(code.bits) - 127;
  const double value =
      exponent == -127 ? oracle::power_of_two(-126) / 2 : oracle::power_of_two(exponent);
  return code.bits != 0xff && p == value && arch::as_bits(to<float>(code)) == arch::as_bits(p);
}

/// The powers of two next to the float with these bits, without its sign.
EIDER_DEVICE uint32 power_of_two(uint32 bits) {
  const float x = arch::as_float(bits & 0x7fffffffu);
  const float below = power_of_two_below(x), above = power_of_two_above(x);
  if (x != x)
    return !(below != below && above != above && to<e8m0>(below).bits == 0xff &&
             to<float>(e8m0{0xff}) != to<float>(e8m0{0xff}));
  const double least = oracle::power_of_two(-126) / 2, most = oracle::power_of_two(127);
  const bool is_below = (below <= x || below == least) && (2.0 * below > x || below == most);
  const bool is_above = (above >= x || above == most) && (above / 2.0 < x || above == least);
  return !(is_e8m0(below) && is_e8m0(above) && is_below && is_above);
}

//===-- Quotients ---------------------------------------------------------===//

/// The sign of an operand, be it NaN.
template <class X> EIDER_DEVICE uint32 sign_of(X x) {
  if constexpr (same<X, float>)
    return arch::as_bits(x) >> 31;
  else
    return x.bits >> 15;
}

/// The code of x / scale, where / is the correctly rounded division. Its sign is that of x, turned
/// by a negative scale.
template <class T, CodecPath path, class X> EIDER_DEVICE uint32 divide(X x, float scale) {
  const uint32 code = Codec<T, path>::encode_quotient(x, scale).bits;
  const float quotient = to<float>(x) / scale;
  const uint32 sign = sign_of(x) ^ (scale == scale ? arch::as_bits(scale) >> 31 : 0u);
  return !oracle::is_code_of(code, quotient, sign, format_of<T>(), oracle::saturates);
}

/// The same for a scale that a quantisation makes of two elements, x and another.
template <class T, CodecPath path, class X> EIDER_DEVICE uint32 divide_bounded(X x, X other) {
  constexpr float maximum = eider::Format<T>::maximum;
  const float amax = arch::maximum_magnitude(to<float>(x), to<float>(other));
  const float ratio = amax / maximum;
  const float scale = ratio == 0.0f ? 1.0f : ratio;
  const uint32 code = Codec<T, path>::encode_bounded_quotient(x, scale).bits;
  const float quotient = to<float>(x) / scale;
  return !oracle::is_code_of(code, quotient, sign_of(x), format_of<T>(), oracle::saturates);
}

/// Every pair of bf16 or of f16: number = other, x.
template <class T, CodecPath path, class X> EIDER_DEVICE uint32 quantize_narrow(uint32 number) {
  return divide_bounded<T, path>(X{static_cast<unsigned short>(number & 0xffff)},
                                 X{static_cast<unsigned short>(number >> 16)});
}

/// Floats of a walk over all of them, each with an element up to 2^31 times as large.
template <class T, CodecPath path> EIDER_DEVICE uint32 quantize_float(uint32 number) {
  const uint32 mixed = (number ^ number >> 15) * 0x2c1b3c6du;
  const float x = arch::as_float(mixed ^ mixed >> 12);
  const float ratio = arch::as_float(0x3f800000u + ((number * 0x9e3779b9u) >> 4));
  return divide_bounded<T, path>(x, x * ratio);
}

/// A scale for each number: first the special ones, then a walk over all of float, one in 64 of
/// them negative.
EIDER_DEVICE float scale_of(uint32 number) {
  const uint32 specials[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
                             0x007fffff, 0x00800000, 0x0d7fffff, 0x0d800000, 0x71800000, 0x71800001,
                             0x7f7fffff, 0xbf800000, 0x3f800000, 0x80000001};
  if (number < 16)
    return arch::as_float(specials[number]);
  // Multiples of the golden ratio spread evenly over the 32 bits.
  return arch::as_float(number * 0x9e3779b9u & (number % 64 == 0 ? 0xffffffffu : 0x7fffffffu));
}

/// Every bf16 or f16, by 65536 scales: number = scale, operand.
template <class T, CodecPath path, class X> EIDER_DEVICE uint32 divide_narrow(uint32 number) {
  return divide<T, path>(X{static_cast<unsigned short>(number & 0xffff)}, scale_of(number >> 16));
}

/// The same among others in packed words, against what it gives alone.
template <class T, CodecPath path, class X> EIDER_DEVICE uint32 divide_packed(uint32 number) {
  const float scale = scale_of(number >> 16);
  const X x{static_cast<unsigned short>(number & 0xffff)};
  const X other{static_cast<unsigned short>(number * 0x9e3779b9u >> 16)};
  Fragment<X, 4> four{};
  four.fill(0, x), four.fill(1, other), four.fill(2, other), four.fill(3, x);
  const auto codes = Codec<T, path>::encode_quotient(four, scale);
  const auto alone = Codec<T, path>::encode_quotient(x, scale);
  return !(codes[0].bits == alone.bits && codes[3].bits == alone.bits);
}

/// By a scale that bounds the quotient, or by any.
template <class C, bool bounded, class Operand, class Scale>
EIDER_DEVICE auto quotient_code(const Operand &operand, const Scale &scale) {
  if constexpr (bounded)
    return C::encode_bounded_quotient(operand, scale);
  else
    return C::encode_quotient(operand, scale);
}

/// Elements that go in several pieces, of one scale and of four: each has the code that it has
/// alone. Those of a piece have an exponent together, which is rare where the number says so, and
/// the last piece another; `bounded`: their scale is what a quantisation makes of them.
template <class T, CodecPath path, bool bounded, class X>
EIDER_DEVICE uint32 divide_pieces(uint32 number) {
  using C = Codec<T, path>;
  constexpr int count = 64;
  const uint32 exponents[] = {(number * 0x9e3779b9u) >> 1 & 0x7f800000u,
                              (number * 0x85ebca6bu) >> 1 & 0x7f800000u};
  Fragment<X, count> x{};
  float amax = 0.0f;
  for (int i = 0; i < count; ++i) {
    const uint32 mixed = (number * count + i) * 0x2c1b3c6du;
    const X element =
        to<X>(arch::as_float(((mixed ^ mixed >> 12) & 0x807fffffu) | exponents[i / 48]));
    x.fill(i, element);
    amax = arch::maximum_magnitude(amax, to<float>(element));
  }
  const float ratio = amax / eider::Format<T>::maximum;
  const float scale = !bounded ? scale_of(number) : ratio == 0.0f ? 1.0f : ratio;
  Fragment<float, 4> scales{};
  for (int i = 0; i < 4; ++i)
    scales.fill(i, scale);
  const auto together = quotient_code<C, bounded>(x, scale),
             in_groups = quotient_code<C, bounded>(x, scales);
  bool right = true;
  for (int i = 0; i < count; ++i) {
    const auto alone = quotient_code<C, bounded>(x[i], scale).bits;
    right = right && together[i].bits == alone && in_groups[i].bits == alone;
  }
  return !right;
}

/// Every significand of the scale, by operands whose quotient lies at a midpoint of two codes or
/// next to one, where a quotient that is off by its last bit gives another code: number = code,
/// significand.
template <class T, CodecPath path> EIDER_DEVICE uint32 divide_at_midpoint(uint32 number) {
  const float scale = arch::as_float(0x3f800000u | (number & 0x7fffff));
  const uint32 code = number >> 23;
  constexpr oracle::Format f = format_of<T>();
  if (code > f.largest)
    return 0;
  const uint32 centre = arch::as_bits(static_cast<float>(oracle::upper_midpoint(code, f) * scale));
  uint32 wrong = 0;
  for (uint32 step = 0; step < 5; ++step)
    wrong |= divide<T, path>(arch::as_float(centre + step - 2), scale);
  return wrong;
}

/// Whether three operations give the quotient itself.
EIDER_DEVICE bool divides(float x, float scale) {
  return arch::as_bits(Divisor<3>(scale).quotient(x)) == arch::as_bits(x / scale);
}

/// Every significand of the scale by each of half of f16's, which are bf16's, too: number =
/// operand, scale.
template <int first> EIDER_DEVICE uint32 divide_narrow_exactly(uint32 number) {
  const float scale = arch::as_float(0x3f800000u | (number & 0x7fffff));
  return !divides(arch::as_float(0x3f800000u | first << 22 | (number >> 23) << 13), scale);
}

/// Every significand of the scale by all floats whose quotient is nearest to the middle of two: of
/// significands x, s and odd middles m, x · 2^digits = m · s + rest, of few rests. number = digits,
/// rest, scale. Three operations may be off where a rest is below 3: up to 8 are walked.
EIDER_DEVICE uint32 divide_float_exactly(uint32 number) {
  const uint64 s = 1u << 23 | (number & 0x7fffff);
  const int step = static_cast<int>(number >> 23 & 15),
            digits = 24 + static_cast<int>(number >> 27);
  const int64 rest = step < 8 ? step - 8 : step - 7;
  int zeros = 0;
  while (!(s >> zeros & 1))
    ++zeros;
  if (zeros > 3 || rest & ((1 << zeros) - 1))
    return 0; // no middle has it
  uint64 inverse = s >> zeros;
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - (s >> zeros) * inverse; // modulo 2^64
  const uint64 period = uint64{1} << (digits - zeros);
  bool right = true;
  for (uint64 m = static_cast<uint64>(-(rest >> zeros)) * inverse % period; m < 1u << 25;
       m += period) {
    const uint64 x = (m * s + static_cast<uint64>(rest)) >> digits;
    if (m % 2 == 1 && m >> 24 && x >> 23 == 1 && (digits == 24) == (x >= s))
      right = right && divides(static_cast<float>(x), static_cast<float>(s));
  }
  return !right;
}

/// Codes of quotients by the walk over scales, against those of the division's.
template <class T, class X> EIDER_DEVICE uint32 divide_stochastic(uint32 number) {
  using C = Codec<T, software>;
  const float scale = scale_of(number >> 16);
  Fragment<X, 4> x{};
  for (int i = 0; i < 4; ++i)
    if constexpr (same<X, float>)
      x.fill(i, arch::as_float((number ^ number >> 13) * 0x2c1b3c6du + i * 0x3779b9u));
    else
      x.fill(i, X{static_cast<unsigned short>(number + i * 0x79b9u)});
  const GivenDraws<uint8, 4> draws{{number * 0x9e3779b9u}};
  const auto codes = C::encode_quotient_stochastic(x, scale, draws);
  const auto quotients = to<float>(x) / scale;
  const auto expected = C::encode_stochastic(quotients, draws);
  bool right = true;
  for (int i = 0; i < 4; ++i) {
    constexpr oracle::Format f = format_of<T>();
    const uint32 code = codes[i].bits;
    const bool is_nan = quotients[i] != quotients[i];
    const uint32 sign = sign_of(x[i]) ^ (scale == scale ? arch::as_bits(scale) >> 31 : 0u);
    right = right && (is_nan ? oracle::is_code_of(code, quotients[i], sign, f, oracle::saturates)
                             : code == expected[i].bits);
  }
  return !right;
}

/// The same for scales that a quantisation makes of their elements, by division or, some a little
/// smaller, by a product: number = other, x.
template <class T, class X> EIDER_DEVICE uint32 quantize_stochastic(uint32 number) {
  using C = Codec<T, software>;
  constexpr float maximum = eider::Format<T>::maximum;
  Fragment<X, 4> x{};
  for (int i = 0; i < 4; ++i)
    x.fill(i, X{static_cast<unsigned short>(number >> i % 2 * 16 ^ i / 2 << 15)});
  const float amax = arch::maximum_magnitude(to<float>(x[0]), to<float>(x[1]));
  const float ratio = number * 0x85ebca6bu >> 31 ? amax * (1.0f / maximum) : amax / maximum;
  const float scale = ratio == 0.0f ? 1.0f : ratio;
  const GivenDraws<uint8, 4> draws{{number * 0x9e3779b9u}};
  const auto codes = C::encode_bounded_quotient_stochastic(x, scale, draws);
  const auto expected = C::encode_quotient_stochastic(x, scale, draws);
  bool right = true;
  for (int i = 0; i < 4; ++i)
    right = right && codes[i].bits == expected[i].bits;
  return !right;
}

/// Random numbers of elements, however many are asked for together.
struct WalkedDraws {
  uint32 seed;
  template <class Number, int size> EIDER_DEVICE Fragment<Number, size> of(int first) const {
    Fragment<Number, size> draws{};
    constexpr int bits = 8 * sizeof(Number), per_word = 32 / bits;
    for (int i = 0; i < size; ++i) {
      const uint32 number = (seed + static_cast<uint32>(first + i)) * 0x27d4eb2fu >> (32 - bits);
      draws.words[i / per_word] |= number << i % per_word * bits;
    }
    return draws;
  }
};

/// Codes of elements whose largest magnitude is known, of so many groups, against those where it is
/// not. Some elements are rare; the scale is what a quantisation makes of them, rounded down or up
/// by as much as a number says, or far smaller; of an infinite magnitude some are finite.
template <class T, CodecPath path, class X, int groups> EIDER_DEVICE uint32 within(uint32 number) {
  using C = Codec<T, path>;
  constexpr int count = 32, each = count / groups;
  const uint32 mixed = (number ^ number >> 15) * 0x2c1b3c6du, rare = mixed >> 24;
  const float specials[] = {arch::as_float(0x7fc00000u), arch::as_float(0xffc00000u),
                            arch::as_float(0x7f800000u), arch::as_float(0xff800000u)};
  Fragment<X, count> x{};
  Fragment<float, groups> largest{}, of_values{}, scales{};
  for (int i = 0; i < count; ++i) {
    const uint32 bits = (number * count + i) * 0x9e3779b9u;
    const uint32 lowest = rare == 10 ? 240 : 100 + mixed % 50;
    const uint32 exponent = (lowest << 23) + (bits >> 8 & 0x3000000u);
    const bool is_rare = rare < 8 && i == static_cast<int>(mixed % count);
    const float value =
        is_rare ? specials[rare % 4] : arch::as_float(exponent | (bits & 0x807fffffu));
    x.fill(i, to<X>(rare == 9 ? 0.0f : value));
    largest.fill(i / each, arch::maximum_magnitude(largest[i / each], to<float>(x[i])));
  }
  for (int g = 0; g < groups; ++g) {
    const bool is_number = largest[g] == largest[g];
    const float ratio = largest[g] / eider::Format<T>::maximum;
    const float factor = arch::as_float(0x3f000000u + (number * 0x85ebca6bu >> 8));
    const float finite = rare % 3 == 0 ? 256.0f : 448.0f, tiny = 0x1p-58f * factor;
    const float scale = rare == 10                              ? tiny
                        : rare % 8 < 6 && largest[g] > 0x1p127f ? finite
                                                                : ratio * factor;
    scales.fill(g, scale == 0.0f ? 1.0f : is_number ? scale : ratio);
    of_values.fill(g, is_number || rare < 4 ? largest[g] : specials[2]);
  }
  const auto values = to<float>(x);
  const WalkedDraws draws{number * 0x85ebca6bu};
  const auto any = C::encode(values), any_quotient = C::encode_quotient(x, scales);
  const auto known = C::encode(values, of_values), bounded = C::encode_bounded(values, of_values),
             quotient = C::encode_quotient(x, scales, largest),
             bounded_quotient = C::encode_bounded_quotient(x, scales, largest);
  bool right = true;
  for (int i = 0; i < count; ++i)
    right = right && any[i].bits == known[i].bits && any[i].bits == bounded[i].bits &&
            any_quotient[i].bits == quotient[i].bits &&
            any_quotient[i].bits == bounded_quotient[i].bits;
  if constexpr (path == software) {
    const auto drawn = C::encode_stochastic(values, draws),
               drawn_quotient = C::encode_quotient_stochastic(x, scales, draws),
               known_drawn = C::encode_stochastic(values, of_values, draws),
               known_quotient = C::encode_quotient_stochastic(x, scales, largest, draws);
    for (int i = 0; i < count; ++i)
      right = right && drawn[i].bits == known_drawn[i].bits &&
              drawn_quotient[i].bits == known_quotient[i].bits;
  }
  if constexpr (groups == 1) { // of all, as floats
    const auto flat = C::encode_bounded(values, of_values[0]),
               flat_quotient = C::encode_bounded_quotient(x, scales[0], largest[0]);
    for (int i = 0; i < count; ++i)
      right = right && any[i].bits == flat[i].bits && any_quotient[i].bits == flat_quotient[i].bits;
  }
  return !right;
}

/// A walk over all floats, by the walk over scales.
template <class T, CodecPath path> EIDER_DEVICE uint32 divide_float(uint32 number) {
  const uint32 mixed = (number ^ number >> 15) * 0x2c1b3c6du;
  return divide<T, path>(arch::as_float(mixed ^ mixed >> 12), scale_of(number * 0x85ebca6bu >> 8));
}

/// The two reciprocals, against the division.
EIDER_DEVICE uint32 invert(uint32 bits) {
  const float x = arch::as_float(bits), inverse = 1.0f / x;
  const float exact = eider::rcp(x);
  const bool right = x != x ? exact != exact : arch::as_bits(exact) == arch::as_bits(inverse);
  const bool is_normal = arch::magnitude(x) >= 0x1p-126f && arch::magnitude(x) <= 0x1p126f;
  return !(right && (!is_normal || arch::rcp_of_normal(x) == inverse));
}

/// The division by a whole number.
template <int count> EIDER_DEVICE uint32 divide_by(uint32 bits) {
  const float x = arch::as_float(bits);
  const float quotient = eider::divide_by_count(x, static_cast<float>(count)),
              exact = x / static_cast<float>(count);
  return x != x ? quotient == quotient : arch::as_bits(quotient) != arch::as_bits(exact);
}

//===-- Approximate functions ---------------------------------------------===//

/// How many floats `result` is from the float nearest to `exact`.
EIDER_DEVICE uint32 distance(float result, double exact) {
  const float nearest = static_cast<float>(exact);
  if (result != result || nearest != nearest)
    return (result != result) == (nearest != nearest) ? 0 : 0xffffffffu;
  const auto order = [](float x) { // consecutive integers for consecutive floats
    const uint32 bits = arch::as_bits(x);
    return bits >> 31 ? 0x80000000u - (bits & 0x7fffffffu) : 0x80000000u + bits;
  };
  const uint32 a = order(result), b = order(nearest);
  return a > b ? a - b : b - a;
}

/// What of a distance is left without what is allowed at this operand.
EIDER_DEVICE uint32 beyond(uint32 distance, float allowed) {
  const float rest = static_cast<float>(distance) - (allowed > 0.0f ? allowed : 0.0f);
  return rest > 0.0f ? static_cast<uint32>(rest) : 0;
}

EIDER_DEVICE uint32 rsqrt(uint32 bits) {
  const float x = arch::as_float(bits);
  return distance(eider::rsqrt(x), 1.0 / ::sqrt(static_cast<double>(x)));
}
EIDER_DEVICE uint32 exp(uint32 bits) {
  const float x = arch::as_float(bits);
  return distance(eider::exp(x), ::exp(static_cast<double>(x)));
}
EIDER_DEVICE uint32 exp2(uint32 bits) {
  const float x = arch::as_float(bits);
  const float result = eider::exp2(x);
  return x < -126.0f && result == 0.0f ? 0 : distance(result, ::exp2(static_cast<double>(x)));
}
EIDER_DEVICE uint32 log(uint32 bits) {
  const float x = arch::as_float(bits);
  return distance(eider::log(x), ::log(static_cast<double>(x)));
}
EIDER_DEVICE uint32 tanh(uint32 bits) {
  const float x = arch::as_float(bits);
  return distance(eider::tanh(x), ::tanh(static_cast<double>(x)));
}
EIDER_DEVICE uint32 erf(uint32 bits) {
  const float x = arch::as_float(bits);
  return distance(eider::erf(x), ::erf(static_cast<double>(x)));
}
EIDER_DEVICE uint32 sigmoid(uint32 bits) {
  const float x = arch::as_float(bits), result = eider::sigmoid(x);
  const double exact = 1.0 / (1.0 + ::exp(-static_cast<double>(x)));
  return x < -87.0f && result == 0.0f ? 0 : beyond(distance(result, exact), -1.25f * x);
}
EIDER_DEVICE uint32 gelu(uint32 bits) {
  const float x = arch::as_float(bits), result = eider::gelu(x);
  const double finite = x < -0x1p100f ? -0x1p100 : static_cast<double>(x);
  const double exact = finite / 2 * ::erfc(-finite * 0.70710678118654752440);
  const bool vanishes = x < -12.9f && arch::as_bits(result) == 0x80000000u;
  const float below = x < -14.0f ? 14.0f : x < 0.0f ? -x : 0.0f, cubed = below * below * below;
  return vanishes ? 0 : beyond(distance(result, exact), 0.6f * cubed * cubed);
}
/// The square root must be the nearest.
EIDER_DEVICE uint32 sqrt(uint32 bits) {
  const float x = arch::as_float(bits);
  return distance(eider::sqrt(x), ::sqrt(static_cast<double>(x)));
}

/// The largest of some products against each of them: all signs, zeros, what overflows and what
/// underflows, infinities and NaN among elements and factors.
template <class T> EIDER_DEVICE uint32 largest_product(uint32 number) {
  constexpr int count = 8;
  const uint32 mixed = (number ^ number >> 15) * 0x2c1b3c6du, rare = mixed >> 28;
  const uint32 specials[] = {0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 1, 0x7f7fffffu};
  const float factor = arch::as_float(rare < 7 ? specials[rare] : mixed * 0x9e3779b9u);
  Fragment<T, count> x{};
  float most = arch::as_float(0xff800000u);
  bool has_nan = false;
  for (int i = 0; i < count; ++i) {
    const uint32 bits = (number * count + i) * 0x9e3779b9u, kind = bits >> 4 & 0x3f;
    const uint32 near = (bits & 0x807fffffu) + (127u << 23); // 1 to 2, of one sign or both
    const uint32 signs = mixed % 3 == 0 ? 0x7fffffffu : mixed % 3 == 1 ? 0xffffffffu : 0;
    x.fill(i, to<T>(arch::as_float(kind < 3 && mixed % 5 == 0 ? specials[kind + mixed % 4]
                                   : signs                    ? near & signs
                                                              : near | 0x80000000u)));
    const float product = to<float>(x[i]) * factor;
    has_nan |= product != product;
    const bool is_zero_above = product == most && !(arch::as_bits(product) >> 31);
    most = product > most || is_zero_above ? product : most;
  }
  const float found = eider::largest_product(x, factor);
  return has_nan ? found == found : arch::as_bits(found) != arch::as_bits(most);
}

} // namespace checks

#endif // EIDER_TESTS_CHECKS_CUH
