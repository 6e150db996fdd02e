//===- eider/contraction/pairs.cuh - Operands of a matrix product -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A warp's product of matrices takes pairs of 16-bit floats. Codes become those exactly, by shifts
// where their exponents are a bf16's but for the bias: no instruction converts them.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_PAIRS_CUH
#define EIDER_CONTRACTION_PAIRS_CUH

#include "eider/formats/codec.cuh"

namespace eider {

/// How many elements and scales weights have, those of a group.
template <class Tile, int64 length, int64 block_rows, int64 block_columns> struct WeightsOfGroup {
  static constexpr int64 elements = Tile::matrix_columns * length;
  static constexpr int64 scales = (Tile::matrix_columns + block_rows - 1) / block_rows *
                                  ((length + block_columns - 1) / block_columns);
};

/// Of a block of x: its scale is that of all rows.
inline constexpr int64 all_rows = 0;

/// Elements of T as pairs of bf16 or f16: as they are; a float as three bf16 whose sum it is.
template <class T> struct Pairs {
  using Half = T;
  static constexpr int terms = 1;

  template <int count>
  static EIDER_DEVICE void of(const Fragment<T, count> &values, uint32 (&pairs)[1][count / 2]) {
    EIDER_UNROLL
    for (int i = 0; i < count / 2; ++i)
      pairs[0][i] = values.words[i];
  }
};

template <> struct Pairs<float> {
  using Half = bf16;
  static constexpr int terms = 3;

  template <int count>
  static EIDER_DEVICE void of(const Fragment<float, count> &values, uint32 (&pairs)[3][count / 2]) {
    EIDER_UNROLL
    for (int i = 0; i < count / 2; ++i) {
      float low = values[2 * i], high = values[2 * i + 1];
      EIDER_UNROLL
      for (int term = 0; term < 3; ++term)
        pairs[term][i] = upper_half(low, term == 0) >> 16 | upper_half(high, term == 0);
    }
  }

private:
  /// The upper half of x as a bf16, cut off; what is left of x stays. The first of what is not 0 is
  /// not 0, so that infinite weights make no NaN of it.
  static EIDER_DEVICE uint32 upper_half(float &x, bool is_first) {
    const uint32 bits = arch::as_bits(x);
    uint32 upper = x == x ? bits & 0xffff0000u : 0x7fff0000u;
    if (is_first && x != 0.0f && (upper & 0x7fff0000u) == 0)
      upper |= 0x00010000u;
    const float rest = x - arch::as_float(upper);
    x = rest == rest ? rest : 0.0f; // of an infinity nothing is left
    return upper;
  }
};

/// Codes, as f16, which have each of them.
template <class T>
requires requires { Format<T>::bias; }
struct Pairs<T> {
  using Half = f16;
  static constexpr int terms = 1;
};

namespace detail {

/// Codes first … first + 3 of a fragment, from the lowest bit on; junk follows.
template <class T, int count>
EIDER_DEVICE uint32 codes_at(const Fragment<T, count> &codes, int first) {
  constexpr int per_word = Fragment<T, count>::per_word, bits = Fragment<T, count>::bits;
  return codes.words[first / per_word] >> first % per_word * bits;
}

inline constexpr uint32 both = 0x00010001u; ///< halves of a word

/// Two magnitudes where a bf16 has exponent and mantissa, with signs, as bf16: times a power of two
/// for the difference of the biases; exact.
template <class T> EIDER_DEVICE uint32 rebiased(uint32 magnitudes, uint32 signs) {
  constexpr uint32 factor = (127 + 127 - Format<T>::bias) << 7;
  return arch::multiply_bf16x2(magnitudes | (signs & 0x8000u * both), factor * both);
}

/// Two codes of four bits, in the low bits of the halves, as bf16.
template <class T> EIDER_DEVICE uint32 bf16_from_nibbles(uint32 halves) {
  constexpr int shift = 7 - Format<T>::mantissa_bits;
  return rebiased<T>(halves << shift & (0x7u << shift) * both, halves << 12);
}

/// The bits that make what it is of what shifting takes for finite, where the two low codes are.
template <class T> EIDER_DEVICE uint32 lost_of(uint32 codes) {
  if constexpr (requires { Format<T>::not_finite_of(codes); })
    return Format<T>::not_finite_of(codes);
  else
    return Format<T>::nans_of(codes);
}

/// Of two magnitudes that stand where bf16 have them: some bit, if one is not finite. From the
/// first such code on, the sum carries out of the magnitude.
template <class T> EIDER_DEVICE uint32 beyond_finite(uint32 magnitudes) {
  constexpr int shift = 7 - Format<T>::mantissa_bits;
  constexpr uint32 rest = ((0x80u - Format<T>::first_not_finite) << shift) * both;
  return (magnitudes + rest) & (0x80u << shift) * both;
}

/// Whether what is not finite is noted of magnitudes, or of the codes: where there are infinities,
/// or where one instruction notes four of them.
template <class T> constexpr EIDER_DEVICE bool notes_magnitudes() {
  if constexpr (requires { Format<T>::first_not_finite; })
    return arch::has_maximum_of_halves || Format<T>::first_not_finite != 0x7f;
  else
    return false;
}

/// Four codes of a byte each as bf16: in their order, or interleaved; `lost` notes what is not
/// finite.
template <bool interleaved, class T>
EIDER_DEVICE void bf16_from_bytes(uint32 codes, uint32 *pairs, uint32 &lost) {
  constexpr int shift = 1 + Format<T>::mantissa_bits;
  constexpr uint32 field = (0x7f00u >> shift) * both;
  // Two in the upper bytes of the halves, and two in the lower or in the upper of another word.
  const uint32 first = interleaved ? codes : arch::byte_permute(codes, 0, 0x1404);
  const uint32 second = interleaved ? codes << 8 : arch::byte_permute(codes, 0, 0x3424);
  const uint32 upper = first >> shift & field;
  const uint32 lower = (interleaved ? codes << (8 - shift) : second >> shift) & field;
  pairs[0] = rebiased<T>(upper, first);
  pairs[1] = rebiased<T>(lower, second);
  if constexpr (!notes_magnitudes<T>())
    lost |= Format<T>::nans_in(codes);
  else if constexpr (arch::has_maximum_of_halves)
    lost = arch::maximum_of_halves(lost, upper, lower);
  else
    lost |= beyond_finite<T>(upper) | beyond_finite<T>(lower);
}

/// Whether what bf16_from_bytes has noted of some codes says that one is not finite.
template <class T> EIDER_DEVICE bool is_lost(uint32 lost) {
  if constexpr (!notes_magnitudes<T>())
    return (lost & tops_of_bytes) != 0;
  else if constexpr (arch::has_maximum_of_halves)
    return beyond_finite<T>(lost) != 0;
  else
    return lost != 0;
}

} // namespace detail

/// Whether four neighbours become pairs of the second and fourth, the first and third: always, or
/// where that is `wanted`, which shifts alone do.
template <class T, class Half, CodecPath path, bool wanted>
inline constexpr bool is_interleaved =
    same<Half, bf16> ? packing<T> == 1 && wanted : Format<T>::template interleaves<path>;

/// Codes as pairs of bf16; NaN and infinities stay what they are.
template <CodecPath path, bool interleaved, class T, int count>
EIDER_DEVICE void pairs_of_codes(const Fragment<T, count> &codes, uint32 *pairs, bf16) {
  if constexpr (packing<T> == 2) {
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4) {
      const uint32 four = detail::codes_at(codes, i);
      pairs[i / 2] = detail::bf16_from_nibbles<T>((four & 0xfu) | (four & 0xf0u) << 12);
      pairs[i / 2 + 1] = detail::bf16_from_nibbles<T>((four >> 8 & 0xfu) | (four & 0xf000u) << 4);
    }
  } else {
    uint32 lost = 0;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4)
      detail::bf16_from_bytes<interleaved, T>(codes.words[i / 4], &pairs[i / 2], lost);
    if (arch::unlikely(detail::is_lost<T>(lost))) {
      EIDER_UNROLL
      for (int i = 0; i < count; i += 4) {
        const uint32 four = codes.words[i / 4];
        pairs[i / 2] |=
            detail::lost_of<T>(arch::byte_permute(four, 0, interleaved ? 0x4431 : 0x4410));
        pairs[i / 2 + 1] |=
            detail::lost_of<T>(arch::byte_permute(four, 0, interleaved ? 0x4420 : 0x4432));
      }
    }
  }
}

/// By how many powers of two f16 pairs that are `low` are below the values of their codes.
template <class T, CodecPath path> constexpr EIDER_DEVICE int lowered() {
  if constexpr (requires { Format<T>::template lowered<path>; })
    return Format<T>::template lowered<path>;
  else
    return 0;
}

/// Whether some code is a NaN that pairs would lose; its bits are among those of `lost`.
template <CodecPath path, class T, int count>
EIDER_DEVICE void note_lost(const Fragment<T, count> &codes, uint32 &lost) {
  if constexpr (Format<T>::template loses_nan<path>) {
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4)
      lost |= Format<T>::nans_in(detail::codes_at(codes, i));
  }
}

/// Codes as pairs of f16, as a codec has them on its way to floats; `low`: times a power of two
/// that saves a product; NaN are NaN unless nobody `mends` them, who knows that there are none.
template <CodecPath path, bool interleaved, bool low = false, bool mends = true, class T, int count>
EIDER_DEVICE void pairs_of_codes(const Fragment<T, count> &codes, uint32 *pairs, f16) {
  EIDER_UNROLL
  for (int i = 0; i < count; i += 4) {
    const uint32 four = detail::codes_at(codes, i);
    if constexpr (low && lowered<T, path>() != 0)
      Format<T>::template decode<path, true>(four, pairs[i / 2], pairs[i / 2 + 1]);
    else
      Format<T>::template decode<path>(four, pairs[i / 2], pairs[i / 2 + 1]);
  }
  uint32 lost = 0;
  if constexpr (mends)
    note_lost<path>(codes, lost);
  if constexpr (mends && Format<T>::template loses_nan<path>)
    if (arch::unlikely((lost & tops_of_bytes) != 0)) {
      EIDER_UNROLL
      for (int i = 0; i < count; i += 4) {
        const uint32 four = detail::codes_at(codes, i);
        pairs[i / 2] |=
            Format<T>::nans_of(arch::byte_permute(four, 0, interleaved ? 0x4431 : 0x4410));
        pairs[i / 2 + 1] |=
            Format<T>::nans_of(arch::byte_permute(four, 0, interleaved ? 0x4420 : 0x4432));
      }
    }
}

/// The pairs of four neighbours as such codes have them.
EIDER_DEVICE void interleave(uint32 *pairs) {
  const uint32 first = pairs[0], second = pairs[1];
  pairs[0] = arch::byte_permute(first, second, 0x7632);
  pairs[1] = arch::byte_permute(first, second, 0x5410);
}

EIDER_DEVICE void leave_interleaved(uint32 *pairs) {
  const uint32 first = pairs[0], second = pairs[1];
  pairs[0] = arch::byte_permute(second, first, 0x5410);
  pairs[1] = arch::byte_permute(second, first, 0x7632);
}

/// c + a · b of pairs of bf16 where W is that, else of f16.
template <class W>
EIDER_DEVICE void multiply_add_of(float *c, const uint32 *a, const uint32 *b, arch::Site at) {
  if constexpr (same<W, bf16>)
    arch::multiply_add_bf16(c, a, b, at);
  else
    arch::multiply_add_f16(c, a, b, at);
}

/// A scale of any type, as it is.
template <class S> EIDER_DEVICE float float_of_scale(S scale) {
  if constexpr (same<S, float>)
    return scale;
  else if constexpr (requires { Format<S>::bias; })
    return Codec<S, software>::decode(scale);
  else
    return to<float>(scale);
}

} // namespace eider

#endif // EIDER_CONTRACTION_PAIRS_CUH
