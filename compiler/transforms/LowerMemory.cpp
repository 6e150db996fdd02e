//===- LowerMemory.cpp - What a tile loads and stores ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Where a tensor of some level lies under a tile: the access that fits it, its pitch or the layout
// of its scales, and what rows' starts may rely on; and the loads and stores there.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Boundary.h"
#include "compiler/transforms/Loop.h"
#include "compiler/transforms/ProgramLowering.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;
namespace simt = eider::simt;

/// Elements from a row of a matrix of the transposed program's to the next, where none lies
/// between.
Value ProgramLowering::pitchOfTranspose(const Level &level) {
  Value rows = loop.getRows();
  return level.kind == LevelKind::elements ? rows : columnsOfBlocks(level);
}

/// How many columns of blocks the transposed matrix has, whose columns the launch knows.
Value ProgramLowering::columnsOfBlocks(const Level &level) {
  return arith::CeilDivUIOp::create(builder, program.getLoc(), loop.getRows(),
                                    i64(level.blockColumns));
}

ProgramLowering::Place ProgramLowering::placeOf(StringRef name, Type type, Level level) {
  const int64_t bits = std::max(1u, cast<RankedTensorType>(type).getElementTypeBitWidth());
  const int64_t bytes = std::max<int64_t>(1, bits / 8);
  Place place{simt::Access::elements};
  if (isStrided())
    place.pitch = strides.lookup(name);
  else if (level.transposed)
    place.pitch = pitchOfTranspose(level);
  switch (level.kind) {
  case LevelKind::uniform:
    place.access = simt::Access::uniform;
    place.pitch = nullptr;
    break;
  case LevelKind::rows:
    place.access = simt::Access::rows;
    break;
  case LevelKind::columns:
    place.access = simt::Access::columns;
    place.pitch = nullptr;
    place.alignment = alignmentOf(16, bytes);
    break;
  case LevelKind::twiceColumns: // where the second half begins
    place.access = simt::Access::columns;
    place.pitch = nullptr;
    place.alignment = alignmentOf(domain.width * bits / 8, bytes);
    break;
  case LevelKind::groups:
    place.access = domain.isValueOfTile(level) ? simt::Access::block : simt::Access::groups;
    place.group = place.access == simt::Access::groups ? level.blockColumns : 0;
    place.groupRows = place.access == simt::Access::groups ? level.blockRows : 1;
    break;
  case LevelKind::columnGroups:
    place.access = simt::Access::groups;
    place.group = level.blockColumns;
    place.pitch = i64(0); // every row has the same
    break;
  case LevelKind::twice:
    if (!place.pitch)
      place.pitch = i64(2 * domain.width);
    [[fallthrough]];
  case LevelKind::elements:
    // Rows start at multiples of the width: the largest power of two that divides it is what an
    // access may rely on.
    place.alignment =
        alignmentOf((level.transposed ? tile.getMultiple() : domain.width) * bits / 8, bytes);
    break;
  }
  if (place.access == simt::Access::elements || place.access == simt::Access::columns) {
    int64_t &kept = alignments.try_emplace(name, 1).first->second;
    kept = std::max(kept, place.alignment);
  }
  return place;
}

/// The layout of an argument's or result's scales, null where a pitch says all; made once, before
/// the loop.
Value ProgramLowering::layoutOf(Operation &op, Type type, Level level) {
  auto attr = op.getAttrOfType<LayoutAttr>("layout");
  if (!attr)
    return {};
  Value &layout = layouts[boundaryName(op)];
  if (layout)
    return layout;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  const int64_t columns = cast<RankedTensorType>(type).getShape().back();
  const bool isAtLaunch = ShapedType::isDynamic(columns);
  const bool hasEveryRow = level.kind == LevelKind::columnGroups;
  Value rows = hasEveryRow || level.kind == LevelKind::uniform ? i64(1)
               : level.transposed                              ? i64(domain.width)
                                                               : loop.getRows();
  layout = simt::ScaleLayoutOp::create(
      builder, op.getLoc(), simt::LayoutType::get(builder.getContext()), attr,
      isAtLaunch ? 0 : columns, level.blockRows, rows,
      isAtLaunch ? columnsOfBlocks(level) : Value(), strides.lookup(boundaryName(op)), hasEveryRow);
  layout.getDefiningOp()->setAttr("eider.name",
                                  builder.getStringAttr(boundaryName(op) + "_layout"));
  return layout;
}

/// After the loop: what has no scales is no tile's.
void ProgramLowering::clearPadding(OutputOp op) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&kernel.getBlock());
  const int64_t bytes =
      cast<RankedTensorType>(op.getValue().getType()).getElementTypeBitWidth() / 8;
  const int64_t alignment = alignmentOf(16, bytes);
  alignments[op.getName()] = alignment;
  simt::ClearPaddingOp::create(builder, op.getLoc(), pointers.lookup(op.getName()),
                               layouts.lookup(op.getName()), alignment);
}

LogicalResult ProgramLowering::load(Operation &op) {
  if (isReadByRows(op))
    return success(); // What is chosen of it is loaded where it is chosen.
  Type type = op.getResult(0).getType();
  Level level = *domain.levelOf(type);
  if (op.hasAttr(partsKind))
    return combineParts(cast<InputOp>(op));
  if (op.hasAttr(attentionKind))
    return combineAttention(cast<InputOp>(op));
  if (level.kind == LevelKind::twice || level.kind == LevelKind::twiceColumns)
    return success(); // Its halves are loaded where they are taken.
  Place place = placeOf(boundaryName(op), type, level);
  if (Value layout = layoutOf(op, type, level); layout && level.kind != LevelKind::uniform)
    place.pitch = layout;
  map.map(op.getResult(0),
          simt::LoadOp::create(builder, op.getLoc(), heldType(type), place.access,
                               pointers.lookup(boundaryName(op)), at(level), place.pitch,
                               place.alignment, place.group, place.groupRows)
              .getResult());
  return success();
}

LogicalResult ProgramLowering::loadHalf(HalfOp op) {
  Operation *input = op.getInput().getDefiningOp();
  if (!isa_and_nonnull<InputOp, InOutOp>(input))
    return op.emitError("halves must be taken of an input");
  StringRef name = boundaryName(*input);
  const Type whole = input->getResult(0).getType();
  const Place place = placeOf(name, whole, *domain.levelOf(whole));
  Value base = pointers.lookup(name);
  if (op.getWhich() == Half::second)
    base = simt::OffsetOp::create(builder, op.getLoc(), base.getType(), base,
                                  builder.getI64IntegerAttr(domain.width));
  auto loaded = simt::LoadOp::create(builder, op.getLoc(), heldType(op.getType()), place.access,
                                     base, cursor, place.pitch, place.alignment, 0, 1);
  if (Attribute given = op->getAttr("eider.name"))
    loaded->setAttr("eider.name", given);
  map.map(op.getResult(), loaded.getResult());
  return success();
}

LogicalResult ProgramLowering::store(Operation &op) {
  Value value = op.getOperand(0);
  Level level = *domain.levelOf(value.getType());
  if (level.kind == LevelKind::columns || level.kind == LevelKind::columnGroups ||
      level.kind == LevelKind::twice || level.kind == LevelKind::twiceColumns)
    return op.emitError("an output that every row would write; only elements, values a row, values "
                        "a block and one value in all are stored");
  Value layout = layoutOf(op, value.getType(), level);
  if (layout)
    clearPadding(cast<OutputOp>(op));
  if (level.kind == LevelKind::uniform) {
    storeUniform(cast<OutputOp>(op));
    return success();
  }
  if (level.isBlock() && !domain.isValueOfTile(level))
    return op.emitError(
        "values of two-dimensional blocks are stored only where the program reduces over them");
  storeAt(op, at(level), layout);
  return success();
}

/// Stores an op's first operand under a tile; scales of a layout where it has them.
void ProgramLowering::storeAt(Operation &op, Value tile, Value layout) {
  Value value = op.getOperand(0);
  Place place = placeOf(boundaryName(op), value.getType(), *domain.levelOf(value.getType()));
  if (layout)
    place.pitch = layout;
  auto stored = simt::StoreOp::create(builder, op.getLoc(), place.access,
                                      pointers.lookup(boundaryName(op)), tile, map.lookup(value),
                                      place.pitch, /*bulk=*/Value(), place.alignment, place.group);
  if (auto rows = op.getAttrOfType<IntegerAttr>(forProductsName); rows && !isStrided())
    stored.setForProducts(rows.getInt());
}
