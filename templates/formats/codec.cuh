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

namespace eider {

/// How a codec works: by conversion instructions (sm_89 and up), or by float and integer arithmetic
/// (everywhere).
enum CodecPath { hardware, software };

/// What the codec knows of an FP8 format with storage type T:
///   mantissa_bits, bias, maximum   the layout and the largest finite value
///   nan, overflow                  magnitude codes of NaN, and of what is too large when it does
///                                  not saturate
///   overflows(magnitude)           whether it rounds past the maximum
///   encode(a, b, c, d)             four codes by instruction, saturating
///   decode<path>(codes, f, s)      four values as two words of two f16, exact
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
    constexpr int piece = piece_of(count);
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += piece) {
      Piece<piece> p;
      float sum = 0.0f;
      EIDER_UNROLL
      for (int i = 0; i < piece; ++i) {
        p.values[i] = values[first + i];
        sum += arch::magnitude(p.values[i]);
      }
      p.take_signs(values, first);
      if (path == software && arch::unlikely(sum != sum))
        p.note_nans(values, first, false);
      p.template write<true, false>(codes, first);
    }
    return codes;
  }
  static EIDER_DEVICE T encode(float value) { return encode(single(value))[0]; }

  /// As `encode`, but NaN gives the largest finite value.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode_number(const Fragment<float, count> &values) {
    return encode(map(values, [](float x) {
      const float most = Format<T>::maximum;
      return x == x ? x : arch::as_bits(x) >> 31 ? -most : most;
    }));
  }
  static EIDER_DEVICE T encode_number(float value) { return encode_number(single(value))[0]; }

  /// As `encode`, but what rounds past the largest finite value overflows as the format has it: to
  /// infinity, else to NaN.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode_overflow(const Fragment<float, count> &values) {
    Fragment<T, count> codes = encode(values);
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      const uint32 at = i % 4 * 8, here = 0x7fu << at;
      if (Format<T>::overflows(arch::magnitude(values[i])))
        codes.words[i / 4] = arch::select_bits(here, Format<T>::overflow << at, codes.words[i / 4]);
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
    return divide<false>(x, scale);
  }
  template <class X>
  requires(!is_fragment<X>) static EIDER_DEVICE T encode_quotient(X x, float scale) {
    return encode_quotient(single(x), scale)[0];
  }

  /// The same where the scale is at least amax / maximum of its elements, and NaN or Inf with one
  /// of them, as the scale of a quantisation is: no quotient by a usual scale needs a clamp then,
  /// and none is NaN.
  template <class X, int count, Operand Scale>
  static EIDER_DEVICE Fragment<T, count> encode_bounded_quotient(const Fragment<X, count> &x,
                                                                 const Scale &scale) {
    return divide<true>(x, scale);
  }
  template <class X>
  requires(!is_fragment<X>) static EIDER_DEVICE T encode_bounded_quotient(X x, float scale) {
    return encode_bounded_quotient(single(x), scale)[0];
  }

private:
  template <class X> static EIDER_DEVICE Fragment<X, 1> single(X x) {
    Fragment<X, 1> result{};
    result.fill(0, x);
    return result;
  }

  /// Of `count` elements so many are encoded at a time: few enough for the registers.
  static constexpr EIDER_DEVICE int piece_of(int count) {
    return count % 16 == 0 ? 16 : count % 8 == 0 ? 8 : count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
  }

  /// Elements on their way to codes.
  template <int size> struct Piece {
    static constexpr int words = (size + 3) / 4;
    float values[size];
    uint32 signs[words];  ///< The sign bit of a code where it belongs; the other bits are junk.
    uint32 nans[words]{}; ///< The code where it is NaN, else 0.

    /// The signs of elements first … of x.
    template <class X, int count>
    EIDER_DEVICE void take_signs(const Fragment<X, count> &x, int first) {
      EIDER_UNROLL
      for (int i = 0; i < size; i += 4) {
        const auto word = [&](int j) { // of x, with the elements i …
          return size % 4 == 0 ? x.words[(first + i) * static_cast<int>(sizeof(X)) / 4 + j] : 0u;
        };
        if constexpr (size % 4 != 0)
          signs[0] = sign_of(x, first) | (size == 2 ? sign_of(x, first + 1) << 8 : 0u);
        else if constexpr (sizeof(X) == 4)
          signs[i / 4] = arch::byte_permute(arch::byte_permute(word(0), word(1), 0x0073),
                                            arch::byte_permute(word(2), word(3), 0x0073), 0x5410);
        else
          signs[i / 4] = arch::byte_permute(word(0), word(1), 0x7531);
      }
    }

    /// Notes which values are NaN, with the sign of x, turned for a negative scale.
    template <class X, int count>
    EIDER_DEVICE void note_nans(const Fragment<X, count> &x, int first, bool is_negative) {
      EIDER_UNROLL
      for (int i = 0; i < size; ++i) {
        const uint32 sign = sign_of(x, first + i) ^ (is_negative ? 0x80u : 0u);
        nans[i / 4] |= (values[i] == values[i] ? 0u : Format<T>::nan | sign) << i % 4 * 8;
      }
    }

    /// Rounds the values and writes their codes to `codes` from `first` on, which were 0. Signs are
    /// those noted, or of the values where these have them right and the encoder keeps them.
    template <bool noted_signs, bool bounded, int count>
    EIDER_DEVICE void write(Fragment<T, count> &codes, int first) const {
      EIDER_UNROLL
      for (int i = 0; i < size; i += 4) {
        const auto value = [&](int j) { return j < size ? values[i + j] : 0.0f; };
        uint32 word;
        if constexpr (path == hardware)
          word = Format<T>::encode(value(0), value(1), value(2), value(3));
        else
          word = low_bytes(magnitude_code<bounded>(value(0)), magnitude_code<bounded>(value(1)),
                           magnitude_code<bounded>(value(2)), magnitude_code<bounded>(value(3)));
        if constexpr (noted_signs || path == software)
          word = arch::select_bits(0x80808080u, signs[i / 4], word);
        word |= nans[i / 4];
        if constexpr (size % 4 == 0)
          codes.words[(first + i) / 4] = word;
        else
          codes.words[first / 4] |= (word & (size == 2 ? 0xffffu : 0xffu)) << first % 4 * 8;
      }
    }
  };

  /// Bit 7: the sign of element i.
  template <class X, int count>
  static EIDER_DEVICE uint32 sign_of(const Fragment<X, count> &x, int i) {
    if constexpr (same<X, float>)
      return x.words[i] >> 24 & 0x80u;
    else
      return x.words[i / 2] >> (i % 2 * 16 + 8) & 0x80u;
  }

  template <bool bounded, class X, int count, Operand Scale>
  static EIDER_DEVICE Fragment<T, count> divide(const Fragment<X, count> &x, const Scale &scale) {
    static_assert(count % extent<Scale> == 0, "x and scale are of levels that do not go together");
    constexpr int piece = piece_of(count / extent<Scale>); // all of one scale
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += piece)
      divide_piece<bounded, piece>(x, first, element<count>(scale, first), codes);
    return codes;
  }

  /// The codes of elements first … of x by the scale.
  template <bool bounded, int piece, class X, int count>
  static EIDER_DEVICE void divide_piece(const Fragment<X, count> &x, int first, float scale,
                                        Fragment<T, count> &codes) {
    constexpr bool narrow = !same<X, float>;
    Piece<piece> p;
    EIDER_UNROLL
    for (int i = 0; i < piece; ++i)
      p.values[i] = float_of(x, first + i);
    p.take_signs(x, first);

    const bool is_unusual = is_unusual_scale(scale), is_negative = has_minus(scale);
    if (arch::unlikely(is_unusual)) {
      const Rescaling rescaling(scale);
      scale = rescaling.scale;
      EIDER_UNROLL
      for (int i = 0; i < piece; ++i)
        p.values[i] *= rescaling.factor;
      if constexpr (bounded && path == software) {
        // Rounding a tiny scale may have lost the bound, by less than a factor of two.
        const float most = Format<T>::maximum * scale;
        EIDER_UNROLL
        for (int i = 0; i < piece; ++i)
          p.values[i] = arch::maximum(arch::minimum(p.values[i], most), -most);
      }
      EIDER_UNROLL
      for (int i = 0; i < piece; i += 4)
        p.signs[i / 4] ^= is_negative ? 0x80808080u : 0u;
    }

    const Divisor<narrow> divisor(scale);
    Piece<piece> q = p;
    float sum = 0.0f; // of magnitudes: NaN if one is
    EIDER_UNROLL
    for (int i = 0; i < piece; ++i) {
      q.values[i] = divisor.quotient(p.values[i]);
      sum += arch::magnitude(q.values[i]);
    }
    if (!bounded && arch::unlikely(sum != sum)) {
      const float reciprocal = arch::approximate_rcp(scale);
      EIDER_UNROLL
      for (int i = 0; i < piece; ++i) // an infinite quotient, or NaN indeed
        q.values[i] = q.values[i] == q.values[i] ? q.values[i] : p.values[i] * reciprocal;
    }
    // Instructions know NaN; but its sign they drop.
    if constexpr (path == software || !narrow)
      if (arch::unlikely(bounded ? is_unusual : sum != sum))
        q.note_nans(x, first, is_negative);
    q.template write<narrow, bounded>(codes, first);
  }

  /// Element i as a float.
  template <class X, int count>
  static EIDER_DEVICE float float_of(const Fragment<X, count> &x, int i) {
    if constexpr (same<X, float>)
      return x[i];
    else
      return i % 2 ? detail::high_half<X>(x.words[i / 2]) : detail::low_half<X>(x.words[i / 2]);
  }

  /// In its low seven bits the code of |x|, saturating unless the value is known to be `bounded`;
  /// NaN gives junk. Adding a power of two makes the float adder round at the format's last
  /// mantissa bit: at a normal exponent that is 2^(23 - mantissa_bits) above the value's own, at
  /// the subnormals' it stays. The sum's low bits are then the code's but for the exponent, whose
  /// bias the power of two carries.
  template <bool bounded> static EIDER_DEVICE uint32 magnitude_code(float x) {
    constexpr int dropped = 23 - Format<T>::mantissa_bits;
    constexpr uint32 least = static_cast<uint32>(127 + 1 - Format<T>::bias) << 23;
    constexpr uint32 rebias =
        static_cast<uint32>(Format<T>::bias - 1 - 127) << Format<T>::mantissa_bits & 0x7fu;
    const float magnitude = arch::magnitude(x);
    const float a = bounded ? magnitude : arch::minimum_number(magnitude, Format<T>::maximum);
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
};

} // namespace eider

#endif // EIDER_FORMATS_CODEC_CUH
