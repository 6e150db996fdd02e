//===- eider/formats/e8m0.cuh - Powers of two as scales ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_E8M0_CUH
#define EIDER_FORMATS_E8M0_CUH

#include "eider/fragment.cuh"

namespace eider {

/// OCP MX E8M0: 2^(code - 127), from 2^-127 to 2^127; 0xff is NaN. Neither sign nor zero.
struct e8m0 {
  unsigned char bits;
};

/// The codes of powers of two (`power_of_two_above`): their exponent fields, for that of 2^-127,
/// which is subnormal, is 0. NaN gives NaN.
template <class To, int count>
requires same<To, e8m0> EIDER_DEVICE Fragment<e8m0, count> to(const Fragment<float, count> &from) {
  Fragment<e8m0, count> result{};
  EIDER_UNROLL
  for (int i = 0; i < count; ++i)
    result.fill(i, e8m0{static_cast<unsigned char>(from.words[i] >> 23)});
  return result;
}

/// Their values, exact.
template <class To, int count>
requires same<To, float> EIDER_DEVICE Fragment<float, count> to(const Fragment<e8m0, count> &from) {
  constexpr uint32 least = 0x00400000u, nan = 0x7fffffffu;
  Fragment<float, count> result{};
  EIDER_UNROLL
  for (int i = 0; i < count; ++i) {
    const uint32 code = from[i].bits;
    result.fill(i, arch::as_float(code == 0 ? least : code == 0xffu ? nan : code << 23));
  }
  return result;
}

} // namespace eider

#endif // EIDER_FORMATS_E8M0_CUH
