//===- Quantize.h - Values to codes and scales, and back --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_QUANTIZE_H
#define EIDER_INTERPRETER_QUANTIZE_H

#include "compiler/interpreter/Tensor.h"

namespace eider::interpreter {

/// The codes of f32, bf16 or f16 values, rounded by `random`, 16 bits each, unless that is empty.
CodeTensor encode(DType format, EncodeRules rules, Tensor operand,
                  std::vector<uint16_t> random = {});

/// What is encoded for input / divisor. A saturating code of a NaN input has its sign; by other
/// rules the division comes first, and its NaN may have any.
Tensor quotient(const Tensor &input, const Tensor &divisor, EncodeRules rules);

/// The f32 values of codes: exact where the codes are.
Tensor decode(const CodeTensor &codes);

/// eider.quantize into blocks of `extents`. `given`: the scales, else they come from each block's
/// amax, step by step in f32 as the numerics say, and are stored in `scaleType`. `global`: the
/// second level of scales that have two, one value. `random`: of stochastic rounding, 16 bits an
/// element.
ScaledTensor quantize(const Tensor &input, const Tensor *given, const Tensor *global,
                      std::vector<uint16_t> random, const Numerics &numerics, DType format,
                      DType scaleType, llvm::ArrayRef<int64_t> block);

/// The scale of each element; of two levels, their product.
Tensor scalesOfElements(const ScaledTensor &scaled);

/// Code × scale, in f32; the scale of two levels is their product.
Tensor dequantize(const ScaledTensor &scaled);

/// What is encoded when `input` is quantised with these scales, which need not be the reference's
/// own.
EncodeRules rulesOf(const Numerics &numerics);
Tensor scaledOperand(const Quantization &origin, const Tensor &scales, const Extents &extents,
                     DType format);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_QUANTIZE_H
