//===- LowerAttention.cpp - Queries over keys and values ------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/ProgramLowering.h"

#include <numeric>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// A block for each part that a sequence's tokens are cut into, of each KV head's tiles: as
/// templates/attention/parts.cuh counts them.
std::string ProgramLowering::gridOfAttention() {
  const std::string all = "(" + domain.rows.contractExpression() + ") * " +
                          std::to_string(domain.attends->kvHeads * domain.attends->tiles());
  const std::string places = std::to_string(program.getScheduleAttr().getKnobs().blocks);
  return all + " * max(1, " + places + " / max(1, " + all + "))";
}

/// What the kernel gives a score function that changes scores: scalars, and pointers to one value a
/// head.
SmallVector<Value> ProgramLowering::capturedOf(ValueRange values, Region &score) {
  if (!changesScores(score))
    return {};
  return llvm::map_to_vector(values, [&](Value value) {
    auto input = value.getDefiningOp<InputOp>();
    return input ? pointers.lookup(input.getName()) : map.lookup(value);
  });
}

/// The function as the kernel has it; none where scores stay as they are.
LogicalResult ProgramLowering::lowerScore(Region &from, Region &to) {
  if (!changesScores(from))
    return success();
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&to);
  for (BlockArgument argument : from.getArguments())
    map.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  for (Operation &op : from.front().without_terminator())
    if (failed(lower(op)))
      return failure();
  builder.clone(*from.front().getTerminator(), map);
  return success();
}

/// The pitches of contiguous tensors, in the order of simt.attend, over a cache without pages: the
/// text has those alone that a kernel's own extents give.
SmallVector<Value> ProgramLowering::pitchesWithoutPages(AttentionOp op, const Attention &it) {
  SmallVector<Value> pitches;
  auto add = [&](int64_t pitch) { pitches.push_back(i64(pitch)); };
  auto ofSequence = [&](int64_t ofToken, StringRef name) { // whose tokens the launch counts
    auto pitch =
        arith::MulIOp::create(builder, op.getLoc(), extentOf(op.mostOfEach()), i64(ofToken));
    pitch->setAttr("eider.name", builder.getStringAttr(name));
    return pitch.getResult();
  };
  add(it.heads * it.headDim);
  add(it.headDim);
  Value cached = ofSequence(it.kvHeads * it.headDim, "sequence_pitch");
  for (int cache = 0; cache < 2; ++cache) {
    pitches.push_back(cached);
    add(it.kvHeads * it.headDim);
    add(it.headDim);
  }
  if (it.scaleAxes == 0)
    return pitches;
  const int64_t ofToken = it.scales * it.blocks;
  Value scales = it.scaleAxes == 1 ? i64(ofToken) : ofSequence(ofToken, "scales_pitch");
  pitches.append(2, scales);
  for (int64_t axis = 1; axis < it.scaleAxes; ++axis) // tokens, heads
    for (int cache = 0; cache < 2; ++cache)
      add(axis == 1 ? ofToken : it.blocks);
  return pitches;
}

/// Has no tiles: which tokens a block has, its lengths say.
LogicalResult ProgramLowering::attend() {
  auto op = *program.getOps<AttentionOp>().begin();
  if (op.isOfCodes() && !op.getCodec())
    return op.emitError("nobody converts FP8 yet: run eider-legalize first");
  auto output = *program.getOps<OutputOp>().begin();
  const Attention &it = *domain.attends;
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  auto nameOf = [](Value value) { return cast<InputOp>(value.getDefiningOp()).getName(); };
  auto pointerOf = [&](Value value) { return value ? pointers.lookup(nameOf(value)) : Value(); };
  SmallVector<Value> apart;
  const int64_t alignment = alignAttended({op.getQueries(), op.getKeys(), op.getValues()}, apart);
  Value pages, tablePitch;
  if (op.getPages()) {
    pages = pointerOf(op.getPages());
    tablePitch = isStrided() ? strides.lookup(nameOf(op.getPages())) : extentOf(op.mostOfEach());
  } else if (!isStrided()) {
    apart = pitchesWithoutPages(op, it);
  }
  if (it.scaleAxes) {
    const SmallVector<Value> ofKeys = pitches.lookup(nameOf(op.getKeyScale())),
                             ofValues = pitches.lookup(nameOf(op.getValueScale()));
    for (auto [ofKey, ofValue] : llvm::zip_equal(ofKeys, ofValues))
      llvm::append_values(apart, ofKey, ofValue);
    for (Value scale : {op.getKeyScale(), op.getValueScale()})
      if (it.blocks > 1 && variant != VariantKind::general) // which are loaded together
        alignments[nameOf(scale)] = std::gcd<int64_t>(16, it.blocks * 4);
  }
  const Value written = pointers.lookup(output.getName());
  auto attend = simt::AttendOp::create(
      builder, op.getLoc(), knobs.combine ? parts : written, pointerOf(op.getQueries()),
      pointerOf(op.getKeys()), pointerOf(op.getKeyScale()), pointerOf(op.getValues()),
      pointerOf(op.getValueScale()), pages, pointerOf(op.getLengths()),
      knobs.combine ? written : Value(), arrivals, extentOf(domain.rows), tablePitch, apart,
      capturedOf(op.getCaptured(), op.getScore()), it.heads, it.kvHeads, it.tiles(), it.headDim,
      it.valueDim, knobs.blocks, it.page, it.scales, it.scaleAxes, it.blocks,
      static_cast<int64_t>(op.getWindow()), knobs.threads / 32, knobs.split, knobs.prefetch,
      alignment, op.getCodecAttr());
  if (failed(lowerScore(op.getScore(), attend.getScore())))
    return failure();
  if (const int64_t bytes = it.sharedOf(knobs.threads / 32, knobs.split, knobs.prefetch);
      bytes > mostStaticShared)
    kernel.setShared(bytes);
  setAlignments();
  program.erase();
  return success();
}

/// A block for each head of some rows: of several sequences as templates/attention/sequences.cuh
/// numbers them.
std::string ProgramLowering::gridOfPrefill() {
  auto op = *program.getOps<PrefillOp>().begin();
  const std::string tokens = domain.rows.contractExpression(),
                    rows = std::to_string(program.getScheduleAttr().getKnobs().rows),
                    heads = " * " + std::to_string(domain.prefills->heads);
  if (!op.getStarts())
    return "ceildiv(" + tokens + ", " + rows + ")" + heads;
  const DimExpr starts = dimsOf(op.getStarts().getType()).getExprs().front();
  const std::string sequences = starts.contractExpression() + " - 1"; // none of one start
  return "min(1, max(0, min(" + tokens + ", " + sequences + "))) * ((" + tokens + ") / " + rows +
         " + " + sequences + ")" + heads;
}

/// What attention reads begins on so many bytes, up to 16, as the launch says of each; their
/// pitches where those are open.
int64_t ProgramLowering::alignAttended(ValueRange values, SmallVectorImpl<Value> &apart) {
  int64_t alignment = 16;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    const StringRef name = cast<InputOp>(value.getDefiningOp()).getName();
    const int64_t bytes = type.getElementTypeBitWidth() / 8;
    const int64_t ofRows = alignmentOf(type.getShape().back() * bytes, bytes);
    alignments[name] = ofRows;
    alignment = std::min(alignment, ofRows);
    llvm::append_range(apart, pitches.lookup(name));
    if (isStrided() && value.getDefiningOp()->hasAttr("workspace")) // rows and heads lie together
      for (int64_t axis : {1, 2})
        apart.push_back(i64(ShapedType::getNumElements(type.getShape().drop_front(axis))));
  }
  return alignment;
}

/// Has no tiles either: a block has rows of one head.
LogicalResult ProgramLowering::attendRows() {
  auto op = *program.getOps<PrefillOp>().begin();
  auto output = *program.getOps<OutputOp>().begin();
  const Prefill &it = *domain.prefills;
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  auto pointerOf = [&](Value value) {
    return pointers.lookup(cast<InputOp>(value.getDefiningOp()).getName());
  };
  SmallVector<Value> apart;
  const int64_t alignment = alignAttended({op.getQueries(), op.getKeys(), op.getValues()}, apart);
  SmallVector<Value> scales = llvm::map_to_vector(op.getScales(), pointerOf);
  Value starts, countOfStarts;
  if (op.getStarts()) {
    starts = pointerOf(op.getStarts());
    countOfStarts = extentOf(dimsOf(op.getStarts().getType()).getExprs().front());
  }
  auto attend = simt::AttendRowsOp::create(
      builder, op.getLoc(), pointers.lookup(output.getName()), pointerOf(op.getQueries()),
      pointerOf(op.getKeys()), pointerOf(op.getValues()), scales, extentOf(domain.rows), starts,
      countOfStarts, apart, capturedOf(op.getCaptured(), op.getScore()), it.heads, it.kvHeads,
      it.headDim, it.valueDim, it.scales, op.getCausal(), knobs.rows, knobs.columns,
      knobs.threads / 32, knobs.split, knobs.prefetch != 0, knobs.warpgroups != 0, knobs.codes != 0,
      alignment, *op.getCodec());
  if (failed(lowerScore(op.getScore(), attend.getScore())))
    return failure();
  if (const int64_t bytes = it.sharedOf(knobs); bytes > mostStaticShared)
    kernel.setShared(bytes);
  setAlignments();
  program.erase();
  return success();
}

LogicalResult ProgramLowering::combineAttention(InputOp op) {
  const Attention it = attentionIn(op->getAttrOfType<DenseI64ArrayAttr>(attentionKind));
  auto combined = simt::CombineAttentionOp::create(
      builder, op.getLoc(), heldType(op.getType()), pointers.lookup(op.getName()), loop.getRows(),
      cursor, it.heads, it.kvHeads, it.tiles(), it.valueDim,
      op->getAttrOfType<IntegerAttr>(partsCount).getInt());
  combined->setAttr("eider.name", op->getAttr("eider.name"));
  map.map(op.getResult(), combined.getResult());
  return success();
}
