//===- eider/contraction/lanes.cuh - A row's products, by lanes -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Where lanes of a warp hold a row of codes, and each the elements of a vector that its codes meet,
// tensor cores multiply them as they are held. Of a product of 16 × 16 by 16 × 8 the four lanes
// from 4t on have row t of the first operand and column t of the second: if both are what they
// hold, the sum where these meet is that of their own products. What the row makes of the columns
// of other lanes is nobody's. Rows t and t + 8 are two rows of codes.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_LANES_CUH
#define EIDER_CONTRACTION_LANES_CUH

#include "eider/contraction/folded.cuh"

namespace eider {

/// How a tile multiplies codes by a vector of bf16 or f16 (`sum_of_products`): products are exact,
/// and added up by tensor cores. By whole warps, of which four lanes have scales together; codes
/// and elements outside the matrix are 0.
template <class Code> struct TensorCores {
  /// A thread's part of the sums of so many `rows`, whose elements it holds one row after the
  /// other: one of four lanes has what is theirs together.
  template <int rows, class W, class X, int count, int length>
  static EIDER_DEVICE Fragment<float, rows>
  own_sums(const Fragment<W, count> &codes, const Fragment<X, length> &vector, arch::Site at) {
    const auto of_none = [](int, int) { return 1.0f; };
    return own<rows, length / step_of(length)>(codes, of_none, vector, at);
  }

  /// The same of codes · scale · vector, where the elements of a group have a scale together; of
  /// four lanes of which a row `may_end` in one, the first has the scales for sure.
  template <int rows, bool may_end, class W, class X, int count, int length, int groups>
  static EIDER_DEVICE Fragment<float, rows>
  own_scaled_sums(const Fragment<W, count> &codes, const Fragment<float, groups> &scales,
                  const Fragment<X, length> &vector, arch::Site at) {
    static_assert(groups % rows == 0, "each row has as many groups");
    constexpr int of_row = groups / rows;
    Fragment<float, groups> common = scales;
    if constexpr (may_end) {
      EIDER_UNROLL
      for (int g = 0; g < groups; ++g)
        common.words[g] = arch::shuffle(scales.words[g], arch::thread_index() % 32 / 4 * 4, at);
    }
    const auto of_group = [&](int row, int group) { return common[row * of_row + group]; };
    return own<rows, of_row>(codes, of_group, vector, at);
  }

  /// The same where pairs meet scales beforehand, which are each lane's own.
  template <int rows, bool may_end, class W, class S, class X, int count, int length, int groups>
  requires folds_scales<W, S, X>
  static EIDER_DEVICE Fragment<float, rows> own_scaled_sums(const Fragment<W, count> &codes,
                                                            const Fragment<S, groups> &scales,
                                                            const Fragment<X, length> &vector,
                                                            arch::Site at) {
    constexpr int step = length % 32 == 0 ? 32 : length % 16 == 0 ? 16 : 8; // at a time
    constexpr int of_row = groups / rows, each = length / of_row,
                  some = step > each ? step / each : 1;
    using Factors = ScaleFactors<W, S, 2 * some>;
    static_assert(count == rows * length && length == of_row * each &&
                      (step % each == 0 || each % step == 0),
                  "a row's elements meet the vector's, eight neighbours at a time");
    float sums[(rows + 1) / 2][4]{};
    EIDER_UNROLL
    for (int first = 0; first < length; first += step) {
      const auto x = parted(some_of<step>(vector, first));
      EIDER_UNROLL
      for (int row = 0; row < rows; row += 2) {
        Fragment<S, 2 * some> of_both{};
        EIDER_UNROLL
        for (int i = 0; i < 2 * some; ++i)
          if (row + i / some < rows)
            of_both.fill(i, scales[(row + i / some) * of_row + first / each + i % some]);
        const Factors factors(of_both);
        uint32 w[2][step / 2]{}; // of an odd number of rows the last is zeros
        EIDER_UNROLL
        for (int half = 0; half < 2 && row + half < rows; ++half)
          folded_pairs(
              some_of<step>(codes, (row + half) * length + first), factors,
              [=](int i) { return half * some + i / each; }, w[half]);
        EIDER_UNROLL
        for (int i = 0; i < step / 2; i += 2) {
          const uint32 a[4] = {w[0][i], w[1][i], w[0][i + 1], w[1][i + 1]};
          multiply_add_of<X>(sums[row / 2], a, &x.words[i], at);
        }
      }
    }
    auto result = own_of<rows>(sums);
    EIDER_UNROLL
    for (int row = 0; row < rows; ++row)
      result.fill(row, result[row] * static_cast<float>(1 << Factors::lowered));
    return result;
  }

private:
  /// Of so many elements these are decoded at a time: few registers, and one test for NaN.
  static constexpr EIDER_DEVICE int step_of(int elements) {
    return elements % 16 == 0 ? 16 : elements % 8 == 0 ? 8 : 4;
  }

  template <int rows, int groups, class W, class X, int count, int length, class Scale>
  static EIDER_DEVICE Fragment<float, rows> own(const Fragment<W, count> &codes, Scale scale,
                                                const Fragment<X, length> &vector, arch::Site at) {
    constexpr int each = length / groups, step = step_of(each);
    static_assert(count == rows * length && length == groups * each && each % step == 0,
                  "a row's elements meet the vector's, four neighbours at a time");
    float sums[(rows + 1) / 2][4]{};
    EIDER_UNROLL
    for (int group = 0; group < groups; ++group) {
      float unscaled[(rows + 1) / 2][4]{};
      EIDER_UNROLL
      for (int first = group * each; first < (group + 1) * each; first += step) {
        uint32 x[step / 2];
        EIDER_UNROLL
        for (int i = 0; i < step / 2; ++i)
          x[i] = vector.words[first / 2 + i];
        EIDER_UNROLL
        for (int row = 0; row < rows; row += 2) {
          uint32 w[2][step / 2]{}; // of an odd number of rows the last is zeros
          EIDER_UNROLL
          for (int half = 0; half < 2 && row + half < rows; ++half)
            pairs_of_codes<Code::conversion>(some_of<step>(codes, (row + half) * length + first),
                                             w[half], X());
          EIDER_UNROLL
          for (int i = 0; i < step / 2; i += 2) {
            const uint32 a[4] = {w[0][i], w[1][i], w[0][i + 1], w[1][i + 1]};
            multiply_add_of<X>(unscaled[row / 2], a, &x[i], at);
          }
        }
      }
      EIDER_UNROLL
      for (int i = 0; i < 2 * rows; ++i)
        sums[i / 4][i % 4] =
            arch::fma(unscaled[i / 4][i % 4], scale(i / 2, group), sums[i / 4][i % 4]);
    }
    return own_of<rows>(sums);
  }

  /// Columns 2t and 2t + 1 are of lane t of four: of those the one whose row has that number.
  template <int rows>
  static EIDER_DEVICE Fragment<float, rows> own_of(const float (&sums)[(rows + 1) / 2][4]) {
    const int lane = arch::thread_index() % 32;
    const bool has_sums = lane % 4 == lane / 8, is_second = lane / 4 % 2 != 0;
    Fragment<float, rows> result;
    EIDER_UNROLL
    for (int row = 0; row < rows; ++row) {
      const float *of_row = &sums[row / 2][row % 2 * 2];
      result.fill(row, !has_sums ? 0.0f : is_second ? of_row[1] : of_row[0]);
    }
    return result;
  }

  template <int some, class T, int count>
  static EIDER_DEVICE Fragment<T, some> some_of(const Fragment<T, count> &elements, int first) {
    constexpr int per_word = Fragment<T, count>::per_word;
    static_assert(some % per_word == 0, "whole words");
    Fragment<T, some> result;
    EIDER_UNROLL
    for (int i = 0; i < some / per_word; ++i)
      result.words[i] = elements.words[first / per_word + i];
    return result;
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_LANES_CUH
