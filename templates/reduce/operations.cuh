//===- eider/reduce/operations.cuh - What a reduction combines --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_OPERATIONS_CUH
#define EIDER_REDUCE_OPERATIONS_CUH

#include "eider/fragment.cuh"
#include "eider/reduce/tree.cuh"

namespace eider {

// An operation has an identity, which stands for elements outside the matrix; `of`, what an element
// contributes; `combine`; and `ordered_as_bits`: whether results are magnitudes whose maximum may
// be taken as unsigned integers, NaN above all.

struct Sum {
  static constexpr bool ordered_as_bits = false;
  static constexpr EIDER_DEVICE float identity() { return 0.0f; }
  static EIDER_DEVICE float of(float x) { return x; }
  static EIDER_DEVICE float combine(float a, float b) { return arch::one_nan(a + b); }
};

/// NaN wins.
struct Maximum {
  static constexpr bool ordered_as_bits = false;
  static EIDER_DEVICE float identity() { return arch::as_float(0xff800000u); }
  static EIDER_DEVICE float of(float x) { return x; }
  static EIDER_DEVICE float combine(float a, float b) { return arch::maximum(a, b); }
};
struct Minimum {
  static constexpr bool ordered_as_bits = false;
  static EIDER_DEVICE float identity() { return arch::as_float(0x7f800000u); }
  static EIDER_DEVICE float of(float x) { return x; }
  static EIDER_DEVICE float combine(float a, float b) { return arch::minimum(a, b); }
};

/// The largest magnitude. NaN wins.
struct MaximumMagnitude {
  static constexpr bool ordered_as_bits = true;
  static EIDER_DEVICE float identity() { return 0.0f; }
  static EIDER_DEVICE float of(float x) { return arch::magnitude(x); }
  static EIDER_DEVICE float combine(float a, float b) { return arch::maximum_magnitude(a, b); }
};

/// The largest magnitude of those that are numbers; 0 if there is none.
struct MaximumMagnitudeOfNumbers {
  static constexpr bool ordered_as_bits = false;
  static EIDER_DEVICE float identity() { return 0.0f; }
  static EIDER_DEVICE float of(float x) { return arch::maximum_number(arch::magnitude(x), 0.0f); }
  static EIDER_DEVICE float combine(float a, float b) { return arch::maximum_number(a, b); }
};

/// Elements first … first + count - 1 of a thread, combined.
template <class Operation, int count, int all>
EIDER_DEVICE float reduce_elements(const Fragment<float, all> &values, int first) {
  return tree<count>([&](int i) { return Operation::of(values[i]); },
                     [](float a, float b) { return Operation::combine(a, b); }, first);
}

/// The sum of `count` products a · b, from elements `first` of a and `from` of b on, fused: chains
/// of four, then a balanced tree. Longer chains would leave the bound that a sum's depth gives.
template <int count, int all, int others>
EIDER_DEVICE float sum_products(const Fragment<float, all> &a, const Fragment<float, others> &b,
                                int first = 0, int from = 0) {
  constexpr int chains = count < 8 ? 1 : count / 4;
  Fragment<float, chains> sums;
  EIDER_UNROLL
  for (int i = 0; i < chains; ++i)
    sums.fill(i, arch::one_nan(a[first + i] * b[from + i]));
  EIDER_UNROLL
  for (int i = chains; i < count; ++i)
    sums.fill(i % chains, arch::fma(a[first + i], b[from + i], sums[i % chains]));
  return reduce_elements<Sum, chains>(sums, 0);
}

/// The sum of a · scale · b for `count` elements of a from `first` on and all of b. Neighbours have
/// one of the scales, from `scale` on, and are scaled together.
template <int groups, int count, int all, int scales_of_all>
EIDER_DEVICE float
sum_scaled_products(const Fragment<float, all> &a, const Fragment<float, scales_of_all> &scales,
                    const Fragment<float, count> &b, int first = 0, int scale = 0) {
  constexpr int each = count / groups;
  Fragment<float, groups> sums;
  EIDER_UNROLL
  for (int g = 0; g < groups; ++g)
    sums.fill(g, sum_products<each>(a, b, first + g * each, g * each));
  return sum_products<groups>(scales, sums, scale);
}

/// The same for the 16-bit floats: the largest magnitude is taken two a word where the target can,
/// and as floats else.
template <class Operation, int count, class T, int all>
EIDER_DEVICE float reduce_elements(const Fragment<T, all> &values, int first) {
  if constexpr (same<Operation, MaximumMagnitude> && arch::has_packed_maximum && count % 2 == 0) {
    const auto combine = [](uint32 a, uint32 b) {
      return same<T, bf16> ? arch::maximum_magnitude_bf16x2(a, b)
                           : arch::maximum_magnitude_f16x2(a, b);
    };
    const uint32 both = tree<count / 2>(
        [&](int i) { return arch::packed_magnitudes(values.words[i]); }, combine, first / 2);
    return Operation::combine(detail::low_half<T>(both), detail::high_half<T>(both));
  } else {
    return tree<count>([&](int i) { return Operation::of(to<float>(values[i])); },
                       [](float a, float b) { return Operation::combine(a, b); }, first);
  }
}

/// The largest x · factor: as rounded products keep an order, that of the largest x or of the
/// smallest, which are taken two a word.
template <int count, class T>
EIDER_DEVICE float largest_product(const Fragment<T, count> &x, float factor) {
  const auto each = [&](int i) { return to<float>(x[i]) * factor; };
  const auto larger = [](float a, float b) { return arch::maximum(a, b); };
  constexpr bool is_packed = arch::has_packed_maximum && count % 2 == 0;
  // Of an infinite factor the product with a zero is NaN.
  if (!is_packed || arch::unlikely(!(arch::magnitude(factor) < arch::as_float(0x7f800000u))))
    return tree<count>(each, larger);
  if constexpr (is_packed) {
    const auto word = [&](int i) { return x.words[i]; };
    const uint32 least = tree<count / 2>(word, [](uint32 a, uint32 b) {
      return same<T, bf16> ? arch::minimum_bf16x2(a, b) : arch::minimum_f16x2(a, b);
    });
    const uint32 most = tree<count / 2>(word, [](uint32 a, uint32 b) {
      return same<T, bf16> ? arch::maximum_bf16x2(a, b) : arch::maximum_f16x2(a, b);
    });
    return larger(larger(detail::low_half<T>(least) * factor, detail::high_half<T>(least) * factor),
                  larger(detail::low_half<T>(most) * factor, detail::high_half<T>(most) * factor));
  }
}

} // namespace eider

#endif // EIDER_REDUCE_OPERATIONS_CUH
