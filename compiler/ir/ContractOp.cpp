//===- ContractOp.cpp - How a contraction may be multiplied ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/Eider.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace eider::ir;

RankedTensorType ContractOp::matrixOf(Type type) {
  auto scaled = dyn_cast<ScaledType>(type);
  return scaled ? scaled.getCodesType() : cast<RankedTensorType>(type);
}

std::optional<int64_t> ContractOp::blockOf(Value matrix, Value scales) {
  int64_t block = ShapedType::kDynamic;
  if (auto scaled = dyn_cast<ScaledType>(matrix.getType())) {
    block = scaled.getBlock().back();
    if (!ShapedType::isDynamic(block) && scaled.getDims().getExprs().back().blocks(block).isOne())
      return std::nullopt; // as its scales' type has it
  } else if (scales) {
    const DimExpr whole = dimsOf(matrix.getType()).getExprs().back(),
                  part = dimsOf(scales.getType()).getExprs().back();
    block = part.isOne() ? block : part.divisor / whole.divisor;
  }
  return ShapedType::isDynamic(block) ? std::nullopt : std::optional(block);
}

bool ContractOp::mayMeetAsCodes() {
  constexpr int64_t stage = 128;
  auto isMet = [=](RankedTensorType type, std::optional<int64_t> block) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type.getElementType()) &&
           block.value_or(stage) == stage;
  };
  return isMet(weightsType(), weightsBlock()) && isMet(vectorType(), vectorBlock());
}

bool ContractOp::mayMeetAsF16() {
  constexpr int64_t stage = 128; // of which warpgroups multiply a whole number
  return isOfMatrices() && !isOfGroups() && !getVectorScales() &&
         weightsType().getShape().back() % stage == 0 && vectorType().getElementType().isBF16() &&
         isa<Float8E4M3FNType, Float8E5M2Type>(weightsType().getElementType());
}

Type ContractOp::mayMeetAsPairs() {
  constexpr int64_t met = 16; // by four lanes, at least
  auto widened = getVector().getDefiningOp<arith::ExtFOp>();
  if (isOfMatrices() || !widened || weightsBlock().value_or(met) % met != 0)
    return {};
  Value codes = getWeights();
  if (auto decode = codes.getDefiningOp<DecodeOp>())
    codes = decode.getInput();
  else if (!isa<ScaledType>(codes.getType()))
    return {};
  const Type half = getElementTypeOrSelf(widened.getIn().getType());
  return codes.getDefiningOp<InputOp>() && (half.isBF16() || half.isF16()) ? half : Type();
}

bool ContractOp::foldsScales() {
  auto narrow = [](Value value) { // what is widened, or decoded
    if (auto decode = value.getDefiningOp<DecodeOp>())
      return getElementTypeOrSelf(decode.getInput());
    if (auto widened = value.getDefiningOp<arith::ExtFOp>())
      return getElementTypeOrSelf(widened.getIn());
    return getElementTypeOrSelf(value);
  };
  if (!getScales() || !weightsBlock() || !isa<Float4E2M1FNType>(narrow(getWeights())) ||
      !isa<Float8E4M3FNType, Float8E8M0FNUType>(narrow(getScales())))
    return false;
  const Type met = isOfMatrices() ? vectorType().getElementType() : mayMeetAsPairs();
  return met && (met.isBF16() || met.isF32());
}
