//===- eider/attention/elements.cuh - Of a cache, as multiplied -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_ELEMENTS_CUH
#define EIDER_ATTENTION_ELEMENTS_CUH

#include "eider/contraction/pairs.cuh"

namespace eider {

/// Of codes what pairs_of_codes makes of them: in which order, and how many powers of two too
/// small.
template <class Code, class W> constexpr EIDER_DEVICE bool is_interleaved_as() {
  if constexpr (sizeof(W) == 1)
    return is_interleaved<W, f16, Code::conversion, true>;
  else
    return false;
}
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

} // namespace eider

#endif // EIDER_ATTENTION_ELEMENTS_CUH
