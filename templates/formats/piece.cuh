//===- eider/formats/piece.cuh - Elements on their way to codes -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_PIECE_CUH
#define EIDER_FORMATS_PIECE_CUH

#include "eider/fragment.cuh"

namespace eider {

/// How a codec works: by conversion instructions (sm_89 and up), or by float and integer arithmetic
/// (everywhere).
enum CodecPath { hardware, software };

/// What the codec knows of a format with storage type T:
///   mantissa_bits, bias, maximum   the layout and the largest finite value
///   has_instructions               whether the target converts it by instruction
///   has_signed_nan                 whether its NaN is of either sign
///   nan(sign), overflow(sign)      codes of NaN (of what stands for it), and of what is too large
///                                  when it does not saturate; the sign in the code's top bit
///   overflows(magnitude)           whether it rounds past the maximum
///   pack(magnitudes, signs)        four codes as they lie in memory, from a byte each: magnitudes,
///                                  whose top bits are junk, and in bit 7 the signs
///   decode<path>(codes, f, s)      the values of four such codes, from the lowest bit on, as two
///                                  words of two f16, exact
/// and where a GPU has instructions:
///   encode(a, b, c, d)             four codes, saturating
///   with_signs(codes, signs)       four codes with other signs, in bit 7 of each byte
template <class T> struct Format;

/// The random number that an element of a format is rounded by, of 16 bits; for codes of four bits
/// of 8, as many as pairs of f16 have below a code and half of the last.
template <class T> using Draw = choose<packing<T> == 2, uint8, uint16>;

/// Where `nans_in` says that four codes are NaN.
inline constexpr uint32 tops_of_bytes = 0x80808080u;

/// The first or the second two of four codes of a byte, sign-extended to halves.
template <int pair> EIDER_DEVICE uint32 extended(uint32 codes) {
  return arch::signed_permute(codes, 0, pair == 0 ? 0x9180 : 0xb3a2);
}

/// Two codes of one sign, four exponent and three mantissa bits, which halves have sign-extended,
/// as f16: seven bits to the left they are that, but for one bit of the sign's and for the bias,
/// for which two to `lowered` makes up; the product is exact, of subnormals too. `low`: without it.
template <int lowered, bool low> EIDER_DEVICE uint32 f16_from_four_exponent_bits(uint32 halves) {
  const uint32 pair = halves << 7 & 0xbf80bf80u;
  return low ? pair : arch::multiply_f16x2(pair, (15u + lowered) * 0x04000400u);
}

/// `size` elements that are encoded together: few enough for the registers. 1, 2, or a multiple
/// of 4.
template <class T, CodecPath path, int size> struct Piece {
  static constexpr int words = (size + 3) / 4;
  static constexpr int per_word = Fragment<T, size>::per_word, bits = Fragment<T, size>::bits;
  Fragment<float, size> values;
  uint32 signs[words]{}; ///< In bit 7 of each byte the sign of the code; other bits are junk.

  /// Takes elements first … of x as floats.
  template <class X, int count> EIDER_DEVICE void take(const Fragment<X, count> &x, int first) {
    EIDER_UNROLL
    for (int i = 0; i < size; ++i) {
      const int from = first + i;
      if constexpr (same<X, float>)
        values.fill(i, x[from]);
      else
        values.fill(i, from % 2 ? detail::high_half<X>(x.words[from / 2])
                                : detail::low_half<X>(x.words[from / 2]));
    }
  }

  /// Takes the magnitudes of elements first … of x, the largest float for infinity.
  template <class X, int count>
  EIDER_DEVICE void take_finite(const Fragment<X, count> &x, int first) {
    if constexpr (same<X, bf16> && size % 2 == 0) {
      Fragment<X, size> finite;
      EIDER_UNROLL
      for (int w = 0; w < size / 2; ++w)
        finite.words[w] = arch::minimum_bf16x2(x.words[first / 2 + w] & 0x7fff7fffu, 0x7f7f7f7fu);
      take(finite, 0);
    } else {
      take(x, first);
      EIDER_UNROLL
      for (int i = 0; i < size; ++i)
        values.fill(i, arch::minimum(arch::magnitude(values[i]), arch::as_float(0x7f7fffffu)));
    }
  }

  /// Takes the signs of elements first … of x.
  template <class X, int count>
  EIDER_DEVICE void take_signs(const Fragment<X, count> &x, int first) {
    EIDER_UNROLL
    for (int i = 0; i < size; i += 4) {
      const uint32 *word = &x.words[(first + i) / Fragment<X, count>::per_word];
      if constexpr (size % 4 != 0)
        signs[0] = sign_of(x, first) | (size == 2 ? sign_of(x, first + 1) << 8 : 0u);
      else if constexpr (same<X, float>)
        signs[i / 4] = arch::byte_permute(arch::byte_permute(word[0], word[1], 0x0073),
                                          arch::byte_permute(word[2], word[3], 0x0073), 0x5410);
      else
        signs[i / 4] = arch::byte_permute(word[0], word[1], 0x7531);
    }
  }

  /// Multiplies the values by a power of two, which turns the signs if it is negative.
  EIDER_DEVICE void rescale(float factor, bool is_negative) {
    EIDER_UNROLL
    for (int i = 0; i < size; ++i)
      values.fill(i, values[i] * factor);
    EIDER_UNROLL
    for (int w = 0; w < words; ++w)
      signs[w] ^= is_negative ? 0x80808080u : 0u;
  }

  /// Rounds the values and writes their codes to `codes` from `first` on. Signs are the given ones,
  /// or, by instruction, those of the values. `bounded`: no value rounds past the maximum.
  template <bool given_signs, bool bounded, int count>
  EIDER_DEVICE void write(Fragment<T, count> &codes, int first) const {
    if constexpr (path == software && bits == 4 && size % 8 == 0) {
      EIDER_UNROLL
      for (int i = 0; i < size; i += 8) {
        uint32 sum = 0;
        EIDER_UNROLL
        for (int j = 7; j >= 0; --j)
          sum = sum * 16 + Format<T>::code_over_2_to_23(bounded_magnitude<bounded>(values[i + j]));
        codes.words[(first + i) / 8] = Format<T>::eight_codes(sum, &signs[i / 4]);
      }
    } else {
      EIDER_UNROLL
      for (int i = 0; i < size; i += 4) {
        const auto value = [&](int j) { return j < size ? values[i + j] : 0.0f; };
        if constexpr (path == software)
          put(codes, first + i,
              Format<T>::pack(
                  low_bytes(magnitude_code<bounded>(value(0)), magnitude_code<bounded>(value(1)),
                            magnitude_code<bounded>(value(2)), magnitude_code<bounded>(value(3))),
                  signs[i / 4]));
        else if constexpr (given_signs)
          put(codes, first + i,
              Format<T>::with_signs(Format<T>::encode(value(0), value(1), value(2), value(3)),
                                    signs[i / 4]));
        else
          put(codes, first + i, Format<T>::encode(value(0), value(1), value(2), value(3)));
      }
    }
  }

  /// What `write_stochastic` takes values times: the f16 of a code of four bits then has that code
  /// behind its sign and three bits of 0, subnormals too.
  static constexpr float unit = bits == 4 ? 0x1p-15f * (1 << Format<T>::bias) : 1.0f;

  /// As `write` with given signs (the values' own of codes of four bits), but of values times
  /// `unit`, and rounds by random numbers. `bounded`: no value is eight last places or more beyond
  /// the maximum, from where on the numbers could carry, nor NaN. Gives whether one is NaN if it
  /// `sees_nan`.
  static constexpr bool sees_nan = bits == 4;
  template <bool bounded, int count, class Number>
  EIDER_DEVICE bool write_stochastic(Fragment<T, count> &codes, int first,
                                     const Fragment<Number, size> &random) const {
    if constexpr (bits == 4 && size % 8 == 0) {
      uint32 seen = 0;
      EIDER_UNROLL
      for (int i = 0; i < size; i += 8) {
        const Sums low = sums<bounded>(i, random.words[i / 4], seen),
                   high = sums<bounded>(i + 4, random.words[i / 4 + 1], seen);
        // Bytes of a sign, three zeros, a code, and a bit below it.
        const uint32 even = arch::byte_permute(low.even, high.even, 0x7531),
                     odd = arch::byte_permute(low.odd, high.odd, 0x7531);
        codes.words[(first + i) / 8] =
            arch::select_bits(0x0f0f0f0fu, even >> 4 | even >> 1, odd | odd << 3);
      }
      return !bounded && seen & 0x40004000u;
    } else if constexpr (bits == 4) {
      uint32 seen = 0;
      EIDER_UNROLL
      for (int i = 0; i < size; i += 4) {
        const Sums four = sums<bounded>(i, random.words[i / 4], seen);
        put(codes, first + i,
            Format<T>::pack(arch::select_bits(0x00ff00ffu, four.even >> 9, four.odd >> 1),
                            arch::select_bits(0x00ff00ffu, four.even >> 8, four.odd)));
      }
      return !bounded && seen & 0x40004000u;
    } else {
      const auto code = [&](int i) {
        return i < size ? stochastic_code<bounded>(values[i], random_of(random, i)) : 0u;
      };
      EIDER_UNROLL
      for (int i = 0; i < size; i += 4)
        put(codes, first + i,
            Format<T>::pack(top_bytes(code(i), code(i + 1), code(i + 2), code(i + 3)),
                            signs[i / 4]));
      return false;
    }
  }

  /// Writes the NaN code, with the given sign, where a value is NaN. Where NaN has a sign,
  /// instructions have written all but that; and the given signs are those of the other values,
  /// too.
  template <int count> EIDER_DEVICE void write_nans(Fragment<T, count> &codes, int first) const {
    EIDER_UNROLL
    for (int i = 0; i < size; ++i) {
      const int at = first + i, shift = at % per_word * bits;
      uint32 &word = codes.words[at / per_word];
      const uint32 sign = (signs[i / 4] >> i % 4 * 8 & 0x80u) >> (8 - bits);
      if constexpr (path == hardware && Format<T>::has_signed_nan)
        word |= sign << shift;
      else if (values[i] != values[i])
        word = arch::select_bits(((1u << bits) - 1) << shift, Format<T>::nan(sign) << shift, word);
    }
  }

private:
  /// Codes `at` … of a fragment: four of them, or the low ones.
  template <int count>
  static EIDER_DEVICE void put(Fragment<T, count> &codes, int at, uint32 word) {
    constexpr int width = (size < 4 ? size : 4) * bits;
    if constexpr (width == 32) {
      codes.words[at / per_word] = word;
    } else {
      constexpr uint32 mask = (1u << width) - 1;
      const int shift = at % per_word * bits;
      uint32 &into = codes.words[at / per_word];
      into = (into & ~(mask << shift)) | (word & mask) << shift;
    }
  }

  /// In bit 7 the sign of element i.
  template <class X, int count>
  static EIDER_DEVICE uint32 sign_of(const Fragment<X, count> &x, int i) {
    if constexpr (same<X, float>)
      return x.words[i] >> 24 & 0x80u;
    else
      return x.words[i / 2] >> (i % 2 * 16 + 8) & 0x80u;
  }

  /// |x|, the maximum at most unless the value is known to be `bounded`; of NaN something.
  template <bool bounded> static EIDER_DEVICE float bounded_magnitude(float x) {
    const float magnitude = arch::magnitude(x);
    return bounded ? magnitude : arch::minimum_number(magnitude, Format<T>::maximum);
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
    const float a = bounded_magnitude<bounded>(x);
    if constexpr (bits == 4) {
      return Format<T>::code_over_2_to_23(a);
    } else {
      // Of x itself, for its magnitude would be an instruction, where a sum takes it by the way.
      const uint32 own = arch::as_bits(bounded ? x : a) & 0x7f800000u;
      const uint32 exponent = own > least ? own : least;
      constexpr uint32 factor = static_cast<uint32>(127 + dropped) << 23 | rebias;
      const float sum = arch::fma(arch::as_float(exponent), arch::as_float(factor), a);
      return arch::as_bits(sum) + (exponent >> dropped);
    }
  }

  /// In its top byte the code of |x|, saturating unless the value is known to be `bounded`, rounded
  /// by `random`; NaN gives junk. Times the power of two that makes the format's least exponent a
  /// float's, a value's bits are codes and the places between them, those of subnormals too; the
  /// product cuts what is below all places. The sign leaves the word. The random bits, which stand
  /// in the middle of theirs, carry over a place; half of the last of them, which is below, stands
  /// for those that are not drawn.
  template <bool bounded> static EIDER_DEVICE uint32 stochastic_code(float x, uint32 random) {
    constexpr uint32 factor = static_cast<uint32>(Format<T>::bias) << 23; // 2^bias / 2^127
    const float a = bounded ? x : arch::minimum_number(arch::magnitude(x), Format<T>::maximum);
    const float places = arch::multiply_toward_zero(a, arch::as_float(factor));
    return (arch::as_bits(places) << (Format<T>::mantissa_bits + 1)) + random;
  }

  /// Of four elements, two and two: their f16, cut, and the random numbers, which carry into the
  /// codes, in bits 9 to 11 of each half, behind its sign. Half of a number's last bit stands below
  /// it for those that are not drawn. The f16 are added to `seen`, bit 14 of which only NaN has.
  struct Sums {
    uint32 even, odd;
  };
  template <bool bounded> EIDER_DEVICE Sums sums(int i, uint32 draws, uint32 &seen) const {
    constexpr uint32 numbers = 0x01fe01feu, halves = 0x00010001u, maxima = 7 * 0x02000200u;
    const auto places = [&](int j) {
      const uint32 pair =
          arch::f16x2_toward_zero(j < size ? values[j] : 0.0f, j + 2 < size ? values[j + 2] : 0.0f);
      const uint32 clamped = bounded ? pair : arch::clamp_f16x2(pair, maxima);
      seen |= clamped;
      return clamped;
    };
    return {places(i) + (draws << 1 & numbers) + halves,
            places(i + 1) + (draws >> 7 & numbers) + halves};
  }

  /// The 16 random bits of element i, and half of their last.
  static EIDER_DEVICE uint32 random_of(const Fragment<uint16, size> &random, int i) {
    return arch::byte_permute(random.words[i / 2], 0x80u, i % 2 ? 0x5324 : 0x5104);
  }
  static EIDER_DEVICE uint32 random_of(const Fragment<uint8, size> &random, int i) {
    return arch::byte_permute(random.words[i / 4], 0x80u, 0x5004 | i % 4 << 8 | (i + 1) % 4 << 4);
  }

  /// The top bytes of four words.
  static EIDER_DEVICE uint32 top_bytes(uint32 a, uint32 b, uint32 c, uint32 d) {
    return arch::byte_permute(arch::byte_permute(a, b, 0x0073), arch::byte_permute(c, d, 0x0073),
                              0x5410);
  }

  /// The low bytes of four words.
  static EIDER_DEVICE uint32 low_bytes(uint32 a, uint32 b, uint32 c, uint32 d) {
    return arch::byte_permute(arch::byte_permute(a, b, 0x0040), arch::byte_permute(c, d, 0x0040),
                              0x5410);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_PIECE_CUH
