//===- eider/formats/e5m2fnuz.cuh - FNUZ FP8 E5M2 ----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_E5M2FNUZ_CUH
#define EIDER_FORMATS_E5M2FNUZ_CUH

#include "eider/formats/codec.cuh"
#include "eider/formats/fnuz.cuh"

namespace eider {

/// FP8 E5M2 "FNUZ": bias 16, largest 57344, no infinity, no -0, NaN is 0x80 alone.
struct e5m2fnuz {
  unsigned char bits;
};

template <> struct Format<e5m2fnuz> : FnuzFormat {
  static constexpr int mantissa_bits = 2;
  static constexpr int bias = 16;
  static constexpr float maximum = 57344.0f; // 0x7f

  /// 61440 is half way to 65536, the even code 0x80: the tie is beyond.
  static EIDER_DEVICE bool overflows(float magnitude) { return magnitude >= 61440.0f; }

  template <CodecPath path>
  static EIDER_DEVICE void decode(uint32 codes, uint32 &first, uint32 &second) {
    first = decode_pair(arch::byte_permute(codes, 0, 0x1404));
    second = decode_pair(arch::byte_permute(codes, 0, 0x3424));
  }

private:
  /// Two codes, each in the upper byte of a half, as f16: a code is an f16 of twice its value,
  /// which f16 may not reach. So large ones, with the top bit of the exponent, are halved in the
  /// exponent, and small ones, which may be subnormal, by a product; both are exact.
  static EIDER_DEVICE uint32 decode_pair(uint32 bytes) {
    constexpr uint32 halves = 0x38003800u, exponent_one = 0x04000400u; // added to 1/2, it is 1
    const uint32 large = bytes >> 4 & exponent_one;
    return arch::multiply_f16x2(bytes - large, halves | large);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_E5M2FNUZ_CUH
