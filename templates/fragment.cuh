//===- eider/fragment.cuh - What one thread holds of a tile -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FRAGMENT_CUH
#define EIDER_FRAGMENT_CUH

#include "eider/arch/arch.h"

namespace eider {

/// `count` elements in registers, passed by value. Elements narrower than a word are packed, in the
/// order and the bits of memory, so that a vector load fills a fragment as it is and packed
/// instructions find their operands in place.
template <class T, int count> struct Fragment {
  static constexpr int per_word = 4 / sizeof(T) * packing<T>, bits = 32 / per_word;
  uint32 words[(count + per_word - 1) / per_word];

  EIDER_DEVICE T operator[](int i) const {
    if constexpr (same<T, float>) {
      return arch::as_float(words[i]);
    } else {
      using Bits = decltype(T::bits);
      const uint32 shifted = words[i / per_word] >> i % per_word * bits;
      return T{static_cast<Bits>(packing<T> == 1 ? shifted : shifted & ((1u << bits % 32) - 1))};
    }
  }

  /// Writes element i, which in a packed fragment was zero until now.
  EIDER_DEVICE void fill(int i, T value) {
    if constexpr (same<T, float>)
      words[i] = arch::as_bits(value);
    else
      words[i / per_word] |= static_cast<uint32>(value.bits) << i % per_word * bits;
  }
};

/// Conditions and indices: a register or predicate each, or two registers.
template <class T, int count> struct Unpacked {
  T elements[count];
  EIDER_DEVICE T operator[](int i) const { return elements[i]; }
  EIDER_DEVICE void fill(int i, T value) { elements[i] = value; }
};
template <int count> struct Fragment<bool, count> : Unpacked<bool, count> {};
template <int count> struct Fragment<int32, count> : Unpacked<int32, count> {};
template <int count> struct Fragment<int64, count> : Unpacked<int64, count> {};

/// How many values an operand holds: a fragment its elements, a scalar one.
template <class T> inline constexpr int extent = 1;
template <class T, int count> inline constexpr int extent<Fragment<T, count>> = count;

template <class T> inline constexpr bool is_fragment = false;
template <class T, int count> inline constexpr bool is_fragment<Fragment<T, count>> = true;

/// What a function over floats takes: a float, or a fragment of them at any level.
template <class T> inline constexpr bool is_operand = same<T, float>;
template <int count> inline constexpr bool is_operand<Fragment<float, count>> = true;
template <class T>
concept Operand = is_operand<T>;

/// A value that is kept as its bits: a 16-bit float, a code, a narrow scale; or a fragment of them.
template <class T> inline constexpr bool is_packed = requires { sizeof(T::bits); };
template <class T, int count> inline constexpr bool is_packed<Fragment<T, count>> = is_packed<T>;

/// Element i of `operand` where it stands for `count` values: a fragment of M repeats each of its
/// values count / M times.
template <int count, class T> EIDER_DEVICE auto element(const T &operand, int i) {
  if constexpr (is_fragment<T>) {
    static_assert(count % extent<T> == 0, "operands of these levels do not go together");
    return operand[i / (count / extent<T>)];
  } else {
    return operand;
  }
}

/// f of each value of the operand.
template <class F, Operand A> EIDER_DEVICE auto map(const A &a, F f) {
  if constexpr (is_fragment<A>) {
    Fragment<float, extent<A>> result;
    EIDER_UNROLL
    for (int i = 0; i < extent<A>; ++i)
      result.fill(i, f(a[i]));
    return result;
  } else {
    return f(a);
  }
}

/// f of the values of both operands, the one of fewer values repeated.
template <class F, class A, class B> EIDER_DEVICE auto map(const A &a, const B &b, F f) {
  if constexpr (is_fragment<A> || is_fragment<B>) {
    constexpr int count = extent < A >> extent<B> ? extent<A> : extent<B>;
    Fragment<decltype(f(element<count>(a, 0), element<count>(b, 0))), count> result;
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      result.fill(i, f(element<count>(a, i), element<count>(b, i)));
    return result;
  } else {
    return f(a, b);
  }
}

//===-- Conversions between float and the 16-bit floats -------------------===//

namespace detail {

/// Two 16-bit floats of a word as floats, exact.
template <class T> EIDER_DEVICE float low_half(uint32 pair) {
  if constexpr (same<T, bf16>)
    return arch::as_float(pair << 16);
  else
    return arch::float_from_low_f16(pair);
}
template <class T> EIDER_DEVICE float high_half(uint32 pair) {
  if constexpr (same<T, bf16>)
    return arch::as_float(pair & 0xffff0000u);
  else
    return arch::float_from_high_f16(pair);
}

/// Two floats rounded to nearest even and packed.
template <class T> EIDER_DEVICE uint32 pack_halves(float low, float high) {
  if constexpr (same<T, bf16>)
    return arch::bf16x2_from(low, high);
  else
    return arch::f16x2_from(low, high);
}

template <class T>
inline constexpr bool is_converted = same<T, float> || same<T, bf16> || same<T, f16>;

} // namespace detail

/// Conversion between float, bf16 and f16: exact when widening, else to nearest even; NaN stays
/// NaN. Codes have codecs, narrow scales conversions of their own.
template <class To, class From, int count>
requires(detail::is_converted<To> &&detail::is_converted<From>)
    EIDER_DEVICE Fragment<To, count> to(const Fragment<From, count> &from) {
  Fragment<To, count> result;
  if constexpr (same<To, From>) {
    result = from;
  } else if constexpr (same<To, float>) {
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      const uint32 pair = from.words[i / 2];
      result.fill(i, i % 2 ? detail::high_half<From>(pair) : detail::low_half<From>(pair));
    }
  } else if constexpr (same<From, float>) {
    EIDER_UNROLL
    for (int i = 0; i < count; i += 2)
      result.words[i / 2] = detail::pack_halves<To>(from[i], i + 1 < count ? from[i + 1] : 0.0f);
  } else {
    result = to<To>(to<float>(from));
  }
  return result;
}

/// to<float>(from), made anew: no compiler holds as floats what `to` gave before. (`byte_permute`
/// would mask a selector that is not known to be one.)
template <class From, int count>
EIDER_DEVICE Fragment<float, count> widen_again(const Fragment<From, count> &from) {
  const uint32 zero = arch::unseen_zero();
  Fragment<float, count> result;
  EIDER_UNROLL
  for (int i = 0; i < count; ++i) {
    const uint32 pair = from.words[i / 2];
    if constexpr (same<From, bf16>)
      result.words[i] = arch::signed_permute(pair, 0, (i % 2 ? 0x3244 : 0x1044) + zero);
    else
      result.fill(i, detail::low_half<From>(
                         arch::signed_permute(pair, 0, (i % 2 ? 0x4432 : 0x4410) + zero)));
  }
  return result;
}

template <class To, class From>
requires(!is_fragment<From>) EIDER_DEVICE To to(From from) {
  Fragment<From, 1> single{};
  single.fill(0, from);
  return to<To>(single)[0];
}

} // namespace eider

#endif // EIDER_FRAGMENT_CUH
