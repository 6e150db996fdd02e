//===- eider/formats/e2m1.cuh - OCP FP4 E2M1 --------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_E2M1_CUH
#define EIDER_FORMATS_E2M1_CUH

#include "eider/formats/codec.cuh"

namespace eider {

/// OCP FP4 E2M1: bias 1, largest 6, no infinity, no NaN. A code is in the low four bits; in memory
/// two are a byte, the first in its low bits.
struct e2m1 {
  unsigned char bits;
};
template <> inline constexpr int packing<e2m1> = 2;

template <> struct Format<e2m1> {
  static constexpr int mantissa_bits = 1;
  static constexpr int bias = 1;
  static constexpr float maximum = 6.0f; // 7
  static constexpr bool has_instructions = arch::has_fp4_conversions, has_signed_nan = false;

  /// NaN gives the largest code without a sign, as the instruction has it.
  static EIDER_DEVICE uint32 nan(uint32) { return 7; }

  // There is nothing to overflow to.
  static EIDER_DEVICE bool overflows(float) { return false; }
  static EIDER_DEVICE uint32 overflow(uint32 sign) { return 7 | sign; }

  /// The code of a magnitude that is no larger than the maximum, in the low bits of a float of
  /// 2^23: below 2 twice the magnitude is it, between 2 and 4 the magnitude and 2, from 4 on its
  /// half and 4; of these the least. Each sum rounds to nearest, ties to even, as codes are even.
  static EIDER_DEVICE uint32 code_over_2_to_23(float magnitude) {
    constexpr float ulp_is_1 = 8388608.0f;
    const uint32 below_2 = arch::as_bits(arch::fma(magnitude, 2.0f, ulp_is_1));
    const uint32 below_4 = arch::as_bits(magnitude + (ulp_is_1 + 2.0f));
    const uint32 others = arch::as_bits(arch::fma(magnitude, 0.5f, ulp_is_1 + 4.0f));
    const uint32 least = below_2 < below_4 ? below_2 : below_4;
    return least < others ? least : others;
  }
  /// What eight of these add up to, each sixteen times the one before, as codes with the bits 7 of
  /// `signs`, in whose bytes four and four are.
  static EIDER_DEVICE uint32 eight_codes(uint32 sum, const uint32 *signs) {
    constexpr uint32 of_floats = 0x4b000000u * 0x11111111u;
    const uint32 even = arch::byte_permute(signs[0], signs[1], 0x6420) >> 4;
    const uint32 odd = arch::byte_permute(signs[0], signs[1], 0x7531);
    return arch::select_bits(0x88888888u, arch::select_bits(0x80808080u, odd, even),
                             sum - of_floats);
  }

  static EIDER_DEVICE uint32 pack(uint32 magnitudes, uint32 signs) {
    return nibbles(arch::select_bits(0x07070707u, magnitudes, signs >> 4) & 0x0f0f0f0fu);
  }
  static EIDER_DEVICE uint32 with_signs(uint32 codes, uint32 signs) {
    return arch::select_bits(0x8888u, nibbles(signs >> 4 & 0x08080808u), codes);
  }

  static EIDER_DEVICE uint32 encode(float a, float b, float c, float d) {
    return arch::e2m1x4_from(a, b, c, d);
  }

  template <CodecPath path> static constexpr bool loses_nan = false; // there is none
  template <CodecPath path>
  static EIDER_DEVICE void decode(uint32 codes, uint32 &first, uint32 &second) {
    if constexpr (path == hardware) {
      arch::f16x4_from_e2m1(codes, first, second);
    } else {
      first = decode_pair((codes & 0xffu) | codes << 12);
      second = decode_pair((codes >> 8 & 0xffu) | codes << 4);
    }
  }

private:
  /// The low four bits of four bytes, whose others are 0, next to each other.
  static EIDER_DEVICE uint32 nibbles(uint32 bytes) {
    return arch::byte_permute(bytes | bytes >> 4, 0, 0x4420);
  }

  /// Two codes, each in the low bits of a half, as f16: where f16 has exponent and mantissa, a code
  /// is an f16 whose exponent is 2^14 too small. The product is exact, of 1/2 too, which is
  /// subnormal there.
  static EIDER_DEVICE uint32 decode_pair(uint32 halves) {
    constexpr uint32 two_to_14 = 0x74007400u;
    return arch::multiply_f16x2((halves << 9 & 0x0e000e00u) | (halves << 12 & 0x80008000u),
                                two_to_14);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_E2M1_CUH
