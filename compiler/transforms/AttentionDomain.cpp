//===- AttentionDomain.cpp - Attention, as its kernels have it ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Domain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// Whether a program is one such op and nothing else, but for rounding.
template <class Attends> static bool isAlone(ProgramOp program) {
  return llvm::all_of(program.getBlock(),
                      [](Operation &op) {
                        return isa<InputOp, ScalarOp, Attends, OutputOp>(op) ||
                               (isa<arith::TruncFOp>(op) && op.hasOneUse() &&
                                op.getOperand(0).getDefiningOp<Attends>() &&
                                op.getOperand(0).hasOneUse());
                      }) &&
         llvm::hasSingleElement(program.getOps<Attends>()) &&
         llvm::hasSingleElement(program.getOps<OutputOp>()) &&
         llvm::all_of(program.getOps<InputOp>(), [](InputOp op) { return isReadByRows(*op); });
}

bool eider::transforms::isPrefillAlone(ProgramOp program) { return isAlone<PrefillOp>(program); }

AttentionOp eider::transforms::attentionOf(OutputOp output) {
  return output.getWorkspace() ? output.getValue().getDefiningOp<AttentionOp>() : AttentionOp();
}

Attention eider::transforms::shapeOf(AttentionOp op) {
  auto extentsOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  const ArrayRef<int64_t> queries = extentsOf(op.getQueries()), keys = extentsOf(op.getKeys());
  Attention it = {queries[1], keys[2], queries[2], op.getPages() ? keys[1] : 0, 0};
  it.valueDim = op.getType().getShape().back();
  it.isLatent = op.isOfLatents();
  it.bySoftware =
      op.getCodec() == CodecPath::software &&
      !isa<Float8E5M2Type>(cast<RankedTensorType>(op.getKeys().getType()).getElementType());
  auto program = op->getParentOfType<ProgramOp>();
  auto output = dyn_cast<OutputOp>(*op->getUsers().begin());
  it.isAlone = output && output.getWorkspace() ? output->hasAttr(attentionAlone)
                                               : isAlone<AttentionOp>(program);
  if (op.getKeyScale()) {
    const ArrayRef<int64_t> scales = extentsOf(op.getKeyScale());
    it.scaleAxes = static_cast<int64_t>(scales.size()) - 1;
    it.scales = scales[std::min<int64_t>(it.scaleAxes, 2)];
    if (it.scaleAxes == 3)
      it.blocks = scales.back();
  }
  it.bytes =
      std::max(1u, cast<RankedTensorType>(op.getKeys().getType()).getElementTypeBitWidth() / 8);
  return it;
}

Attention eider::transforms::attentionIn(DenseI64ArrayAttr kind) {
  return {kind[0], kind[1], kind[2]};
}

/// An error where attention reads a tensor whose extents, but for the first (of several), are open.
static LogicalResult checkExtents(Operation *op, StringRef name, Value operand, int64_t open = 1) {
  auto type = cast<RankedTensorType>(operand.getType());
  for (int64_t axis = std::min(open, type.getRank() - 1); axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      return op->emitError() << "dim '" << dimsOf(type).getExprs()[axis].str() << "' of the "
                             << name << " must be static: give it a value";
  return success();
}

/// The same where a head has not so many elements.
static LogicalResult checkHeadDim(Operation *op, int64_t headDim) {
  if (headDim % 32 == 0 && headDim >= 32 && headDim <= 512)
    return success();
  return op->emitError() << "of heads of " << headDim
                         << " elements: give a multiple of 32 up to 512";
}

/// The same of rows that begin with their values.
static LogicalResult checkLatents(Operation *op, int64_t headDim, int64_t valueDim) {
  if (headDim % 32 != 0 || headDim < 32 || headDim > 1024)
    return op->emitError() << "of keys of " << headDim
                           << " elements that are values, too: give a multiple of 32 up to 1024";
  if (valueDim % 32 != 0 || valueDim < 32 || valueDim > std::min<int64_t>(512, headDim))
    return op->emitError() << "of values that are " << valueDim << " of their keys' " << headDim
                           << " columns: give a multiple of 32 up to 512";
  return success();
}

LogicalResult eider::transforms::notePrefill(Domain &domain, PrefillOp op) {
  const std::pair<const char *, Value> read[] = {{"queries", op.getQueries()},
                                                 {"keys", op.getKeys()},
                                                 {"values", op.getValues()},
                                                 {"result", op.getResult()}};
  for (auto [name, operand] : read)
    if (failed(checkExtents(op, name, operand)))
      return failure();
  for (Value scale : op.getScales())
    if (failed(checkExtents(op, "scales", scale)))
      return failure();
  auto extentsOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  const ArrayRef<int64_t> queries = extentsOf(op.getQueries());
  Prefill it = {queries[1], extentsOf(op.getKeys())[1], queries[2], extentsOf(op.getResult())[2]};
  it.scales = op.getScales().empty() ? 0 : extentsOf(op.getScales().front())[0];
  it.isLatent = op.isOfLatents();
  it.meetsBf16 = cast<RankedTensorType>(op.getQueries().getType()).getElementType().isBF16();
  it.byCodes = op.mayMeetAsCodes() && op.getCodec() == CodecPath::hardware;
  // Heads of one warpgroup, or of two in whole panels; queries come where values will lie.
  const bool isEven = it.valueDim == it.headDim;
  it.byWarpgroups =
      it.byCodes && (isEven ? it.headDim <= 256 || it.headDim % 128 == 0
                            : !it.isLatent && std::max(it.headDim, it.valueDim) <= 256 &&
                                  2 * it.valueDim >= it.headDim);
  if (it.heads < 1 || it.kvHeads < 1 || it.heads % it.kvHeads != 0)
    return op.emitError() << "of " << it.heads << " query heads over " << it.kvHeads
                          << " heads of keys: give a multiple";
  if (!op.getScales().empty() && it.scales != 1 && it.scales != it.kvHeads)
    return op.emitError() << "has " << it.scales << " scales for " << it.kvHeads
                          << " heads of keys: give one, or one a head";
  const bool hasColumns = it.isLatent && it.valueDim != it.headDim;
  if (hasColumns ? failed(checkLatents(op, it.headDim, it.valueDim))
                 : failed(checkHeadDim(op, it.headDim)) || failed(checkHeadDim(op, it.valueDim)))
    return failure();
  if (ir::packingOf(cast<RankedTensorType>(op.getKeys().getType()).getElementType()) > 1)
    return op.emitError("over codes of four bits: take codes of a byte");
  if (isPrefillAlone(op->getParentOfType<ProgramOp>()))
    domain.prefills = it;
  return success();
}

LogicalResult eider::transforms::noteAttention(Domain &domain, AttentionOp op) {
  const std::pair<const char *, Value> cached[] = {{"keys", op.getKeys()},
                                                   {"scales of keys", op.getKeyScale()},
                                                   {"values", op.getValues()},
                                                   {"scales of values", op.getValueScale()}};
  if (failed(checkExtents(op, "queries", op.getQueries())) ||
      failed(checkExtents(op, "result", op.getResult())))
    return failure();
  for (auto [name, operand] : cached) // of which those without pages are as long as a launch says
    if (operand && failed(checkExtents(op, name, operand, op.getPages() ? 1 : 2)))
      return failure();
  const Attention it = shapeOf(op);
  if (it.heads < 1 || it.kvHeads < 1 || it.heads % it.kvHeads != 0)
    return op.emitError() << "of " << it.heads << " query heads over " << it.kvHeads
                          << " heads of a cache: give a multiple";
  if (it.isLatent ? failed(checkLatents(op, it.headDim, it.valueDim))
                  : failed(checkHeadDim(op, it.headDim)))
    return failure();
  if (op.getPages() && (it.page < 1 || it.page > widestRow))
    return op.emitError() << "over pages of " << it.page << " tokens: give 1 to " << widestRow;
  if (op.getKeyScale() && ((it.scales != 1 && it.scales != it.kvHeads) ||
                           op.getValueScale().getType() != op.getKeyScale().getType()))
    return op.emitError() << "has scales " << op.getKeyScale().getType() << " and "
                          << op.getValueScale().getType() << " for " << it.kvHeads
                          << " heads of a cache: give one of each, or one a head";
  if (it.blocks < 1 || it.headDim % it.blocks != 0 || it.block() % 32 != 0)
    return op.emitError() << "has " << it.blocks << " scales in heads of " << it.headDim
                          << " elements: give one to each block of a multiple of 32";
  if (it.blocks > 1 && it.valueDim % it.block() != 0)
    return op.emitError() << "of values that are " << it.valueDim << " columns, which end within a "
                          << "block of " << it.block() << " with one scale: give smaller blocks";
  if (ir::packingOf(cast<RankedTensorType>(op.getKeys().getType()).getElementType()) > 1)
    return op.emitError("over a cache of codes of four bits: take codes of a byte");
  domain.attends = it;
  return success();
}
