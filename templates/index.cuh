//===- eider/index.cuh - Arithmetic of indices ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Indices are exact integers: columns fit 32 bits, whatever else is computed has 64.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INDEX_CUH
#define EIDER_INDEX_CUH

#include "eider/fragment.cuh"

namespace eider {

/// An integer, of any type that a literal may have, or a fragment of indices.
template <class T>
inline constexpr bool is_index =
    same<T, int32> || same<T, int64> || same<T, long> || same<T, uint32> || same<T, uint64>;
template <int count> inline constexpr bool is_index<Fragment<int32, count>> = true;
template <int count> inline constexpr bool is_index<Fragment<int64, count>> = true;

/// Two indices of which one at least is a fragment: what the operators here are for.
template <class A, class B>
concept IndexOperands = is_index<A> && is_index<B> &&(is_fragment<A> || is_fragment<B>);

template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator+(const A &a, const B &b) {
  return map(a, b, [](int64 x, int64 y) { return x + y; });
}
template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator-(const A &a, const B &b) {
  return map(a, b, [](int64 x, int64 y) { return x - y; });
}

namespace detail {

template <class T> inline constexpr bool is_columns = false;
template <int count> inline constexpr bool is_columns<Fragment<int32, count>> = true;

/// The integer of 32 bits next to one: every column compares with both alike, for columns are at
/// least 0 and less than 2^31 - 1.
EIDER_DEVICE int32 narrowed(int64 x) {
  constexpr int64 most = 0x7fffffff;
  return static_cast<int32>(x > most ? most : x < -1 ? -1 : x);
}

// Not generic lambdas: NVRTC takes these for host functions.
struct Less {
  template <class T> EIDER_DEVICE bool operator()(T x, T y) const { return x < y; }
};
struct LessEqual {
  template <class T> EIDER_DEVICE bool operator()(T x, T y) const { return x <= y; }
};
struct Greater {
  template <class T> EIDER_DEVICE bool operator()(T x, T y) const { return x > y; }
};
struct GreaterEqual {
  template <class T> EIDER_DEVICE bool operator()(T x, T y) const { return x >= y; }
};
struct Equal {
  template <class T> EIDER_DEVICE bool operator()(T x, T y) const { return x == y; }
};
struct NotEqual {
  template <class T> EIDER_DEVICE bool operator()(T x, T y) const { return x != y; }
};

/// f of the values of both: columns and one number are compared in 32 bits.
template <class F, class A, class B> EIDER_DEVICE auto compare(const A &a, const B &b, F f) {
  if constexpr (is_columns<A> && !is_fragment<B>)
    return map(a, narrowed(b), [=](int32 x, int32 y) { return f(x, y); });
  else if constexpr (is_columns<B> && !is_fragment<A>)
    return map(narrowed(a), b, [=](int32 x, int32 y) { return f(x, y); });
  else
    return map(a, b, [=](int64 x, int64 y) { return f(x, y); });
}

} // namespace detail

template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator<(const A &a, const B &b) {
  return detail::compare(a, b, detail::Less());
}
template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator<=(const A &a, const B &b) {
  return detail::compare(a, b, detail::LessEqual());
}
template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator>(const A &a, const B &b) {
  return detail::compare(a, b, detail::Greater());
}
template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator>=(const A &a, const B &b) {
  return detail::compare(a, b, detail::GreaterEqual());
}
template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator==(const A &a, const B &b) {
  return detail::compare(a, b, detail::Equal());
}
template <class A, class B>
requires IndexOperands<A, B> EIDER_DEVICE auto operator!=(const A &a, const B &b) {
  return detail::compare(a, b, detail::NotEqual());
}

/// An index repeated to `count`.
template <int count, class A>
requires is_index<A> EIDER_DEVICE Fragment<int64, count> spread(const A &a) {
  Fragment<int64, count> result;
  EIDER_UNROLL
  for (int i = 0; i < count; ++i)
    result.fill(i, element<count>(a, i));
  return result;
}

/// An index of 32 bits in 64.
template <class To>
requires same<To, int64> EIDER_DEVICE int64 to(int32 a) { return a; }
template <class To, int count>
requires same<To, int64> EIDER_DEVICE Fragment<int64, count> to(const Fragment<int32, count> &a) {
  return spread<count>(a);
}

} // namespace eider

#endif // EIDER_INDEX_CUH
