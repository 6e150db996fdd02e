//===- LowerContract.cpp - Weights times a vector, by threads -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// A scale that all of a row have is the sum's; others are their groups'.
LogicalResult ProgramLowering::contract(ContractOp op) {
  if (!tile.spansRows())
    return op.emitError("a contraction in a kernel of two-dimensional blocks: quantise in a "
                        "program of its own");
  Value scales = op.getScales() ? map.lookup(op.getScales()) : Value();
  bool isOfRow = false;
  if (scales) {
    const LevelKind kind = domain.levelOf(op.getScales().getType())->kind;
    isOfRow = kind == LevelKind::rows || kind == LevelKind::uniform;
  }
  const Type held = heldType(op.getType());
  Value sum = simt::ReduceOp::create(builder, op.getLoc(), held, Reduction::sum,
                                     map.lookup(op.getWeights()), map.lookup(op.getVector()),
                                     isOfRow ? Value() : scales, cursor, /*group=*/0);
  if (isOfRow) {
    sum.getDefiningOp()->setAttr("eider.name", builder.getStringAttr("unscaled"));
    if (scales.getType() != held)
      scales = simt::SpreadOp::create(builder, op.getLoc(), held, scales);
    sum = arith::MulFOp::create(builder, op.getLoc(), sum, scales);
  }
  Attribute given = op->getAttr("eider.name");
  sum.getDefiningOp()->setAttr("eider.name", given ? given : builder.getStringAttr("dot"));
  map.map(op.getResult(), sum);
  return success();
}
