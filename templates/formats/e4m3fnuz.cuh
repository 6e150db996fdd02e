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

  /// By how many powers of two f16 that are `low` are below the values: where that saves a product.
  template <CodecPath> static constexpr int lowered = 7;
  template <CodecPath path, bool low = false>
  static EIDER_DEVICE void decode(uint32 codes, uint32 &first, uint32 &second) {
    first = decode_extended<low>(extended<0>(codes));
    second = decode_extended<low>(extended<1>(codes));
  }
  template <bool low> static EIDER_DEVICE uint32 decode_extended(uint32 halves) {
    return f16_from_four_exponent_bits<lowered<software>, low>(halves);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_E4M3FNUZ_CUH
