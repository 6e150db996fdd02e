//===- LowerIndices.cpp - Positions, and rows chosen by an index ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
// A row that an index chooses is the tile's columns in another row: the tile is moved there, once
// for each index, and then loads and stores as anywhere. Where there is no such row the moved tile
// lies outside, where loads give zero and stores write nothing.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Boundary.h"
#include "compiler/transforms/ProgramLowering.h"

#include <numeric>

using namespace eider;
using namespace eider::transforms;

/// The name that the author gave a value goes to what stands for it.
static void keepName(Operation *from, Operation *to) {
  if (Attribute given = from->getAttr("eider.name"))
    to->setAttr("eider.name", given);
}

/// The tile in the row that `index` chooses of `rows`.
mlir::Value ProgramLowering::rowChosen(mlir::Value index, DimExpr rows) {
  return simt::AtRowOp::create(builder, program.getLoc(), cursor.getType(), cursor,
                               map.lookup(index), extentOf(rows));
}

LogicalResult ProgramLowering::position(PositionOp op) {
  const std::optional<Level> level = domain.levelOf(op.getType());
  const ArrayRef<DimExpr> exprs = dimsOf(op.getType()).getExprs();
  const DimExpr along = exprs[op.getAxis()];
  if (along.isOne()) {
    map.map(op.getResult(), i64(0)); // of the one row, or the one column
    return success();
  }
  if (!level || level->transposed || (along != domain.rows && along != domain.columns))
    return op.emitError() << "counts along " << op.getType() << ", not along the program's matrix ["
                          << domain.rows.str() << ", " << domain.columns.str()
                          << "]; take positions in that";
  // A matrix of one row or one column has its elements' type.
  const bool isRow = level->kind == LevelKind::rows || along != domain.columns;
  const Type wanted = heldType(op.getType());
  Type held = wanted;
  if (isRow && tile.getKind() == simt::TileKind::row)
    held = builder.getI64Type();
  else if (isRow)
    held = VectorType::get({tile.getLoads()}, builder.getI64Type());
  auto position = simt::PositionOp::create(
      builder, op.getLoc(), held, isRow ? simt::Access::rows : simt::Access::columns, cursor);
  keepName(op, position);
  mlir::Value result = position.getResult();
  if (held != wanted)
    result = simt::SpreadOp::create(builder, op.getLoc(), wanted, result);
  map.map(op.getResult(), result);
  return success();
}

/// Rows of an input, or of its scales: `rows` rows have one row of these.
LogicalResult ProgramLowering::gather(GatherOp op) {
  if (isReadByRows(*op.getOperation()))
    return success(); // Loaded where it is repeated.
  Operation *table = op.getTable().getDefiningOp();
  if (!isa_and_nonnull<InputOp>(table))
    return op.emitError("chooses rows of a value that is computed; rows are chosen of an input");
  auto level = domain.levelOf(op.getType());
  if (!level)
    return op.emitError() << "type " << op.getType() << " does not fit the program's matrix";
  const auto rows = static_cast<int64_t>(op.getRows());
  if (rows != 1 && level->kind != LevelKind::groups)
    return op.emitError() << "scales of " << rows
                          << " whole rows: those of a table whose rows are chosen have blocks "
                             "along a row, or one row";
  const DimExpr from = op.rowsOfTable();
  if (from.divisor != 1)
    return op.emitError() << "chooses of '" << from.str() << "', which is not a whole dim";
  const StringRef name = boundaryName(*table);
  Place place = placeOf(name, op.getType(), *level);
  if (op.getOf())
    place.pitch = i64(0); // every row has the same
  auto load = simt::LoadOp::create(builder, op.getLoc(), heldType(op.getType()), place.access,
                                   pointers.lookup(name), rowChosen(op.getIndex(), from),
                                   place.pitch, place.alignment, place.group, rows);
  keepName(op, load);
  map.map(op.getResult(), load.getResult());
  return success();
}

void ProgramLowering::column(ColumnOp op) {
  const StringRef name = boundaryName(*op.getInput().getDefiningOp());
  mlir::Value base = pointers.lookup(name);
  if (op.getColumn() != 0)
    base = simt::OffsetOp::create(builder, op.getLoc(), base.getType(), base,
                                  builder.getI64IntegerAttr(op.getColumn()));
  mlir::Value pitch = strides.lookup(name);
  if (!pitch)
    pitch = i64(op.getInput().getType().getShape().back());
  auto load = simt::LoadOp::create(builder, op.getLoc(), heldType(op.getType()), simt::Access::rows,
                                   base, cursor, pitch, 16, 0, 1);
  keepName(op, load);
  map.map(op.getResult(), load.getResult());
}

void ProgramLowering::repeat(RepeatOp op) {
  auto chosen = op.getInput().getDefiningOp<GatherOp>();
  mlir::Value source = chosen ? mlir::Value(chosen.getTable()) : mlir::Value(op.getInput());
  auto type = cast<RankedTensorType>(source.getType());
  const StringRef name = boundaryName(*source.getDefiningOp());
  const int64_t period = type.getShape().back(), bytes = type.getElementTypeBitWidth() / 8;
  mlir::Value at = cursor, pitch = strides.lookup(name);
  if (chosen)
    at = rowChosen(chosen.getIndex(), dimsOf(type).getExprs().front());
  if (type.getRank() == 1)
    pitch = i64(0); // every row has the same
  const int64_t alignment = alignmentOf(period * bytes, bytes);
  int64_t &kept = alignments.try_emplace(name, 1).first->second;
  kept = std::max(kept, alignment);
  auto load =
      simt::LoadOp::create(builder, op.getLoc(), heldType(op.getType()), simt::Access::repeated,
                           pointers.lookup(name), at, pitch, alignment, period, 1);
  load.setEach(op.getEach());
  keepName(op, load);
  map.map(op.getResult(), load.getResult());
}

LogicalResult ProgramLowering::scatter(ScatterOp op) {
  auto level = domain.levelOf(op.getValue().getType());
  const bool isOfRow = level && !level->isBlock() &&
                       (level->kind == LevelKind::elements || level->kind == LevelKind::groups ||
                        level->kind == LevelKind::rows);
  if (!isOfRow)
    return op.emitError("places what is no row of the program's matrix, nor a value or groups of "
                        "values of its rows");
  const DimExpr rows = dimsOf(op.getInto()).getExprs().front();
  if (rows.divisor != 1)
    return op.emitError() << "places rows among '" << rows.str() << "', which is not a whole dim";
  storeAt(*op.getOperation(), rowChosen(op.getIndex(), rows));
  return success();
}

/// What is chosen of an input lies row by row.
static LogicalResult checkRowMajor(Operation &op) {
  if (!isa<GatherOp, ColumnOp, RepeatOp>(op))
    return success();
  Operation *source = op.getOperand(0).getDefiningOp();
  if (auto attr = source ? source->getAttrOfType<LayoutAttr>("layout") : LayoutAttr())
    return op.emitError() << "chooses of scales in the layout " << infoOf(attr.getValue()).name
                          << "; take row_major";
  return success();
}

/// Lowers an op that this file is for; false for any other.
bool ProgramLowering::lowerIndex(Operation &op, LogicalResult &result) {
  if (failed(checkRowMajor(op))) {
    result = failure();
  } else if (auto positionOp = dyn_cast<PositionOp>(op)) {
    result = position(positionOp);
  } else if (auto extent = dyn_cast<ExtentOp>(op)) {
    map.map(extent.getResult(), extentOf(extent.getDim().getExprs().front()));
  } else if (auto gatherOp = dyn_cast<GatherOp>(op)) {
    result = gather(gatherOp);
  } else if (auto columnOp = dyn_cast<ColumnOp>(op)) {
    column(columnOp);
  } else if (auto repeatOp = dyn_cast<RepeatOp>(op)) {
    repeat(repeatOp);
  } else if (auto scatterOp = dyn_cast<ScatterOp>(op)) {
    result = scatter(scatterOp);
  } else if (auto rotate = dyn_cast<RotateOp>(op)) {
    auto rotated = simt::RotateOp::create(builder, op.getLoc(), heldType(rotate.getType()),
                                          map.lookup(rotate.getInput()), rotate.getOver(), cursor);
    keepName(rotate, rotated);
    map.map(rotate.getResult(), rotated.getResult());
  } else {
    return false;
  }
  return true;
}
