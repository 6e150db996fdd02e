//===- Values.h - What the cells compute on ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_VALUES_H
#define EIDER_TESTS_MATRIX_VALUES_H

#include "eider/compile.h"

#include <random>

namespace eider::matrix {

/// Makes tensors of a kind of values, the same on every machine:
/// - `normal`: of a magnitude that differs from row to row, with stretches of zeros;
/// - `specials`: those with ±0, NaN, ±Inf, subnormals, the largest and smallest numbers among them
///   in every other row;
/// - `tiny`, `huge`: near the ends of the dtype's range.
class ValueSource {
public:
  ValueSource(std::string kind, uint64_t seed) : kind(std::move(kind)), random(seed) {}

  /// f32, bf16 or f16 values, or FP8 codes: any but NaN and Inf where no specials are asked for.
  HostTensor tensor(const std::string &name, DType dtype, const std::vector<int64_t> &shape);

  /// f32, bf16 or e8m0 scales: positive numbers; among specials a few of 0, Inf, NaN and
  /// subnormals, as far as the type has them. i32: four e8m0 each.
  HostTensor scales(const std::string &name, DType dtype, const std::vector<int64_t> &shape);

private:
  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  double bell();
  uint32_t floatBits(DType dtype, int row, int64_t column);
  uint32_t specialBits(DType dtype);
  uint8_t code(DType format, int row);

  std::string kind;
  std::mt19937_64 random;
};

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_VALUES_H
