//===- eider/types.cuh - The scalar types of the emitted text ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TYPES_CUH
#define EIDER_TYPES_CUH

namespace eider {

using uint8 = unsigned char;
using uint16 = unsigned short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

// The small floats are storage: they carry bits between memory and registers, and arithmetic is
// done in float after `eider::to<float>` or `Codec::decode`. Having no operators, they cannot be
// computed with by accident.

/// bfloat16: 1 sign, 8 exponent and 7 mantissa bits, the upper half of a float.
struct bf16 {
  unsigned short bits;
};

/// IEEE binary16: 1 sign, 5 exponent and 10 mantissa bits.
struct f16 {
  unsigned short bits;
};

/// OCP FP8 E4M3 ("FN"): bias 7, largest 448, no infinity, NaN is 0x7f and 0xff.
struct e4m3 {
  unsigned char bits;
};

/// OCP FP8 E5M2: bias 15, largest 57344, infinity 0x7c, NaN 0x7d to 0x7f.
struct e5m2 {
  unsigned char bits;
};

/// Elements of T in sizeof(T) bytes of memory: 1, or for formats of four bits 2. What a pointer to
/// such a type counts are bytes.
template <class T> inline constexpr int packing = 1;
template <class T> inline constexpr int packing<const T> = packing<T>;

/// How accesses use the caches: `streaming` where data is used once, so that it need not push out
/// what is used again. A hint; results are the same.
enum Caching { cached, streaming };

/// A where the condition holds, else B.
template <bool holds, class A, class B> struct Choice { using type = A; };
template <class A, class B> struct Choice<false, A, B> { using type = B; };
template <bool holds, class A, class B> using choose = typename Choice<holds, A, B>::type;

/// Whether A and B are one type.
template <class A, class B> inline constexpr bool same = false;
template <class A> inline constexpr bool same<A, A> = true;

} // namespace eider

#endif // EIDER_TYPES_CUH
