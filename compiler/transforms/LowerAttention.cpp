//===- LowerAttention.cpp - Queries over a paged cache --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ProgramLowering.h"

#include <numeric>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// A block for each part that a sequence's tokens are cut into, of each KV head: as
/// templates/attention/parts.cuh counts them.
std::string ProgramLowering::gridOfAttention() {
  const std::string all =
      "(" + domain.rows.contractExpression() + ") * " + std::to_string(domain.attends->kvHeads);
  const std::string places = std::to_string(program.getScheduleAttr().getKnobs().blocks);
  return all + " * max(1, " + places + " / max(1, " + all + "))";
}

/// Has no tiles: which tokens a block has, its lengths say.
LogicalResult ProgramLowering::attend() {
  auto op = *program.getOps<AttentionOp>().begin();
  auto output = *program.getOps<OutputOp>().begin();
  const Attention &it = *domain.attends;
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  auto nameOf = [](Value value) { return cast<InputOp>(value.getDefiningOp()).getName(); };
  auto pointerOf = [&](Value value) { return pointers.lookup(nameOf(value)); };
  int64_t alignment = 16;
  SmallVector<Value> apart;
  for (Value value : {op.getQueries(), op.getKeys(), op.getValues()}) {
    auto type = cast<RankedTensorType>(value.getType());
    const int64_t bytes = type.getElementTypeBitWidth() / 8;
    const int64_t ofRows = isGeneral() ? bytes : std::gcd<int64_t>(16, it.headDim * bytes);
    alignments[nameOf(value)] = ofRows;
    alignment = std::min(alignment, ofRows);
    llvm::append_range(apart, pitches.lookup(nameOf(value)));
  }
  const DimExpr ofTable = dimsOf(op.getPages().getType()).getExprs().back();
  Value tablePitch = isGeneral() ? strides.lookup(nameOf(op.getPages())) : extentOf(ofTable);
  simt::AttendOp::create(
      builder, op.getLoc(), pointers.lookup(output.getName()), pointerOf(op.getQueries()),
      pointerOf(op.getKeys()), pointerOf(op.getKeyScale()), pointerOf(op.getValues()),
      pointerOf(op.getValueScale()), pointerOf(op.getPages()), pointerOf(op.getLengths()),
      extentOf(domain.rows), tablePitch, apart, it.heads, it.kvHeads, it.headDim, knobs.blocks,
      it.page, it.scales, static_cast<int64_t>(op.getWindow()), knobs.threads / 32, knobs.prefetch,
      alignment, *op.getCodec());
  if (const int64_t bytes = it.sharedOf(knobs.threads / 32, knobs.prefetch);
      bytes > mostStaticShared)
    kernel.setShared(bytes);
  setAlignments();
  program.erase();
  return success();
}

LogicalResult ProgramLowering::combineAttention(InputOp op) {
  const Attention it = attentionIn(op->getAttrOfType<DenseI64ArrayAttr>(attentionKind));
  auto combined = simt::CombineAttentionOp::create(
      builder, op.getLoc(), heldType(op.getType()), pointers.lookup(op.getName()), loop.getRows(),
      cursor, it.heads, it.kvHeads, it.headDim,
      op->getAttrOfType<IntegerAttr>(partsCount).getInt());
  combined->setAttr("eider.name", op->getAttr("eider.name"));
  map.map(op.getResult(), combined.getResult());
  return success();
}
