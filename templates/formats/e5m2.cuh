//===- eider/formats/e5m2.cuh - OCP FP8 E5M2 --------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_E5M2_CUH
#define EIDER_FORMATS_E5M2_CUH

#include "eider/formats/codec.cuh"
#include "eider/formats/ocp.cuh"

namespace eider {

template <> struct Format<e5m2> : OcpFormat {
  static constexpr int mantissa_bits = 2;
  static constexpr int bias = 15;
  static constexpr float maximum = 57344.0f; // 0x7b

  static EIDER_DEVICE uint32 overflow(uint32 sign) { return 0x7cu | sign; } // infinity

  /// 61440 is half way to 65536, which would be the even code 0x7c: the tie goes there.
  static EIDER_DEVICE bool overflows(float magnitude) { return magnitude >= 61440.0f; }

  static EIDER_DEVICE uint32 encode(float a, float b, float c, float d) {
    return arch::e5m2x4_from(a, b, c, d);
  }

  /// Adding 4 changes the top bits of the codes from 0x7c on; what they carry, one has noted.
  static EIDER_DEVICE uint32 not_finite_in(uint32 codes) { return codes ^ (codes + 0x04040404u); }
  /// The bits that make infinity or NaN of what has a bf16's exponent, where the two low codes are.
  static EIDER_DEVICE uint32 not_finite_of(uint32 codes) {
    return ((codes & 0x7cu) == 0x7cu ? 0x7f80u : 0u) |
           ((codes & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u);
  }

  template <CodecPath path> static constexpr bool loses_nan = false;
  /// An E5M2 code is the upper byte of the f16 of its value, so that software needs no arithmetic.
  template <CodecPath path>
  static EIDER_DEVICE void decode(uint32 codes, uint32 &first, uint32 &second) {
    if constexpr (path == hardware) {
      arch::f16x4_from_e5m2(codes, first, second);
    } else {
      first = arch::byte_permute(codes, 0, 0x1404);
      second = arch::byte_permute(codes, 0, 0x3424);
    }
  }
};

} // namespace eider

#endif // EIDER_FORMATS_E5M2_CUH
