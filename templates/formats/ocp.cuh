//===- eider/formats/ocp.cuh - What OCP formats have in common --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_OCP_CUH
#define EIDER_FORMATS_OCP_CUH

#include "eider/arch/arch.h"

namespace eider {

/// Every code has a sign, be it of zero or NaN.
struct OcpFormat {
  static constexpr bool has_instructions = arch::has_fp8_conversions, has_signed_nan = true;

  static EIDER_DEVICE uint32 nan(uint32 sign) { return 0x7fu | sign; }

  /// Four codes of magnitudes, whose bits 7 are junk, and the bits 7 of `signs`.
  static EIDER_DEVICE uint32 with_signs(uint32 magnitudes, uint32 signs) {
    return arch::select_bits(0x80808080u, signs, magnitudes);
  }
  static EIDER_DEVICE uint32 pack(uint32 magnitudes, uint32 signs) {
    return with_signs(magnitudes, signs);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_OCP_CUH
