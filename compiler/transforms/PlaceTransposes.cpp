//===- PlaceTransposes.cpp - Where a matrix is turned ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// A transpose goes through shared memory, so it should move few and narrow elements, and what is
// the same of a matrix and of its transpose should be computed once. Transposes sink through
// elementwise arithmetic, codes and two-dimensional blocks until a value a block along the
// transpose's own rows meets them; those of widened elements are of the narrow ones.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace eider::ir;

namespace {
/// Whether a tensor's dims are all 1.
bool isOneValue(Type type) {
  return llvm::all_of(dimsOf(type).getExprs(), [](const DimExpr &dim) { return dim.isOne(); });
}

/// A value that reads the same in the matrix and in its transpose: one for all elements.
bool isUniform(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast && (!isa<RankedTensorType>(broadcast.getInput().getType()) ||
                       isOneValue(broadcast.getInput().getType()));
}

bool isMatrix(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2;
}

/// Whether an op does the same to each element.
bool isElementwise(Operation &op) {
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
         isa<SigmoidOp, GeluOp, PowerOfTwoOp, EncodeOp, DecodeOp>(op);
}

/// Whether the result of `op` is the transpose of what it makes of its operands' transposes.
bool commutes(Operation &op) {
  if (op.getNumResults() != 1 || !isMatrix(op.getResult(0).getType()))
    return false;
  auto isTransposed = [](Value value) { return bool(value.getDefiningOp<TransposeOp>()); };
  if (llvm::none_of(op.getOperands(), isTransposed))
    return false;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return llvm::none_of(reduce.getBlock(), [](int64_t extent) { return extent == 1; });
  return isa<BroadcastOp>(op) ||
         (isElementwise(op) && llvm::all_of(op.getOperands(), [&](Value value) {
            return isTransposed(value) || isUniform(value) || !isMatrix(value.getType());
          }));
}

/// `value` as it is in the matrix that `value` is the transpose of.
Value uprightOf(Value value, OpBuilder &builder) {
  if (auto transpose = value.getDefiningOp<TransposeOp>())
    return transpose.getInput();
  if (!isMatrix(value.getType()))
    return value;
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return BroadcastOp::create(builder, value.getLoc(),
                             transposedType(cast<RankedTensorType>(value.getType())),
                             broadcast.getInput());
}

/// Computes `op` before the transpose of its operands.
void sink(Operation &op) {
  OpBuilder builder(&op);
  IRMapping map;
  for (Value operand : op.getOperands())
    map.map(operand, uprightOf(operand, builder));
  Operation *upright = builder.clone(op, map);
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  upright->getResult(0).setType(transposedType(type));
  if (auto reduce = dyn_cast<ReduceOp>(upright)) {
    SmallVector<int64_t> block(llvm::reverse(reduce.getBlock()));
    reduce.setBlock(block);
  }
  Value result = upright->getResult(0);
  if (!isOneValue(type))
    result = TransposeOp::create(builder, op.getLoc(), result);
  op.getResult(0).replaceAllUsesWith(result);
}

/// The transpose of widened elements widens the transpose.
void narrow(TransposeOp op) {
  auto widen = op.getInput().getDefiningOp<arith::ExtFOp>();
  if (!widen)
    return;
  OpBuilder builder(op);
  Value narrow = TransposeOp::create(builder, op.getLoc(), widen.getIn());
  op.replaceAllUsesWith(
      arith::ExtFOp::create(builder, op.getLoc(), op.getType(), narrow).getResult());
}

struct PlaceTransposes : PassWrapper<PlaceTransposes, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceTransposes)
  StringRef getArgument() const final { return "eider-place-transposes"; }
  StringRef getDescription() const final { return "Transpose few and narrow elements"; }

  void runOnOperation() final {
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      if (program.getOps<TransposeOp>().empty())
        continue;
      for (Operation &op : llvm::make_early_inc_range(program.getBlock()))
        if (commutes(op))
          sink(op);
      for (TransposeOp op : llvm::make_early_inc_range(program.getOps<TransposeOp>()))
        narrow(op);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program.getBlock())))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createPlaceTransposes() {
  return std::make_unique<PlaceTransposes>();
}
