//===- eider/formats/fnuz.cuh - What FNUZ formats have in common -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_FNUZ_CUH
#define EIDER_FORMATS_FNUZ_CUH

#include "eider/arch/arch.h"

namespace eider {

/// "Finite, NaN, unsigned zero": 0x80 is NaN, whatever the sign, and zero has none.
struct FnuzFormat {
  static constexpr bool has_instructions = false, has_signed_nan = false;

  static EIDER_DEVICE uint32 nan(uint32) { return 0x80; }
  static EIDER_DEVICE uint32 overflow(uint32) { return 0x80; }

  /// Four codes of magnitudes, whose bits 7 are junk, and the bits 7 of `signs`: but for zeros.
  static EIDER_DEVICE uint32 pack(uint32 magnitudes, uint32 signs) {
    const uint32 plain = magnitudes & 0x7f7f7f7fu;
    const uint32 not_zero = plain + 0x7f7f7f7fu; // carries into bit 7 from 1 on
    return plain | (signs & not_zero & 0x80808080u);
  }

  /// 0x80 is decoded as if it were -0.
  template <CodecPath path> static constexpr bool loses_nan = true;
  static EIDER_DEVICE uint32 nans_in(uint32 codes) {
    const uint32 others = codes ^ 0x80808080u; // a byte of NaN is 0 now, and borrows
    return (others - 0x01010101u) & ~others;
  }
  /// The bits that make an f16 or bf16 NaN, where the two low codes are.
  static EIDER_DEVICE uint32 nans_of(uint32 codes) {
    return ((codes & 0xffu) == 0x80u ? 0x7fffu : 0u) |
           ((codes & 0xff00u) == 0x8000u ? 0x7fff0000u : 0u);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_FNUZ_CUH
