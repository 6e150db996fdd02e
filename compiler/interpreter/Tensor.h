//===- Tensor.h - Values of the interpreter ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_TENSOR_H
#define EIDER_INTERPRETER_TENSOR_H

#include "compiler/interpreter/Fp8.h"
#include "compiler/interpreter/Range.h"
#include "compiler/ir/Eider.h"

#include <optional>
#include <vector>

namespace eider::interpreter {

/// One extent an axis.
using Extents = std::vector<int64_t>;

inline int64_t elementsOf(const Extents &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// A tensor of f32, bf16, f16, e8m0 or, of scales, e4m3 (a scalar has rank 0), of comparison
/// results (dtype u8, 0 or 1), or of integers (i64) and random bits (i32), row-major. Values are in
/// double and always values of the element type.
struct Tensor {
  DType dtype = DType::f32;
  Extents shape;
  std::vector<double> values;
  /// What a conforming implementation may have in place of each value; empty in the exact class,
  /// where it has just that value.
  std::vector<Range> ranges;
  /// Somewhere on the way to these values a sum was smaller than a term of it that is not exact
  /// (few ulp of that term are many of the sum), or a function's bound was wide, as attention's is.
  bool isLoose = false;

  Tensor() = default;
  Tensor(DType dtype, Extents shape)
      : dtype(dtype), shape(std::move(shape)), values(elementsOf(this->shape)) {}

  bool isExact() const { return ranges.empty(); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  Range range(int64_t i) const { return isExact() ? Range::point(values[i]) : ranges[i]; }
};

/// FP8 or FP4 codes, and the f32 values of which they are the codes.
struct CodeTensor {
  DType format = DType::e4m3;
  EncodeRules rules;
  Tensor operand;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> random = {}; ///< By which each was rounded; empty: to nearest even.

  EncodeRules rulesAt(int64_t i) const {
    EncodeRules own = rules;
    if (!random.empty())
      own.random = random[i];
    return own;
  }
};

/// The parameters of a NumericsAttr, by value: results outlive the context of their program.
struct Numerics {
  ir::ScaleFormula scale;
  ir::PowerOfTwo powerOfTwo;
  ir::Arithmetic arithmetic;
  double amaxFloor, amaxBound, scaleFloor, multiplierBound;
  ir::ZeroBlock zeroBlock;
  ir::Overflow overflow;
  ir::NaN nan;
  ir::Rounding rounding;

  explicit Numerics(ir::NumericsAttr attr)
      : scale(attr.getScale()), powerOfTwo(attr.getPowerOfTwo()), arithmetic(attr.getArithmetic()),
        amaxFloor(attr.getAmaxFloor()), amaxBound(attr.getAmaxBound()),
        scaleFloor(attr.getScaleFloor()), multiplierBound(attr.getMultiplierBound()),
        zeroBlock(attr.getZeroBlock()), overflow(attr.getOverflow()), nan(attr.getNan()),
        rounding(attr.getRounding()) {}
};

/// How the codes of a quantisation came from values and scales; what a comparison needs to redo it
/// with other scales.
struct Quantization {
  Tensor input;
  std::optional<Tensor> amax;   ///< One value a block, clamped; none with a given scale.
  std::optional<Tensor> global; ///< The second level of the scales: one value.
  Numerics numerics;
};

/// A scaled tensor.
struct ScaledTensor {
  CodeTensor codes;
  Tensor scales;
  Extents block;                      ///< As the type says, `*` as the extent.
  std::optional<Tensor> global;       ///< The second level of the scales: one value.
  std::optional<Quantization> origin; ///< None for a program's input.
};

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_TENSOR_H
