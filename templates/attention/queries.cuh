//===- eider/attention/queries.cuh - A token's queries ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_QUERIES_CUH
#define EIDER_ATTENTION_QUERIES_CUH

#include "eider/contraction/pairs.cuh"
#include "eider/math.cuh"
#include "eider/memory/chunk.cuh"
#include "eider/reduce/threads.cuh"

namespace eider {

/// The bits of the power of two below |x|, or near it where that has no inverse; of infinity and
/// NaN those of 1.
EIDER_DEVICE uint32 power_of(float x) {
  const uint32 power = arch::as_bits(x) & 0x7f800000u, least = 2u << 23, most = 252u << 23;
  if (power == 0x7f800000u)
    return 127u << 23;
  return power < least ? least : power > most ? most : power;
}

/// The queries of a lane, as the scores' products want them: of head `lane / 4` of each eight the
/// elements that the lane has of keys W, in f16, or bf16 as those, of a head's own power of two, by
/// which its largest is between 1 and 2 (near the ends of f32 below 16); so many that their sum is
/// what Q has: in f16 of floats two, in bf16 of f16 two and of floats three. Of `shares` warps each
/// has every so manieth piece, where there is one.
template <class Q, class W, int head_dim, int piece, int eights, int group, int alignment,
          int shares = 1>
class Queries {
  static constexpr int pieces = head_dim / 4 / piece;
  static constexpr int own = (pieces + shares - 1) / shares * piece;

public:
  static constexpr int of_float = same<W, bf16> ? 3 : 2;
  static constexpr int terms = same<Q, float> ? of_float : same<Q, f16> && same<W, bf16> ? 2 : 1;
  uint32 pairs[eights][terms][own / 2];
  float scale[eights][2]; ///< What the lane's columns of a score's product have lost.

  EIDER_DEVICE Queries(const Q *q, int64 head_pitch, int share, arch::Site at) {
    const int lane = arch::nonnegative_thread_index() % 32;
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e) {
      const int head = e * 8 + lane / 4;
      float values[own] = {}, largest = 0.0f;
      const Q *from = q + head * head_pitch + lane % 4 * piece;
      if (head < group)
        load(from, share, values);
      EIDER_UNROLL
      for (int i = 0; i < own; ++i)
        largest = arch::maximum_number(largest, arch::magnitude(values[i]));
      if (shares > 1 && head < group)
        largest = largest_of(from); // all warps have one power
      largest = reduce_lanes<MaximumMagnitudeOfNumbers, 4, 32>(largest, at);
      const uint32 power = power_of(largest);
      const float factor = arch::as_float((254u << 23) - power);
      EIDER_UNROLL
      for (int i = 0; i < own; i += 2)
        split(values[i] * factor, values[i + 1] * factor, e, i / 2);
      EIDER_UNROLL
      for (int i = 0; i < 2; ++i)
        scale[e][i] = arch::as_float(arch::shuffle(power, (lane % 4 * 2 + i) * 4, at));
    }
  }

private:
  static EIDER_DEVICE void load(const Q *from, int share, float (&values)[own]) {
    EIDER_UNROLL
    for (int first = 0; first < own; first += piece) {
      const int index = first / piece * shares + share;
      if (pieces % shares != 0 && index >= pieces)
        continue;
      Fragment<Q, piece> chunk{};
      load_whole_chunk<piece, alignment, cached>(from + index * piece * 4, chunk, 0);
      EIDER_UNROLL
      for (int i = 0; i < piece; ++i)
        values[first + i] = to<float>(chunk[i]);
    }
  }

  /// The largest magnitude of all warps' pieces.
  static EIDER_DEVICE float largest_of(const Q *from) {
    float largest = 0.0f;
    for (int index = 0; index < pieces; ++index) {
      Fragment<Q, piece> chunk{};
      load_whole_chunk<piece, alignment, cached>(from + index * piece * 4, chunk, 0);
      EIDER_UNROLL
      for (int i = 0; i < piece; ++i)
        largest = arch::maximum_number(largest, arch::magnitude(to<float>(chunk[i])));
    }
    return largest;
  }

  EIDER_DEVICE void split(float low, float high, int e, int i) {
    if constexpr (same<W, bf16>) {
      EIDER_UNROLL
      for (int term = 0; term < terms; ++term) {
        pairs[e][term][i] = arch::bf16x2_from(low, high);
        low -= arch::as_float(pairs[e][term][i] << 16);
        high -= arch::as_float(pairs[e][term][i] & 0xffff0000u);
      }
    } else {
      pairs[e][0][i] = arch::f16x2_from(low, high);
      if constexpr (terms == 2)
        pairs[e][1][i] = arch::f16x2_from(low - arch::float_from_low_f16(pairs[e][0][i]),
                                          high - arch::float_from_high_f16(pairs[e][0][i]));
    }
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_QUERIES_CUH
