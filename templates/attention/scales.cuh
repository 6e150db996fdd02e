//===- eider/attention/scales.cuh - Scales of a step's tokens ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_SCALES_CUH
#define EIDER_ATTENTION_SCALES_CUH

#include "eider/attention/queries.cuh"

namespace eider {

/// Scales of values of two tokens of a step, eight apart, as powers of two and what is left of
/// them, 1/2 to 1 but near the ends of f32.
struct ValueScales {
  float powers[2], rests[2];

  EIDER_DEVICE void take(int half, float scale) {
    const uint32 power = power_of(scale);
    powers[half] = static_cast<float>(static_cast<int>(power >> 23) - 126);
    rests[half] = scale * arch::as_float((253u << 23) - power);
  }
};

/// Scales of two tokens of a step, eight apart: of so many blocks of keys, and of values. None
/// where all tokens have one (0).
template <int blocks> class TokenScales {
public:
  /// Floats from one token's to the next's, which lanes read together from other banks.
  static constexpr int pitch = blocks % 8 == 0 ? blocks + 4 : blocks;

  /// `from`: those of 16 tokens for keys, and after them for values.
  EIDER_DEVICE TokenScales(const unsigned char *from, int token)
      : own(reinterpret_cast<const float *>(from) + token * pitch) {}
  EIDER_DEVICE float key(int half, int block) const { return own[half * 8 * pitch + block]; }
  EIDER_DEVICE ValueScales value(int block) const {
    ValueScales values;
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half)
      values.take(half, own[(16 + half * 8) * pitch + block]);
    return values;
  }

private:
  const float *own;
};
/// Of one, as they are needed, in registers.
template <> class TokenScales<1> {
public:
  static constexpr int pitch = 1;
  EIDER_DEVICE TokenScales(const unsigned char *from, int token) {
    const auto *scales = reinterpret_cast<const float *>(from) + token;
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      keys[half] = scales[half * 8];
      values.take(half, scales[16 + half * 8]);
    }
  }
  EIDER_DEVICE float key(int half, int) const { return keys[half]; }
  EIDER_DEVICE const ValueScales &value(int) const { return values; }

private:
  float keys[2];
  ValueScales values;
};
template <> class TokenScales<0> {
public:
  static constexpr int pitch = 0;
  EIDER_DEVICE TokenScales(const unsigned char *, int) {}
};

} // namespace eider

#endif // EIDER_ATTENTION_SCALES_CUH
