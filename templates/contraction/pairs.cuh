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

/// Two halves with sign, and magnitude where a bf16 has exponent and mantissa, as bf16: times a
/// power of two for the difference of the biases; exact.
template <class T> EIDER_DEVICE uint32 rebiased(uint32 halves) {
  constexpr uint32 factor = (127 + 127 - Format<T>::bias) << 7;
  return arch::multiply_bf16x2(halves, factor * both);
}

/// Two codes of four bits, in the low bits of the halves, as bf16.
template <class T> EIDER_DEVICE uint32 bf16_from_nibbles(uint32 halves) {
  constexpr int shift = 7 - Format<T>::mantissa_bits;
  return rebiased<T>((halves << shift & (0x7u << shift) * both) | (halves << 12 & 0x8000u * both));
}

/// Two codes of a byte, sign-extended to halves, as bf16.
template <class T> EIDER_DEVICE uint32 bf16_from_bytes(uint32 halves) {
  constexpr int shift = 7 - Format<T>::mantissa_bits;
  return rebiased<T>(halves << shift & (0x8000u | 0x7fu << shift) * both);
}

/// Whether some of four codes are what shifting takes for finite, in the top bits of the bytes;
/// others are junk.
template <class T> EIDER_DEVICE uint32 lost_in(uint32 codes) {
  if constexpr (requires { Format<T>::not_finite_in(codes); })
    return Format<T>::not_finite_in(codes);
  else
    return Format<T>::nans_in(codes);
}
/// The bits that make what it is of what shifting takes for finite, where the two low codes are.
template <class T> EIDER_DEVICE uint32 lost_of(uint32 codes) {
  if constexpr (requires { Format<T>::not_finite_of(codes); })
    return Format<T>::not_finite_of(codes);
  else
    return Format<T>::nans_of(codes);
}

} // namespace detail

/// Codes as pairs of bf16; NaN and infinities stay what they are.
template <CodecPath path, class T, int count>
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
    for (int i = 0; i < count; i += 4) {
      const uint32 four = codes.words[i / 4];
      pairs[i / 2] = detail::bf16_from_bytes<T>(extended<0>(four));
      pairs[i / 2 + 1] = detail::bf16_from_bytes<T>(extended<1>(four));
      lost |= detail::lost_in<T>(four);
    }
    if (arch::unlikely((lost & tops_of_bytes) != 0)) {
      EIDER_UNROLL
      for (int i = 0; i < count; i += 2)
        pairs[i / 2] |=
            detail::lost_of<T>(arch::byte_permute(codes.words[i / 4], 0, i % 4 ? 0x4432 : 0x4410));
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
template <CodecPath path, bool low = false, bool mends = true, class T, int count>
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
        pairs[i / 2] |= Format<T>::nans_of(arch::byte_permute(four, 0, 0x4410));
        pairs[i / 2 + 1] |= Format<T>::nans_of(arch::byte_permute(four, 0, 0x4432));
      }
    }
}

/// Of two words of codes those that have the same place, as pairs of `low` f16.
template <CodecPath path, bool mends, class T>
EIDER_DEVICE void pairs_of_both(uint32 one, uint32 other, uint32 *pairs) {
  if constexpr (!mends && path == software &&
                requires { Format<T>::template decode_extended<true>(one); }) {
    EIDER_UNROLL
    for (int i = 0; i < 4; ++i)
      pairs[i] = Format<T>::template decode_extended<true>(
          arch::signed_permute(one, other, 0xc480u + 0x1111u * static_cast<uint32>(i)));
  } else {
    const Fragment<T, 8> both = {
        {arch::byte_permute(one, other, 0x5140), arch::byte_permute(one, other, 0x7362)}};
    pairs_of_codes<path, /*low=*/true, mends>(both, pairs, f16());
  }
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
