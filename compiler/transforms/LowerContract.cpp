//===- LowerContract.cpp - Weights times a vector, or a matrix -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Boundary.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// What a kernel asks of the rows of a matrix that it multiplies, in bytes.
int64_t ProgramLowering::alignmentOfRows(StringRef name, RankedTensorType type) {
  const int64_t bits = type.getElementTypeBitWidth(), bytes = std::max<int64_t>(1, bits / 8);
  const int64_t alignment = alignmentOf(type.getShape().back() * bits / 8, bytes);
  int64_t &kept = alignments.try_emplace(name, 1).first->second;
  kept = std::max(kept, alignment);
  return alignment;
}

void eider::transforms::leaveWarpgroups(ProgramOp program, const Domain &domain) {
  ScheduleAttr schedule = program.getScheduleAttr();
  if (!schedule || !schedule.getKnobs().warpgroups)
    return;
  std::string none; // tileOf() says what is wrong with it
  ScheduleAttr byWarps = domain.prefills ? warpsOfPrefill(program.getContext(), domain)
                                         : warpsOfProduct(program.getContext(), domain,
                                                          schedule.getKnobs().rows, none);
  program.setScheduleAttr(byWarps ? byWarps : schedule);
}

void eider::transforms::leaveAhead(ProgramOp program) {
  ScheduleAttr schedule = program.getScheduleAttr();
  if (!schedule || schedule.getFamily() != Family::row || schedule.getKnobs().prefetch < 2)
    return;
  ScheduleKnobs knobs = schedule.getKnobs();
  knobs.prefetch = 0, knobs.rows = 2, knobs.tiles = 4;
  program.setScheduleAttr(ScheduleAttr::get(program.getContext(), Family::row, knobs));
}

/// Both matrices are read where they are multiplied.
LogicalResult ProgramLowering::multiply(ContractOp op) {
  if (tile.getKind() != simt::TileKind::block)
    return op.emitError("multiplies matrices in a kernel that goes by rows");
  auto nameOf = [](Value value) { return boundaryName(*value.getDefiningOp()); };
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  const auto weights = typeOf(op.getWeights());
  const DimExpr ofRows = dimsOf(op.getScales().getType()).getExprs().drop_back().back();
  const int64_t length = weights.getShape().back(),
                blockRows =
                    ofRows.isOne()
                        ? weights.getShape().drop_back().back()
                        : ofRows.divisor / dimsOf(weights).getExprs().drop_back().back().divisor;
  Value rowScales = op.getVectorScales();
  auto pointerOf = [&](Value value) { return value ? pointers.lookup(nameOf(value)) : Value(); };
  auto pitchOf = [&](Value value) { // of rows, the last
    const SmallVector<Value> all = value ? pitches.lookup(nameOf(value)) : SmallVector<Value>();
    if (value && isStrided() && value.getDefiningOp()->hasAttr("workspace"))
      return i64(typeOf(value).getShape().back());
    return all.empty() ? Value() : all.back();
  };
  auto apart = [&](Value value) {
    return op.isOfGroups() ? strides.lookup(nameOf(value)) : Value();
  };
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  auto product = simt::ContractOp::create(
      builder, op.getLoc(), heldType(op.getType()), pointerOf(op.getVector()),
      pointerOf(op.getWeights()), pointerOf(op.getScales()), pointerOf(rowScales), cursor,
      pitchOf(op.getVector()), pitchOf(op.getWeights()), pitchOf(op.getScales()),
      pitchOf(rowScales), apart(op.getWeights()), apart(op.getScales()), length, blockRows,
      op.weightsBlock().value_or(length), rowScales ? op.vectorBlock().value_or(length) : 0,
      rowScales && dimsOf(rowScales.getType()).getExprs().front().isOne(), op.meetAsCodes(),
      knobs.warpgroups ? 1 : knobs.split, knobs.loads, knobs.prefetch, knobs.warpgroups != 0,
      knobs.warpgroups && op.getVector().getDefiningOp()->hasAttr(asF16Name),
      alignmentOfRows(nameOf(op.getVector()), typeOf(op.getVector())),
      alignmentOfRows(nameOf(op.getWeights()), weights), *op.getCodec());
  Operation *result = product;
  if (tile.getParts() > 1) {
    const Location loc = op.getLoc();
    auto leave =
        simt::LeaveSumsOp::create(builder, loc, cursor.getType(), product, cursor, parts, arrivals);
    // Only the block that comes last writes: also what the program stores before.
    for (simt::StoreOp store : llvm::to_vector(loop.getBlock().getOps<simt::StoreOp>())) {
      store->moveBefore(&loop.getBlock(), loop.getBlock().end());
      store.getAtMutable().assign(leave);
    }
    cursor = leave;
    result = simt::AllSumsOp::create(builder, loc, product.getType(), parts, cursor);
  }
  if (Attribute given = op->getAttr("eider.name"))
    result->setAttr("eider.name", given);
  map.map(op.getResult(), result->getResult(0));
  if (knobs.warpgroups || domain.foldsScales) // several scales are copied together
    for (Value scales : {Value(op.getScales()), rowScales})
      if (scales)
        alignmentOfRows(nameOf(scales), typeOf(scales));
  if (!knobs.warpgroups)
    return success();
  if (const int64_t bytes = domain.sharedOfProduct(knobs); bytes > mostStaticShared)
    kernel.setShared(bytes);
  return success();
}

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
  if (comesAhead())
    if (const int64_t bytes = domain.sharedOfAhead(program.getScheduleAttr().getKnobs());
        bytes > mostStaticShared)
      kernel.setShared(bytes);
  const Type held = heldType(op.getType());
  Value weights = map.lookup(op.getWeights()), vector = map.lookup(op.getVector());
  CodecPathAttr codec;
  if (program.getScheduleAttr().getKnobs().mma) {
    auto decode = weights.getDefiningOp<simt::DecodeOp>();
    codec = decode.getCodecAttr();
    weights = decode.getInput();
    vector = vector.getDefiningOp<arith::ExtFOp>().getIn();
    if (!vector.getDefiningOp<simt::LoadOp>() && !tile.coversRows()) // computed of zeros, outside
      vector =
          simt::InsideColumnsOp::create(builder, op.getLoc(), vector.getType(), vector, cursor);
    if (domain.foldsPairs) // scales as they are, too
      scales = scales.getDefiningOp()->getOperand(0);
  }
  Value sum = simt::ReduceOp::create(builder, op.getLoc(), held, Reduction::sum, weights, vector,
                                     isOfRow ? Value() : scales, cursor, /*group=*/0, codec);
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
