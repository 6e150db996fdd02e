//===- Quantize.cpp - Values to codes and scales, and back ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Quantize.h"

#include "compiler/interpreter/Blocks.h"
#include "compiler/interpreter/Elementwise.h"

#include <cmath>

using namespace eider;
using namespace eider::interpreter;

namespace {
/// A tensor like `other`, of one f32 value.
Tensor constantLike(const Tensor &other, double value) {
  Tensor result(DType::f32, other.shape);
  std::fill(result.values.begin(), result.values.end(), roundTo(DType::f32, value));
  return result;
}

/// A tensor like `other`, of the one value of a tensor.
Tensor repeatedLike(const Tensor &other, const Tensor &one) {
  Tensor result(one.dtype, other.shape);
  std::fill(result.values.begin(), result.values.end(), one.values.front());
  if (!one.isExact())
    result.ranges.assign(result.values.size(), one.ranges.front());
  return result;
}

/// Scales with both of their levels, or with their one.
Tensor combined(const Tensor &scales, const std::optional<Tensor> &global) {
  if (!global)
    return scales;
  return apply(operations::multiply, convert(scales, DType::f32), repeatedLike(scales, *global));
}

Tensor withConstant(Binary operation, const Tensor &a, double value) {
  return apply(operation, a, constantLike(a, value));
}

/// Each block's amax, clamped.
Tensor blockAmax(const Tensor &input, const Numerics &numerics, llvm::ArrayRef<int64_t> block) {
  auto kind = numerics.nan == ir::NaN::ignore ? ir::Reduction::amax_number : ir::Reduction::amax;
  Tensor amax = reduce(kind, input, block);
  amax = withConstant(operations::maximum, amax, numerics.amaxFloor);
  return withConstant(operations::minimum, amax, numerics.amaxBound);
}

/// The scale by the formula, before it is rounded to what is stored and before the rule about
/// blocks of zeros.
Tensor ratioFromAmax(const Tensor &amax, const Numerics &numerics, double largest,
                     const std::optional<Tensor> &global) {
  const Tensor most = combined(constantLike(amax, largest), global);
  Tensor ratio;
  if (numerics.powerOfTwo != ir::PowerOfTwo::none && numerics.powerOfTwo != ir::PowerOfTwo::rceil)
    ratio = withConstant(operations::divide, amax, powerOfTwoBelow(largest));
  else if (numerics.scale == ir::ScaleFormula::amax_over_max)
    ratio = apply(operations::divide, amax, most);
  else
    ratio =
        apply(operations::multiply, amax, apply(operations::divide, constantLike(amax, 1), most));
  return withConstant(operations::maximum, ratio, numerics.scaleFloor);
}

Tensor isZero(const Tensor &ratio) {
  return compareValues(mlir::arith::CmpFPredicate::OEQ, ratio, constantLike(ratio, 0));
}

/// Down, after rounding to the digits of the format.
Tensor evenPower(const Tensor &ratio, DType format) {
  Binary power = [](double value, double bits) {
    return powerOfTwoBelow(roundToBits(value, static_cast<int>(bits)));
  };
  return withConstant(power, ratio, significantBitsOfFp8(format));
}

/// A ratio as a scale of a type, in f32: a power of two where the numerics ask for one.
Tensor roundScale(const Tensor &ratio, const Numerics &numerics, DType format, DType type) {
  switch (numerics.powerOfTwo) {
  case ir::PowerOfTwo::none:
    return convert(convert(ratio, type), DType::f32);
  case ir::PowerOfTwo::floor:
    return apply(powerOfTwoBelow, ratio);
  case ir::PowerOfTwo::even:
    return evenPower(ratio, format);
  case ir::PowerOfTwo::ceil:
  case ir::PowerOfTwo::rceil:
    break;
  }
  return apply(powerOfTwoAbove, ratio);
}

/// max/amax as te_current takes it: 1 where amax is 0, Inf or NaN, else at most the bound.
Tensor currentMultiplier(const Tensor &amax, const Numerics &numerics, double largest) {
  Tensor multiplier = apply(operations::divide, constantLike(amax, largest), amax);
  multiplier = withConstant(operations::minimum, multiplier, numerics.multiplierBound);
  Tensor one = constantLike(amax, 1);
  if (numerics.zeroBlock != ir::ZeroBlock::formula)
    multiplier = select(isZero(amax), one, multiplier);
  if (numerics.zeroBlock == ir::ZeroBlock::one_if_not_finite) {
    Tensor infinity = constantLike(amax, std::numeric_limits<double>::infinity());
    Tensor isFinite = compareValues(mlir::arith::CmpFPredicate::OLT, amax, infinity);
    multiplier = select(isFinite, multiplier, one);
  }
  return numerics.powerOfTwo == ir::PowerOfTwo::none ? multiplier
                                                     : apply(powerOfTwoBelow, multiplier);
}

/// The scale of each block, of the stored type.
Tensor scaleFromAmax(const Tensor &amax, const Numerics &numerics, DType format, DType type,
                     const std::optional<Tensor> &global) {
  const double largest = largestFp8(format);
  if (numerics.scale == ir::ScaleFormula::inverse_of_max_over_amax) {
    Tensor multiplier = currentMultiplier(amax, numerics, largest);
    return convert(apply(operations::divide, constantLike(amax, 1), multiplier), type);
  }
  Tensor ratio = ratioFromAmax(amax, numerics, largest, global);
  Tensor scale = roundScale(ratio, numerics, format, type);
  if (numerics.zeroBlock == ir::ZeroBlock::one) {
    bool isPower = numerics.powerOfTwo != ir::PowerOfTwo::none;
    scale = select(isZero(isPower ? ratio : scale), constantLike(scale, 1), scale);
  }
  return convert(scale, type);
}

/// What values are multiplied with: 1/s, or max/amax (1 in a block of zeros, whose codes are
/// zeros). Without an amax the given scale stands for amax/max.
Tensor multiplierOf(const Quantization &origin, const Tensor &scales, double largest) {
  const Numerics &numerics = origin.numerics;
  if (numerics.scale == ir::ScaleFormula::inverse_of_max_over_amax && origin.amax)
    return currentMultiplier(*origin.amax, numerics, largest);
  bool overAmax = numerics.arithmetic == ir::Arithmetic::max_over_amax && origin.amax;
  Tensor multiplier = overAmax
                          ? apply(operations::divide, constantLike(scales, largest), *origin.amax)
                          : apply(operations::divide, constantLike(scales, 1), scales);
  multiplier = withConstant(operations::minimum, multiplier, numerics.multiplierBound);
  if (!overAmax || numerics.zeroBlock == ir::ZeroBlock::formula)
    return multiplier;
  Tensor zero = isZero(ratioFromAmax(*origin.amax, numerics, largest, origin.global));
  return select(zero, constantLike(multiplier, 1), multiplier);
}
} // namespace

Tensor interpreter::quotient(const Tensor &input, const Tensor &divisor, EncodeRules rules) {
  Tensor result = apply(operations::divide, input, divisor);
  bool keepsSign = rules == EncodeRules();
  for (int64_t i = 0; keepsSign && i < result.size(); ++i)
    if (std::isnan(input.values[i]))
      result.values[i] = input.values[i];
  return result;
}

EncodeRules interpreter::rulesOf(const Numerics &numerics) {
  return {numerics.overflow == ir::Overflow::format, numerics.nan == ir::NaN::ignore};
}

CodeTensor interpreter::encode(DType format, EncodeRules rules, Tensor operand,
                               std::vector<uint16_t> random) {
  CodeTensor result{format, rules, std::move(operand), {}, std::move(random)};
  result.codes.reserve(result.operand.values.size());
  for (int64_t i = 0; i < result.operand.size(); ++i)
    result.codes.push_back(encodeFp8(format, result.operand.values[i], result.rulesAt(i)));
  return result;
}

Tensor interpreter::decode(const CodeTensor &codes) {
  Tensor result(DType::f32, codes.operand.shape);
  result.isLoose = codes.operand.isLoose;
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = decodeFp8(codes.format, codes.codes[i]);
  auto throughCode = [&](double value, int64_t i) {
    return decodeFp8(codes.format, encodeFp8(codes.format, value, codes.rulesAt(i)));
  };
  for (int64_t i = 0; i < std::ssize(codes.operand.ranges); ++i) {
    const Range &range = codes.operand.ranges[i];
    Hull hull;
    hull.add(throughCode(range.lower, i));
    hull.add(throughCode(range.upper, i));
    result.ranges.push_back(range.isAnything() ? range : hull.get());
  }
  return result;
}

Tensor interpreter::scaledOperand(const Quantization &origin, const Tensor &scales,
                                  const Extents &extents, DType format) {
  const Tensor &input = origin.input;
  bool divides = origin.numerics.arithmetic == ir::Arithmetic::divide;
  const Tensor divisor = combined(scales, origin.global);
  Tensor factor = divides ? divisor : multiplierOf(origin, divisor, largestFp8(format));
  factor = broadcast(factor, input.shape, extents);
  if (!divides)
    return apply(operations::multiply, input, factor);
  // A power of two may be multiplied with its inverse, which is as exact: then a NaN's sign is
  // lost.
  bool isPower = scales.dtype == DType::e8m0 ||
                 (origin.amax && origin.numerics.powerOfTwo != ir::PowerOfTwo::none);
  return isPower ? apply(operations::divide, input, factor)
                 : quotient(input, factor, rulesOf(origin.numerics));
}

ScaledTensor interpreter::quantize(const Tensor &input, const Tensor *given, const Tensor *global,
                                   std::vector<uint16_t> random, const Numerics &numerics,
                                   DType format, DType scaleType, llvm::ArrayRef<int64_t> block) {
  ScaledTensor result;
  result.block = blockExtents(block, input.shape);
  Quantization origin{input, std::nullopt, std::nullopt, numerics};
  if (global)
    result.global = origin.global = *global;
  if (given) {
    result.scales = *given;
  } else {
    origin.amax = blockAmax(input, numerics, block);
    result.scales = scaleFromAmax(*origin.amax, numerics, format, scaleType, origin.global);
  }
  result.codes =
      encode(format, rulesOf(numerics), scaledOperand(origin, result.scales, result.block, format),
             std::move(random));
  result.origin = std::move(origin);
  return result;
}

Tensor interpreter::scalesOfElements(const ScaledTensor &scaled) {
  return broadcast(combined(scaled.scales, scaled.global), scaled.codes.operand.shape,
                   scaled.block);
}

Tensor interpreter::dequantize(const ScaledTensor &scaled) {
  return apply(operations::multiply, decode(scaled.codes), scalesOfElements(scaled));
}
