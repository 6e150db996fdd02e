//===- eider/attention/elements.cuh - Of a cache, as multiplied -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_ELEMENTS_CUH
#define EIDER_ATTENTION_ELEMENTS_CUH

#include "eider/contraction/pairs.cuh"

namespace eider {

/// Of codes by how many powers of two what pairs_of_codes makes of them is too small.
template <class Code, class W> constexpr EIDER_DEVICE int lowered_as() {
  if constexpr (sizeof(W) == 1)
    return lowered<W, Code::conversion>();
  else
    return 0;
}
/// What meets elements W: codes and f16 as f16, bf16 as bf16.
template <class W> EIDER_DEVICE uint32 pair_of(float low, float high) {
  return same<W, bf16> ? arch::bf16x2_from(low, high) : arch::f16x2_from(low, high);
}

/// Whether arithmetic would take a NaN of some lane's elements for a number.
template <class Code, class W, int count, int all>
EIDER_DEVICE bool loses_nans(const Fragment<W, count> (&elements)[all], arch::Site at) {
  if constexpr (sizeof(W) == 1) {
    if constexpr (Format<W>::template loses_nan<Code::conversion>) {
      uint32 lost = 0;
      EIDER_UNROLL
      for (int n = 0; n < all; ++n)
        note_lost<Code::conversion>(elements[n], lost);
      return arch::any_lane((lost & tops_of_bytes) != 0, at);
    }
  }
  return false;
}

/// Adds the products of a lane's pieces of two tokens' keys with the queries, of which the pairs
/// from `first` on are theirs. NaN are lost unless this `mends` them.
template <class Code, bool mends, class W, int count, int eights, int terms, int own>
EIDER_DEVICE void multiply_keys(const Fragment<W, count> (&keys)[2],
                                const uint32 (&queries)[eights][terms][own], int first,
                                float (&sums)[eights][4], arch::Site at) {
  uint32 pairs[2][count / 2];
  EIDER_UNROLL
  for (int half = 0; half < 2; ++half)
    if constexpr (sizeof(W) == 1) {
      pairs_of_codes<Code::conversion, /*low=*/true, mends>(keys[half], pairs[half], f16());
    } else {
      EIDER_UNROLL
      for (int n = 0; n < count / 2; ++n)
        pairs[half][n] = keys[half].words[n];
    }
  EIDER_UNROLL
  for (int n = 0; n < count / 2; n += 2) {
    const uint32 a[4] = {pairs[0][n], pairs[1][n], pairs[0][n + 1], pairs[1][n + 1]};
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int term = 0; term < terms; ++term)
      multiply_add_of<W>(sums[e], a, &queries[e][term][first + n], at);
  }
}

/// The same of four tokens' values with weights, which are pairs of tokens; their sums are those
/// from `first` on.
template <class Code, bool mends, class W, int count, int eights, int products>
EIDER_DEVICE void multiply_values(const Fragment<W, count> (&values)[4],
                                  const uint32 (&weights)[eights][2], int first,
                                  float (&sums)[eights][products][4], arch::Site at) {
  constexpr int of_word = 4 / sizeof(W);
  EIDER_UNROLL
  for (int word = 0; word < count / of_word; ++word) {
    uint32 pairs[2][of_word]; // of two tokens each, one an element
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const uint32 one = values[2 * half].words[word], next = values[2 * half + 1].words[word];
      if constexpr (sizeof(W) == 1) {
        pairs_of_both<Code::conversion, mends, W>(one, next, pairs[half]);
      } else {
        pairs[half][0] = arch::byte_permute(one, next, 0x5410);
        pairs[half][1] = arch::byte_permute(one, next, 0x7632);
      }
    }
    EIDER_UNROLL
    for (int n = 0; n < of_word; n += 2) {
      const uint32 a[4] = {pairs[0][n], pairs[0][n + 1], pairs[1][n], pairs[1][n + 1]};
      EIDER_UNROLL
      for (int e = 0; e < eights; ++e)
        multiply_add_of<W>(sums[e][first + (word * of_word + n) / 2], a, weights[e], at);
    }
  }
}

} // namespace eider

#endif // EIDER_ATTENTION_ELEMENTS_CUH
