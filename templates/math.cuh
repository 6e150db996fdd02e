//===- eider/math.cuh - Elementwise arithmetic ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every function takes floats and fragments of floats, levels mixed as docs/design/text.md says.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MATH_CUH
#define EIDER_MATH_CUH

#include "eider/fragment.cuh"

namespace eider {

/// Two operands of which one at least is a fragment: what the operators here are for.
template <class A, class B>
concept FragmentOperands = Operand<A> && Operand<B> &&(is_fragment<A> || is_fragment<B>);

//===-- Operators: correctly rounded, never contracted --------------------===//

template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator+(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::one_nan(x + y); });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator-(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::one_nan(x - y); });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator*(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::one_nan(x * y); });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator/(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::one_nan(x / y); });
}
template <int count> EIDER_DEVICE auto operator-(const Fragment<float, count> &a) {
  return map(a, [](float x) { return -x; });
}

template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator<(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return x < y; });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator<=(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return x <= y; });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator>(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return x > y; });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator>=(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return x >= y; });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator==(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return x == y; });
}
template <class A, class B>
requires FragmentOperands<A, B> EIDER_DEVICE auto operator!=(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return x != y; });
}

//===-- Exact functions ---------------------------------------------------===//

/// The smaller, the larger; NaN if one is NaN. -0 is below +0.
template <Operand A, Operand B> EIDER_DEVICE auto min(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::minimum(x, y); });
}
template <Operand A, Operand B> EIDER_DEVICE auto max(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::maximum(x, y); });
}

/// The smaller, the larger; where one is NaN, the other.
template <Operand A, Operand B> EIDER_DEVICE auto min_number(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::minimum_number(x, y); });
}
template <Operand A, Operand B> EIDER_DEVICE auto max_number(const A &a, const B &b) {
  return map(a, b, [](float x, float y) { return arch::maximum_number(x, y); });
}

/// The magnitude: the sign bit cleared.
template <Operand A> EIDER_DEVICE auto abs(const A &a) {
  return map(a, [](float x) { return arch::magnitude(x); });
}

namespace detail {

/// What is left of the significand, all but the leading one, is dropped after `carry` is added to
/// it: nothing, or what carries any rest into the exponent. 2^-127 is subnormal, a bit of its own.
template <uint32 carry> EIDER_DEVICE float power_of_two(float x) {
  constexpr uint32 least = 0x00400000u, most = 0x7f000000u;
  const uint32 bits = arch::as_bits(x), power = (bits + carry) & 0x7f800000u;
  const bool is_least = bits <= least || power == 0, is_beyond = power > most;
  return x != x ? x : arch::as_float(is_least ? least : is_beyond ? most : power);
}

} // namespace detail

/// The square root, correctly rounded.
template <Operand A> EIDER_DEVICE auto sqrt(const A &a) {
  return map(a, [](float x) { return arch::sqrt(x); });
}

// Where compilers see a division they call a function for what is rare, which takes registers that
// its caller then lacks.

namespace detail {

/// The float of these bits of a magnitude, with the sign of x.
EIDER_DEVICE float with_sign(uint32 magnitude, float x) {
  return arch::as_float(magnitude | (arch::as_bits(x) & 0x80000000u));
}

EIDER_DEVICE float reciprocal(float x) {
  constexpr uint32 least = 1u << 23, most = (127 + 126) << 23, infinite = 0x7f800000u;
  const float usual = arch::rcp_of_normal(x), magnitude = arch::magnitude(x);
  const uint32 bits = arch::as_bits(magnitude);
  if (!arch::unlikely(bits - least > most - least))
    return usual;
  if (bits == 0 || bits >= infinite)
    return arch::one_nan(arch::approximate_rcp(x));
  if (bits < least)
    return arch::rcp_of_normal(x * 0x1p64f) * 0x1p64f;
  // Subnormal, and rounded twice: what it leaves, which is exact, says whether a neighbour is
  // nearer.
  const float q = arch::rcp_of_normal(x * 0x1p-64f) * 0x1p-64f, rest = arch::fma(-q, x, 1.0f),
              half = magnitude * 0x1p-75f * 0x1p-75f;
  const uint32 places = arch::as_bits(arch::magnitude(q));
  return with_sign(rest > half ? places + 1 : rest < -half ? places - 1 : places, x);
}

/// The quotient is corrected by what it leaves, which is exact: a multiple of its last place, and
/// less than 2^22 of them. What the correction is off is below 1/2^23 of a place, and no quotient
/// is nearer than 1 / (2 count) to the middle of two, but a subnormal one, which may be there.
EIDER_DEVICE float divide_by_count(float x, float count) {
  constexpr uint32 least = (127 - 90) << 23, infinite = 0x7f800000u, subnormal = 1u << 23;
  const float reciprocal = 1.0f / count, q = x * reciprocal, rest = arch::fma(-q, count, x),
              quotient = arch::fma(rest, reciprocal, q);
  const uint32 bits = arch::as_bits(arch::magnitude(x));
  if (!arch::unlikely(bits - least >= infinite - least))
    return quotient;
  if (bits == 0 || bits >= infinite)
    return arch::one_nan(q);
  const uint32 places = arch::as_bits(arch::magnitude(q));
  if (places > subnormal || 2.0f * arch::magnitude(rest) != count * arch::as_float(1))
    return quotient;
  const bool is_below = (rest > 0.0f) == (x > 0.0f); // the quotient
  return with_sign(places % 2 == 0 ? places : is_below ? places + 1 : places - 1, x);
}

} // namespace detail

/// 1 / x, correctly rounded.
template <Operand A> EIDER_DEVICE auto rcp(const A &a) {
  return map(a, [](float x) { return detail::reciprocal(x); });
}
/// x / count, correctly rounded, for a whole number below 2^20 that the text knows.
template <Operand A> EIDER_DEVICE auto divide_by_count(const A &a, float count) {
  return map(a, [count](float x) { return detail::divide_by_count(x, count); });
}

/// The power of two next to x, which is not negative: at most x, or at least x. Of 2^-127 … 2^127,
/// what an e8m0 can be: 0 gives the least, Inf the largest. NaN stays NaN.
template <Operand A> EIDER_DEVICE auto power_of_two_below(const A &a) {
  return map(a, [](float x) { return detail::power_of_two<0>(x); });
}
template <Operand A> EIDER_DEVICE auto power_of_two_above(const A &a) {
  return map(a, [](float x) { return detail::power_of_two<0x7fffffu>(x); });
}

/// a · b + c, rounded once.
template <Operand A, Operand B, Operand C>
EIDER_DEVICE auto fma(const A &a, const B &b, const C &c) {
  constexpr int larger = extent < A >> extent<B> ? extent<A> : extent<B>;
  constexpr int count = larger > extent<C> ? larger : extent<C>;
  if constexpr (is_fragment<A> || is_fragment<B> || is_fragment<C>) {
    Fragment<float, count> result;
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      result.fill(i, arch::fma(element<count>(a, i), element<count>(b, i), element<count>(c, i)));
    return result;
  } else {
    return arch::fma(a, b, c);
  }
}

/// a where the condition holds, else b. The condition is a bool or a fragment of them.
template <class Condition, Operand A, Operand B>
EIDER_DEVICE auto select(const Condition &condition, const A &a, const B &b) {
  constexpr int larger = extent < A >> extent<B> ? extent<A> : extent<B>;
  constexpr int count = larger > extent<Condition> ? larger : extent<Condition>;
  if constexpr (is_fragment<Condition> || is_fragment<A> || is_fragment<B>) {
    Fragment<float, count> result;
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      result.fill(i, element<count>(condition, i) ? element<count>(a, i) : element<count>(b, i));
    return result;
  } else {
    return condition ? a : b;
  }
}

/// An infinite float.
EIDER_DEVICE float infinity() { return arch::as_float(0x7f800000u); }

//===-- Approximate functions: bounds over all floats ---------------------===//

/// 1/sqrt(x), at most 2 ulp off.
template <Operand A> EIDER_DEVICE auto rsqrt(const A &a) {
  return map(a, [](float x) { return arch::rsqrt(x); });
}
/// e^x, at most 2 ulp off.
template <Operand A> EIDER_DEVICE auto exp(const A &a) {
  return map(a, [](float x) { return arch::exp(x); });
}
/// 2^x, at most 2 ulp off; 0 where it would be subnormal.
template <Operand A> EIDER_DEVICE auto exp2(const A &a) {
  return map(a, [](float x) { return arch::exp2(x); });
}
/// The natural logarithm, at most 2 ulp off.
template <Operand A> EIDER_DEVICE auto log(const A &a) {
  return map(a, [](float x) { return arch::log(x); });
}
/// The hyperbolic tangent, at most 2 ulp off.
template <Operand A> EIDER_DEVICE auto tanh(const A &a) {
  return map(a, [](float x) { return arch::tanh(x); });
}
/// The error function, at most 2 ulp off.
template <Operand A> EIDER_DEVICE auto erf(const A &a) {
  return map(a, [](float x) { return arch::erf(x); });
}

/// 1 / (1 + e^-x), at most 5 ulp off, and 1.25 |x| more below 0, where x log2 e is rounded. 0 where
/// it would be subnormal.
template <Operand A> EIDER_DEVICE auto sigmoid(const A &a) {
  return map(a, [](float x) {
    const float decay = arch::exp2(arch::one_nan(x * -1.44269504f));
    return arch::approximate_rcp(1.0f + decay);
  });
}

namespace detail {

/// x Φ(x) = max(x, 0) - |x| Φ(-|x|), Φ the normal distribution; Φ(-a) = 2^p(a), p a polynomial fit
/// up to 13.25, where the power is subnormal, to a relative error that may grow with a^6: a term
/// more would spare a tail that 1 + erf loses altogether, and is an instruction in twenty.
EIDER_DEVICE float gelu(float x) {
  constexpr float coefficients[] = {-0x1.000082p+0f, -0x1.26ab36p+0f, -0x1.d61b10p-2f,
                                    -0x1.b3fc3ap-5f, 0x1.095bd4p-7f,  -0x1.ad0c12p-11f,
                                    0x1.8b3794p-15f, -0x1.319e04p-20f};
  constexpr int degree = sizeof(coefficients) / sizeof(float) - 1;
  const float a = arch::minimum_number(arch::magnitude(x), 13.25f);
  float p = coefficients[degree];
  EIDER_UNROLL
  for (int i = degree - 1; i >= 0; --i)
    p = arch::fma(p, a, coefficients[i]);
  return arch::fma(-a, arch::exp2(p), arch::maximum(x, -0.0f));
}

} // namespace detail

/// x / 2 (1 + erf(x / √2)), at most 96 ulp off, and 0.6 x⁶ more below 0 (of the result 0.03 % at
/// -4, 2 % at -8). -0 below -12.9, where it would be subnormal times x.
template <Operand A> EIDER_DEVICE auto gelu(const A &a) {
  return map(a, [](float x) { return detail::gelu(x); });
}

//===-- Levels --------------------------------------------------------------===//

/// A value, or each value of a group fragment, repeated to `count` elements.
template <int count, class A>
requires(is_operand<A> || is_packed<A>) EIDER_DEVICE auto spread(const A &a) {
  Fragment<decltype(element<count>(a, 0)), count> result{};
  EIDER_UNROLL
  for (int i = 0; i < count; ++i)
    result.fill(i, element<count>(a, i));
  return result;
}

} // namespace eider

#endif // EIDER_MATH_CUH
