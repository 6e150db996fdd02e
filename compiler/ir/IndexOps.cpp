//===- IndexOps.cpp - Verifiers of positions and of rows by an index ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/Eider.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace eider::ir;

Type eider::ir::givenType(Operation &op) {
  if (isa<InputOp, InOutOp>(op))
    return op.getResult(0).getType();
  auto scatter = dyn_cast<ScatterOp>(op);
  return scatter ? scatter.getInto() : Type();
}

bool eider::ir::storesScales(ScatterOp op) {
  auto quantize = op.getValue().getDefiningOp<QuantizeOp>();
  return isa<ScaledType>(op.getValue().getType()) && !(quantize && quantize.getScale());
}

RankedTensorType eider::ir::scalesInto(ScatterOp op) {
  auto into = cast<RankedTensorType>(op.getInto());
  RankedTensorType scales = cast<ScaledType>(op.getValue().getType()).getScalesType();
  DimExpr rows = dimsOf(into).getExprs().front(), columns = dimsOf(scales).getExprs().back();
  return RankedTensorType::get({into.getShape().front(), scales.getShape().back()},
                               scales.getElementType(),
                               DimsAttr::get(into.getContext(), {rows, columns}));
}

/// The dims of a type that names one an axis, at most `rank` of them; nothing else has any.
static ArrayRef<DimExpr> dimsOfRank(Type type, size_t rank) {
  DimsAttr dims = dimsOf(type);
  const bool fits = dims && !dims.getExprs().empty() && dims.getExprs().size() <= rank;
  return fits ? dims.getExprs() : ArrayRef<DimExpr>();
}

/// An index has one value a row: [rows] or [rows, 1].
static LogicalResult verifyIndex(Operation *op, Type index, const DimExpr &rows) {
  ArrayRef<DimExpr> dims = dimsOfRank(index, 2);
  if (dims.empty() || dims.front() != rows || (dims.size() == 2 && !dims.back().isOne()))
    return op->emitOpError() << "the index " << index << " has not one value for each of the rows '"
                             << rows.str() << "'";
  return success();
}

LogicalResult PositionOp::verify() {
  ArrayRef<DimExpr> dims = dimsOfRank(getType(), 2);
  if (getAxis() >= dims.size()) // a negative one is large
    return emitOpError() << "has no axis " << static_cast<int64_t>(getAxis()) << " in "
                         << getType();
  for (auto [axis, dim] : llvm::enumerate(dims))
    if (axis != getAxis() && !dim.isOne())
      return emitOpError() << "the extent of the other axis is 1, not '" << dim.str() << "'";
  return success();
}

LogicalResult ExtentOp::verify() {
  ArrayRef<DimExpr> dims = getDim().getExprs();
  if (dims.size() != 1 || dims.front().divisor != 1)
    return emitOpError("is that of one dim, or of a multiple of one");
  StringAttr name = dims.front().name;
  if (name && !cast<ProgramOp>((*this)->getParentOp()).hasDim(name))
    return emitOpError() << "'" << name.getValue() << "' is not a dim of the program";
  return success();
}

DimExpr GatherOp::rowsOfTable() {
  if (getOf())
    return getOf()->getExprs().front();
  DimExpr rows = dimsOf(getTable().getType()).getExprs().front();
  rows.divisor /= static_cast<int64_t>(getRows());
  return rows;
}

LogicalResult GatherOp::verify() {
  ArrayRef<DimExpr> from = dimsOf(getTable().getType()).getExprs(), to = dimsOfRank(getType(), 2);
  const bool isShared = getOf() && getRows() == 1 && !from.empty() &&
                        llvm::all_of(from.drop_back(), [](DimExpr dim) { return dim.isOne(); });
  if ((from.size() != 2 && !isShared) || to.size() != 2 || from.back() != to.back() ||
      (getOf() && (!isShared || getOf()->getExprs().size() != 1)) ||
      getElementTypeOrSelf(getTable().getType()) != getElementTypeOrSelf(getType()))
    return emitOpError() << "gives rows of its table " << getTable().getType() << ", not "
                         << getType();
  if (const auto rows = static_cast<int64_t>(getRows()); rows < 1)
    return emitOpError() << "a row of the table stands for at least one, not " << rows;
  return verifyIndex(*this, getIndex().getType(), to.front());
}

LogicalResult ColumnOp::verify() {
  ArrayRef<DimExpr> from = dimsOfRank(getInput().getType(), 2), to = dimsOfRank(getType(), 2);
  if (from.size() != 2 || to.size() != 2 || from.back().name || from.front() != to.front() ||
      !to.back().isOne() ||
      getElementTypeOrSelf(getInput().getType()) != getElementTypeOrSelf(getType()))
    return emitOpError() << "gives one value a row of a matrix of a constant number of columns, "
                            "not "
                         << getType() << " of " << getInput().getType();
  if (getColumn() >= static_cast<uint64_t>(from.back().extent(0)))
    return emitOpError() << "there is no column " << static_cast<int64_t>(getColumn()) << " in "
                         << getInput().getType();
  return success();
}

LogicalResult RepeatOp::verify() {
  ArrayRef<DimExpr> from = dimsOfRank(getInput().getType(), 2), to = dimsOfRank(getType(), 2);
  if (from.empty() || from.size() != to.size() || from.back().name ||
      from.drop_back() != to.drop_back() ||
      getElementTypeOrSelf(getInput().getType()) != getElementTypeOrSelf(getType()))
    return emitOpError() << "repeats rows of a constant number of columns, not "
                         << getInput().getType() << " to " << getType();
  const int64_t extent = cast<RankedTensorType>(getType()).getShape().back();
  const auto each = static_cast<int64_t>(getEach());
  int64_t period = 0;
  if (each < 1 || __builtin_mul_overflow(from.back().extent(0), each, &period))
    return emitOpError() << "each value stands for at least one, not " << each;
  if (!ShapedType::isDynamic(extent) && extent % period != 0)
    return emitError() << "rows of " << extent << " are no whole number of times the " << period
                       << " that are repeated (a rope's head): give a multiple of it";
  return success();
}

LogicalResult RotateOp::verify() {
  if (dimsOfRank(getType(), 2).empty())
    return emitOpError() << "turns rows or a matrix, not " << getType();
  const auto over = static_cast<int64_t>(getOver());
  if (over < 2 || over % 2 != 0)
    return emitOpError() << "turns halves of an even number of neighbours, not of " << over;
  const int64_t extent = cast<RankedTensorType>(getType()).getShape().back();
  if (!ShapedType::isDynamic(extent) && extent % over != 0)
    return emitError() << "rows of " << extent << " are no whole number of times the " << over
                       << " that are turned together (a rope's head): give a multiple of it";
  return success();
}

LogicalResult ScatterOp::verify() {
  auto scaled = dyn_cast<ScaledType>(getValue().getType());
  Type value = scaled ? Type(scaled.getCodesType()) : getValue().getType();
  ArrayRef<DimExpr> from = dimsOfRank(value, 2), to = dimsOfRank(getInto(), 2);
  if (!isa<RankedTensorType>(getInto()) || from.size() != 2 || to.size() != 2 ||
      from.back() != to.back() || getElementTypeOrSelf(value) != getElementTypeOrSelf(getInto()))
    return emitOpError() << "places rows of " << value << ", which " << getInto() << " has not";
  if (storesScales(*this) && scaled.getBlock().front() != 1)
    return emitOpError("places scales with their rows: a block has one row");
  if (storesScales(*this) && scaled.getLayout() != ScaleLayout::row_major)
    return emitOpError("places scales with their rows: they lie row by row, in row_major");
  return verifyIndex(*this, getIndex().getType(), from.front());
}
