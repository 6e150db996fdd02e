//===- eider/formats/codec.cuh - Floats to FP8 codes and back ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A format is a specialisation of `Format`, in a file of its own. The codec here serves them all,
// by the target's conversion instructions or by arithmetic that every target has: the same bits
// either way. Codes are handled four a word.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_CODEC_CUH
#define EIDER_FORMATS_CODEC_CUH

#include "eider/formats/quotient.cuh"
#include "eider/math.cuh"
#include "eider/reduce/tree.cuh"

namespace eider {

/// How a codec works: by conversion instructions (sm_89 and up), or by float and integer arithmetic
/// (everywhere).
enum CodecPath { hardware, software };

/// What the codec knows of an FP8 format with storage type T:
///   mantissa_bits, bias, maximum   the layout and the largest finite value
///   nan, overflow                  magnitude codes of NaN, and of what is too large when it does
///   not saturate overflows(magnitude)           whether it rounds past the maximum encode(a, b, c,
///   d)             four codes by instruction, saturating decode<path>(codes, f, s)      four
///   values as two words of two f16, exact
template <class T> struct Format;

template <class T, CodecPath path> struct Codec {
  static_assert(path == software || arch::has_fp8_conversions,
                "this target has no FP8 conversion instructions: use the software codec");

  //===-- Decode ----------------------------------------------------------===//

  /// The values of the codes, exact; NaN and infinities stay what they are.
  template <int count>
  static EIDER_DEVICE Fragment<float, count> decode(const Fragment<T, count> &codes) {
    Fragment<float, count> values;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4) {
      uint32 pairs[2];
      Format<T>::template decode<path>(codes.words[i / 4], pairs[0], pairs[1]);
      EIDER_UNROLL
      for (int j = 0; j < 4 && i + j < count; ++j)
        values.fill(i + j, j % 2 ? arch::float_from_high_f16(pairs[j / 2])
                                 : arch::float_from_low_f16(pairs[j / 2]));
    }
    return values;
  }
  static EIDER_DEVICE float decode(T code) { return decode(single(code))[0]; }

  //===-- Encode ----------------------------------------------------------===//

  /// Nearest even, saturating; NaN gives the NaN code. The sign is copied, that of a NaN and of
  /// what rounds to 0 too.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode(const Fragment<float, count> &values) {
    return assemble(values, signs_of(values), nans_of(values));
  }
  static EIDER_DEVICE T encode(float value) { return encode(single(value))[0]; }

  /// As `encode`, but NaN gives the largest finite value.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode_number(const Fragment<float, count> &values) {
    return assemble(min_number(abs(values), Format<T>::maximum), signs_of(values), {});
  }
  static EIDER_DEVICE T encode_number(float value) { return encode_number(single(value))[0]; }

  /// As `encode`, but what rounds past the largest finite value overflows as the format has it: to
  /// infinity, else to NaN.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode_overflow(const Fragment<float, count> &values) {
    Fragment<T, count> codes = encode(values);
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      const uint32 shift = i % 4 * 8;
      if (Format<T>::overflows(abs(values[i])))
        codes.words[i / 4] = (codes.words[i / 4] & ~(0x7fu << shift)) | Format<T>::overflow
                                                                            << shift;
    }
    return codes;
  }
  static EIDER_DEVICE T encode_overflow(float value) { return encode_overflow(single(value))[0]; }

  /// The code of the correctly rounded float x / scale: nearest even, saturating; NaN gives the NaN
  /// code. The sign is that of x, turned by a negative scale. x: float, bf16 or f16; scale: a float
  /// or a group fragment.
  template <class X, int count, Operand Scale>
  static EIDER_DEVICE Fragment<T, count> encode_quotient(const Fragment<X, count> &x,
                                                         const Scale &scale) {
    constexpr int each = count / extent<Scale>; // elements of a scale
    // Small pieces, so that few quotients are alive at once.
    constexpr int piece = each % 8 == 0 ? 8 : each % 4 == 0 ? 4 : each % 2 == 0 ? 2 : 1;
    static_assert(count % extent<Scale> == 0, "x and scale are of levels that do not go together");
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += each) {
      const float s = element<count>(scale, first);
      const Divisor divisor(is_unusual_scale(s) ? s * factor_for(s) : s);
      EIDER_UNROLL
      for (int i = first; i < first + each; i += piece)
        put(codes, i, quotient_codes(slice<piece>(x, i), s, divisor));
    }
    return codes;
  }
  template <class X>
  requires(!is_fragment<X>) static EIDER_DEVICE T encode_quotient(X x, float scale) {
    return encode_quotient(single(x), scale)[0];
  }

private:
  template <class X> static EIDER_DEVICE Fragment<X, 1> single(X x) {
    Fragment<X, 1> result{};
    result.fill(0, x);
    return result;
  }

  /// The codes of x / scale, for a few x of one scale; `divisor` is of the scale after its factor.
  template <class X, int count>
  static EIDER_DEVICE Fragment<T, count> quotient_codes(const Fragment<X, count> &x, float scale,
                                                        const Divisor &divisor) {
    Fragment<T, count> signs = signs_of(x);
    Fragment<float, count> values = to<float>(x);
    if (arch::unlikely(is_unusual_scale(scale))) {
      values = values * factor_for(scale);
      if (scale < 0.0f)
        signs = turned(signs);
    }
    auto quotients = map(values, [&](float v) { return divisor.quotient<!same<X, float>>(v); });
    Fragment<T, count> nans{};
    if (arch::unlikely(has_nan(quotients))) {
      quotients = map(quotients, values, [&](float q, float v) {
        return q == q ? q : divisor.quotient_of_specials(v);
      });
      nans = nans_of(quotients);
    }
    return assemble(quotients, signs, nans);
  }

  /// Magnitudes of the values, rounded; signs and NaN as given. Only arithmetic encoders need to be
  /// told where NaN is.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> assemble(const Fragment<float, count> &values,
                                                  const Fragment<T, count> &signs,
                                                  const Fragment<T, count> &nans) {
    Fragment<T, count> codes;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4) {
      const auto value = [&](int j) { return i + j < count ? values[i + j] : 0.0f; };
      uint32 four;
      if constexpr (path == hardware)
        four = Format<T>::encode(value(0), value(1), value(2), value(3));
      else
        four = low_bytes(magnitude_code(value(0)), magnitude_code(value(1)),
                         magnitude_code(value(2)), magnitude_code(value(3)));
      codes.words[i / 4] = arch::select_bits(0x80808080u, signs.words[i / 4], four);
      if constexpr (path == software)
        codes.words[i / 4] |= nans.words[i / 4];
    }
    return codes;
  }

  /// In its low seven bits the code of |x|, saturating; NaN saturates too. Adding a power of two
  /// makes the float adder round at the format's last mantissa bit: at a normal exponent that is
  /// 2^(23 - mantissa_bits) above the value's own, at the subnormals' it stays. The sum's low bits
  /// are then the code's but for the exponent, whose bias the power of two carries.
  static EIDER_DEVICE uint32 magnitude_code(float x) {
    constexpr int dropped = 23 - Format<T>::mantissa_bits;
    constexpr uint32 least = static_cast<uint32>(127 + 1 - Format<T>::bias) << 23;
    constexpr uint32 rebias =
        static_cast<uint32>(Format<T>::bias - 1 - 127) << Format<T>::mantissa_bits & 0x7fu;
    const float a = arch::minimum_number(abs(x), Format<T>::maximum);
    const uint32 own = arch::as_bits(a) & 0x7f800000u;
    const uint32 exponent = own > least ? own : least;
    const float sum = a + arch::as_float(exponent + (static_cast<uint32>(dropped) << 23 | rebias));
    return arch::as_bits(sum) + (exponent >> dropped);
  }

  /// The low bytes of four words.
  static EIDER_DEVICE uint32 low_bytes(uint32 a, uint32 b, uint32 c, uint32 d) {
    return arch::byte_permute(arch::byte_permute(a, b, 0x0040), arch::byte_permute(c, d, 0x0040),
                              0x5410);
  }

  /// The sign bit of each x where its code has it; the other bits are of no account.
  template <class X, int count>
  static EIDER_DEVICE Fragment<T, count> signs_of(const Fragment<X, count> &x) {
    constexpr int words = static_cast<int>(sizeof x.words / sizeof x.words[0]);
    Fragment<T, count> signs;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4) {
      constexpr int step = sizeof(X); // words for four elements
      const auto word = [&](int j) {
        return i / 4 * step + j < words ? x.words[i / 4 * step + j] : 0u;
      };
      if constexpr (step == 4)
        signs.words[i / 4] =
            arch::byte_permute(arch::byte_permute(word(0), word(1), 0x0073),
                               arch::byte_permute(word(2), word(3), 0x0073), 0x5410);
      else
        signs.words[i / 4] = arch::byte_permute(word(0), word(1), 0x7531);
    }
    return signs;
  }

  template <int count>
  static EIDER_DEVICE Fragment<T, count> turned(const Fragment<T, count> &signs) {
    Fragment<T, count> result;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4)
      result.words[i / 4] = signs.words[i / 4] ^ 0x80808080u;
    return result;
  }

  /// Whether a value is NaN: one addition each, for the sum of magnitudes is NaN then and only
  /// then.
  template <int count> static EIDER_DEVICE bool has_nan(const Fragment<float, count> &values) {
    const float sum =
        tree<count>([&](int i) { return abs(values[i]); }, [](float a, float b) { return a + b; });
    return sum != sum;
  }

  /// The NaN code where a value is NaN, else 0. Instructions see NaN themselves.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> nans_of(const Fragment<float, count> &values) {
    Fragment<T, count> nans{};
    if constexpr (path == software)
      if (arch::unlikely(has_nan(values))) {
        EIDER_UNROLL
        for (int i = 0; i < count; ++i)
          nans.words[i / 4] |= (values[i] == values[i] ? 0u : Format<T>::nan) << i % 4 * 8;
      }
    return nans;
  }
};

} // namespace eider

#endif // EIDER_FORMATS_CODEC_CUH
