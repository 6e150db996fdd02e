//===- eider/contraction/folded.cuh - Codes and scales as one ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A code of four bits has two significant ones, a narrow scale four at most: their product is a
// bf16, exactly. So pairs of codes meet their scales before tensor cores multiply them, whose sums
// may then be as long as a row; but for a power of two, as bf16 have no room for all scales beside
// what codes that are shifted into place are too small by.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_FOLDED_CUH
#define EIDER_CONTRACTION_FOLDED_CUH

#include "eider/contraction/pairs.cuh"
#include "eider/formats/e4m3.cuh"
#include "eider/formats/e8m0.cuh"

namespace eider {

/// Whether pairs of codes W meet their scales S before they meet those of Half.
template <class W, class S, class Half> inline constexpr bool folds_scales = false;
template <class W>
inline constexpr bool folds_scales<W, e4m3, bf16> = packing<W> == 2 && arch::has_bf16_products;
template <class W>
inline constexpr bool folds_scales<W, e8m0, bf16> = packing<W> == 2 && arch::has_bf16_products;

namespace detail {

/// 2^exponent, as two bf16.
constexpr EIDER_DEVICE uint32 two_to(int exponent) {
  return (static_cast<uint32>(127 + exponent) << 7) * both;
}

/// By how many powers of two codes in place are too small.
template <class W> inline constexpr int lacks = 127 - Format<W>::bias;

/// Of eight codes of four bits those numbered `pair` and pair + 4, in place of bf16. Times two
/// powers of two each is in two places: in one its magnitude is where it belongs, in the other its
/// sign.
template <class W> EIDER_DEVICE uint32 low_pair(uint32 eight, int pair) {
  constexpr int to_magnitude = 7 - Format<W>::mantissa_bits, to_sign = 12;
  const int from = pair % 2 * 4;
  const uint32 codes = (pair < 2 ? eight : eight >> 8) & (0xfu * both) << from;
  const uint32 twice = codes * ((1u << to_magnitude | 1u << to_sign) >> from);
  return twice & (0x7u << to_magnitude | 0x8000u) * both;
}

} // namespace detail

/// Elements so that neighbours are those that are 4 apart among eight, as pairs of such codes are.
template <class X, int count>
EIDER_DEVICE Fragment<X, count> parted(const Fragment<X, count> &elements) {
  static_assert(count % 8 == 0, "eight elements change places");
  constexpr int words = count / Fragment<X, count>::per_word, half = words * 4 / count;
  Fragment<X, count> result;
  EIDER_UNROLL
  for (int i = 0; i < words; ++i) {
    const int eight = i / (2 * half) * (2 * half), at = i % (2 * half) / 2;
    const uint32 *of_both = &elements.words[eight];
    if constexpr (same<X, float>)
      result.words[i] = of_both[at + i % 2 * half];
    else
      result.words[i] =
          arch::byte_permute(of_both[at], of_both[at + half], i % 2 == 0 ? 0x5410 : 0x7632);
  }
  return result;
}

/// Elements in the order of weights that they meet, which are folded or not.
template <bool folds, class X, int count>
EIDER_DEVICE Fragment<X, count> in_order_of(const Fragment<X, count> &elements) {
  if constexpr (folds)
    return parted(elements);
  else
    return elements;
}

/// Scales S as factors of codes W in place, each in both halves of a word. What they make is by
/// `lowered` powers of two too small; rare scales come in two factors.
template <class W, class S, int count> struct ScaleFactors;

template <class W, int count> struct ScaleFactors<W, e4m3, count> {
  static constexpr int lowered = 9; ///< So the largest factor is finite.
  uint32 factors[count];

  ScaleFactors() = default;
  EIDER_DEVICE explicit ScaleFactors(const Fragment<e4m3, count> &scales) {
    uint32 pairs[(count + 1) / 2], lost = 0;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 2) {
      const uint32 four = scales.words[i / 4];
      pairs[i / 2] = arch::multiply_bf16x2(
          detail::bf16_from_bytes<e4m3>(i % 4 == 0 ? extended<0>(four) : extended<1>(four)),
          detail::two_to(detail::lacks<W> - lowered));
      lost |= Format<e4m3>::nans_in(four);
    }
    if (arch::unlikely((lost & tops_of_bytes) != 0)) {
      EIDER_UNROLL
      for (int i = 0; i < count; i += 2)
        pairs[i / 2] |= Format<e4m3>::nans_of(
            arch::byte_permute(scales.words[i / 4], 0, i % 4 == 0 ? 0x4410 : 0x4432));
    }
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      factors[i] = arch::byte_permute(pairs[i / 2], 0, i % 2 == 0 ? 0x1010 : 0x3232);
  }
  EIDER_DEVICE bool has_rests() const { return false; }
  EIDER_DEVICE void rests(uint32 *) const {}
};

template <class W, int count> struct ScaleFactors<W, e8m0, count> {
  static constexpr int lowered = 2; ///< What the largest makes of the largest code must be a bf16.
  static constexpr uint32 bias = 127, nan = 0xff;
  static constexpr uint32 to_exponent = detail::lacks<W> - lowered, most = 2 * bias - to_exponent;
  uint32 factors[count];
  Fragment<e8m0, count> scales;

  ScaleFactors() = default;

  /// The largest have the largest factor, 2^127, and a rest.
  EIDER_DEVICE explicit ScaleFactors(const Fragment<e8m0, count> &of) : scales(of) {
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      const uint32 code = scales[i].bits;
      factors[i] = ((code < most ? code : most) + to_exponent) * (detail::both << 7);
    }
  }
  /// Whether some have a rest, or are about to.
  EIDER_DEVICE bool has_rests() const {
    uint32 all = 0;
    EIDER_UNROLL
    for (int i = 0; i < count; i += 4)
      all |= scales.words[i / 4];
    return (all & tops_of_bytes) != 0;
  }
  EIDER_DEVICE void rests(uint32 *to) const {
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      const uint32 code = scales[i].bits, exponent = code > most ? code - most + bias : bias;
      to[i] = (code == nan ? 0x7fffu : exponent << 7) * detail::both;
    }
  }
};

/// Codes times their scales as pairs, each of elements 4 apart of eight neighbours; scale_of(i) is
/// the number of that of code i.
template <class W, class S, int count, int scales, class ScaleOf>
EIDER_DEVICE void folded_pairs(const Fragment<W, count> &codes,
                               const ScaleFactors<W, S, scales> &factors, ScaleOf scale_of,
                               uint32 *pairs) {
  static_assert(count % 8 == 0, "whole words");
  uint32 of_pairs[count / 2], rests[count / 2]; // a factor for both of its codes
  const auto spread = [&](const uint32 *of_scales, uint32 *to) {
    EIDER_UNROLL
    for (int i = 0; i < count / 2; ++i) {
      const int code = i / 4 * 8 + i % 4, low = scale_of(code), high = scale_of(code + 4);
      to[i] = low == high ? of_scales[low]
                          : arch::byte_permute(of_scales[low], of_scales[high], 0x5410);
    }
  };
  spread(factors.factors, of_pairs);
  EIDER_UNROLL
  for (int i = 0; i < count / 2; ++i)
    pairs[i] = arch::multiply_bf16x2(detail::low_pair<W>(codes.words[i / 4], i % 4), of_pairs[i]);
  if (arch::unlikely(factors.has_rests())) {
    uint32 of_scales[scales];
    factors.rests(of_scales);
    spread(of_scales, rests);
    EIDER_UNROLL
    for (int i = 0; i < count / 2; ++i)
      pairs[i] = arch::multiply_bf16x2(pairs[i], rests[i]);
  }
}

} // namespace eider

#endif // EIDER_CONTRACTION_FOLDED_CUH
