//===- eider/formats/e4m3.cuh - OCP FP8 E4M3 --------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_E4M3_CUH
#define EIDER_FORMATS_E4M3_CUH

#include "eider/formats/codec.cuh"
#include "eider/formats/ocp.cuh"

namespace eider {

template <> struct Format<e4m3> : OcpFormat {
  static constexpr int mantissa_bits = 3;
  static constexpr int bias = 7;
  static constexpr float maximum = 448.0f; // 0x7e

  static EIDER_DEVICE uint32 overflow(uint32 sign) { return nan(sign); } // there is no infinity

  /// 464 is half way to 480, which would be the odd code 0x7f: the tie goes to 448.
  static EIDER_DEVICE bool overflows(float magnitude) { return magnitude > 464.0f; }

  static EIDER_DEVICE uint32 encode(float a, float b, float c, float d) {
    return arch::e4m3x4_from(a, b, c, d);
  }

  /// By how many powers of two f16 that are `low` are below the values: where that saves a product.
  template <CodecPath path> static constexpr int lowered = path == software ? 8 : 0;
  template <CodecPath path, bool low = false>
  static EIDER_DEVICE void decode(uint32 codes, uint32 &first, uint32 &second) {
    if constexpr (path == hardware) {
      arch::f16x4_from_e4m3(codes, first, second);
    } else {
      first = decode_extended<low>(extended<0>(codes));
      second = decode_extended<low>(extended<1>(codes));
    }
  }
  template <bool low> static EIDER_DEVICE uint32 decode_extended(uint32 halves) {
    return f16_from_four_exponent_bits<lowered<software>, low>(halves);
  }

  /// Adding 1 changes the top bit of 0x7f and 0xff alone; what the latter carries, a NaN has noted.
  template <CodecPath path> static constexpr bool loses_nan = path == software;
  static EIDER_DEVICE uint32 nans_in(uint32 codes) { return codes ^ (codes + 0x01010101u); }
  /// The bits that make an f16 or bf16 NaN, where the two low codes are.
  static EIDER_DEVICE uint32 nans_of(uint32 codes) {
    return ((codes & 0x7fu) == 0x7fu ? 0x7fffu : 0u) |
           ((codes & 0x7f00u) == 0x7f00u ? 0x7fff0000u : 0u);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_E4M3_CUH
