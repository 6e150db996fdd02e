//===- eider/formats/e4m3fnuz.cuh - FNUZ FP8 E4M3 ----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_E4M3FNUZ_CUH
#define EIDER_FORMATS_E4M3FNUZ_CUH

#include "eider/formats/codec.cuh"
#include "eider/formats/fnuz.cuh"

namespace eider {

/// FP8 E4M3 "FNUZ": bias 8, largest 240, no infinity, no -0, NaN is 0x80 alone.
struct e4m3fnuz {
  unsigned char bits;
};

template <> struct Format<e4m3fnuz> : FnuzFormat {
  static constexpr int mantissa_bits = 3;
  static constexpr int bias = 8;
  static constexpr float maximum = 240.0f; // 0x7f

  /// 248 is half way to 256, the even code 0x80: the tie is beyond.
  static EIDER_DEVICE bool overflows(float magnitude) { return magnitude >= 248.0f; }

  template <CodecPath path>
  static EIDER_DEVICE void decode(uint32 codes, uint32 &first, uint32 &second) {
    first = decode_pair(arch::byte_permute(codes, 0, 0x1404));
    second = decode_pair(arch::byte_permute(codes, 0, 0x3424));
  }

private:
  /// Two codes, each in the upper byte of a half, as f16: one right, a code is an f16 whose
  /// exponent is 2^7 too small. The product is exact, of subnormals too.
  static EIDER_DEVICE uint32 decode_pair(uint32 bytes) {
    constexpr uint32 two_to_7 = 0x58005800u;
    return arch::multiply_f16x2((bytes >> 1 & 0x3f803f80u) | (bytes & 0x80008000u), two_to_7);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_E4M3FNUZ_CUH
