//===- eider/arch/nvidia_codes.h - Instructions of codes --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_NVIDIA_CODES_H
#define EIDER_ARCH_NVIDIA_CODES_H

namespace eider::arch {

//===-- FP8, four a word --------------------------------------------------===//

/// The E4M3 codes of four floats, nearest even, saturating; the first in the lowest byte.
EIDER_DEVICE uint32 e4m3x4_from(float a, float b, float c, float d) {
  uint32 r;
  asm("{ .reg .b16 l, h; cvt.rn.satfinite.e4m3x2.f32 l, %2, %1; cvt.rn.satfinite.e4m3x2.f32 h, %4, "
      "%3; mov.b32 %0, {l, h}; }"
      : "=r"(r)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return r;
}
/// The E5M2 codes of four floats, nearest even, saturating; the first in the lowest byte.
EIDER_DEVICE uint32 e5m2x4_from(float a, float b, float c, float d) {
  uint32 r;
  asm("{ .reg .b16 l, h; cvt.rn.satfinite.e5m2x2.f32 l, %2, %1; cvt.rn.satfinite.e5m2x2.f32 h, %4, "
      "%3; mov.b32 %0, {l, h}; }"
      : "=r"(r)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return r;
}

/// The values of four E4M3 codes as two pairs of f16, exact.
EIDER_DEVICE void f16x4_from_e4m3(uint32 codes, uint32 &first, uint32 &second) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h; "
      "}"
      : "=r"(first), "=r"(second)
      : "r"(codes));
}
/// The values of four E5M2 codes as two pairs of f16, exact.
EIDER_DEVICE void f16x4_from_e5m2(uint32 codes, uint32 &first, uint32 &second) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e5m2x2 %0, l; cvt.rn.f16x2.e5m2x2 %1, h; "
      "}"
      : "=r"(first), "=r"(second)
      : "r"(codes));
}

//===-- FP4, four in 16 bits ------------------------------------------------===//

/// The E2M1 codes of four floats, nearest even, saturating, NaN to 7; the first in the lowest bits.
EIDER_DEVICE uint32 e2m1x4_from(float a, float b, float c, float d) {
  uint32 r;
  asm("{ .reg .b8 l, h; cvt.rn.satfinite.e2m1x2.f32 l, %2, %1; "
      "cvt.rn.satfinite.e2m1x2.f32 h, %4, %3; mov.b32 %0, {l, h, l, h}; }"
      : "=r"(r)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return r;
}

/// The values of four E2M1 codes as two pairs of f16, exact.
EIDER_DEVICE void f16x4_from_e2m1(uint32 codes, uint32 &first, uint32 &second) {
  asm("{ .reg .b8 l, h; mov.b32 {l, h, _, _}, %2; cvt.rn.f16x2.e2m1x2 %0, l; "
      "cvt.rn.f16x2.e2m1x2 %1, h; }"
      : "=r"(first), "=r"(second)
      : "r"(codes));
}

} // namespace eider::arch

#endif // EIDER_ARCH_NVIDIA_CODES_H
