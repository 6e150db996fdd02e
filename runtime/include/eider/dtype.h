//===- eider/dtype.h - Element types ----------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DTYPE_H
#define EIDER_DTYPE_H

#include <cstddef>
#include <cstdint>

#define EIDER_API __attribute__((visibility("default")))

namespace eider {

/// Element types of tensors at a kernel's boundary.
enum class DType : uint8_t {
  f32,
  bf16,
  f16,
  e4m3,     ///< OCP FP8 E4M3: finite and NaN, no Inf, maximum 448.
  e5m2,     ///< OCP FP8 E5M2: Inf and NaN, maximum 57344.
  e4m3fnuz, ///< FP8 E4M3 with bias 8, one NaN (0x80), no −0, maximum 240.
  e5m2fnuz, ///< FP8 E5M2 with bias 16, one NaN (0x80), no −0, maximum 57344.
  e2m1, ///< OCP FP4 E2M1: 0, ½, 1, 1½, 2, 3, 4, 6 with a sign, no Inf, no NaN; two codes a byte.
  e8m0, ///< Power-of-two scale, 2^(code − 127); 0xff is NaN.
  i32,
  i64,
  u8
};

inline constexpr DType f32 = DType::f32;
inline constexpr DType bf16 = DType::bf16;
inline constexpr DType f16 = DType::f16;
inline constexpr DType e4m3 = DType::e4m3;
inline constexpr DType e5m2 = DType::e5m2;
inline constexpr DType e4m3fnuz = DType::e4m3fnuz;
inline constexpr DType e5m2fnuz = DType::e5m2fnuz;
inline constexpr DType e2m1 = DType::e2m1;
inline constexpr DType e8m0 = DType::e8m0;
inline constexpr DType i32 = DType::i32;
inline constexpr DType i64 = DType::i64;

/// Elements in one unit of memory: 2 of e2m1 (the one of the even column in the low bits), else 1.
/// Where it is 2, the last extent and the strides of a tensor in memory count units.
constexpr int packingOf(DType type) { return type == DType::e2m1 ? 2 : 1; }

/// Bytes of one unit of memory: of an element, or of as many as are packed.
constexpr size_t sizeOf(DType type) {
  switch (type) {
  case DType::i64:
    return 8;
  case DType::f32:
  case DType::i32:
    return 4;
  case DType::bf16:
  case DType::f16:
    return 2;
  default:
    return 1;
  }
}

/// MLIR's name of the type: `f32`, `bf16`, `f8E4M3FN`, …; the name in a kernel's contract.
constexpr const char *nameOf(DType type) {
  switch (type) {
  case DType::f32:
    return "f32";
  case DType::bf16:
    return "bf16";
  case DType::f16:
    return "f16";
  case DType::e4m3:
    return "f8E4M3FN";
  case DType::e5m2:
    return "f8E5M2";
  case DType::e4m3fnuz:
    return "f8E4M3FNUZ";
  case DType::e5m2fnuz:
    return "f8E5M2FNUZ";
  case DType::e2m1:
    return "f4E2M1FN";
  case DType::e8m0:
    return "f8E8M0FNU";
  case DType::i32:
    return "i32";
  case DType::i64:
    return "i64";
  case DType::u8:
    return "ui8";
  }
  return "";
}

} // namespace eider

#endif // EIDER_DTYPE_H
