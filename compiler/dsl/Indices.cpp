//===- Indices.cpp - Positions, and rows chosen by an index ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Recording.h"

using namespace eider;
using namespace eider::detail;

/// The dims of a matrix; fails for anything else.
static Extents matrixExtents(mlir::Value value, const Site &site) {
  Extents extents = Recording::extentsOf(value.getType());
  if (extents.size() != 2)
    site.fail("the operand is " + textOf(extents), "give a tensor of rows and columns");
  return extents;
}

/// The columns of rows that are read as they lie in memory: a constant number.
static void requireConstant(const Extents &extents, const Site &site) {
  if (extents.back().name)
    site.fail("the number of columns of " + textOf(extents) + " is a dim",
              "declare it as a constant");
}

/// An index of one value a row: its rows.
static ir::DimExpr rowsOf(mlir::Value index, const Site &site) {
  Extents extents = Recording::extentsOf(index.getType());
  if (extents.empty() || extents.size() > 2 || (extents.size() == 2 && !extents.back().isOne()))
    site.fail("an index of shape " + textOf(extents), "give one value a row");
  return extents.front();
}

static void requireInput(mlir::Value value, const Site &site) {
  if (!value.getDefiningOp<ir::InputOp>())
    site.fail("the operand is computed", "give an input as it is");
}

//===-- Positions ---------------------------------------------------------===//

Value eider::position(const Operand &value, int axis) {
  Site site = Recording::enter("position", {&value});
  Recording &recording = *site.recording;
  Extents extents = Recording::extentsOf(recording.plain(value, site).getType());
  const int rank = static_cast<int>(extents.size());
  if (axis < -rank || axis >= rank)
    site.fail("there is no axis " + std::to_string(axis) + " in " + textOf(extents),
              rank ? "use " + std::to_string(-rank) + " to " + std::to_string(rank - 1)
                   : "give a tensor");
  const int at = axis < 0 ? axis + rank : axis;
  for (int other = 0; other < rank; ++other)
    if (other != at)
      extents[other] = {nullptr, 1, 1};
  auto type = recording.tensorType(extents, recording.builder.getI64Type());
  return recording.wrap(ir::PositionOp::create(recording.builder, recording.unknown, type, at));
}

Value Builder::extent(const Dim &dim, std::source_location where) {
  Site site{"extent", where, recording_.get()};
  Extents extents = recording_->extentsOf({dim}, site);
  if (extents.front().divisor != 1)
    site.fail("'" + extents.front().str() + "' is a number of blocks", "give a whole dim");
  return recording_->wrap(ir::ExtentOp::create(recording_->builder, recording_->unknown,
                                               recording_->builder.getI64Type(),
                                               ir::DimsAttr::get(&recording_->context, extents)));
}

//===-- Rows --------------------------------------------------------------===//

Value eider::gather(const Operand &table, const Operand &index) {
  Site site = Recording::enter("gather", {&table, &index});
  Recording &recording = *site.recording;
  mlir::Value from = recording.plain(table, site), chosen = recording.index(index, site);
  Extents extents = matrixExtents(from, site);
  if (auto scaled = from.getDefiningOp<ir::DequantizeOp>()) {
    requireInput(scaled.getInput(), site);
    if (mlir::cast<ir::ScaledType>(scaled.getInput().getType()).getLayout() !=
        ScaleLayout::row_major)
      site.fail("the table's scales do not lie row by row", "give them in row_major");
  } else {
    requireInput(from, site);
  }
  extents.front() = rowsOf(chosen, site);
  auto type = recording.tensorType(extents, mlir::getElementTypeOrSelf(from.getType()));
  return recording.wrap(ir::GatherOp::create(recording.builder, recording.unknown, type, from,
                                             chosen, /*rows=*/1, ir::DimsAttr()));
}

Value eider::column(const Operand &matrix, int64_t column) {
  Site site = Recording::enter("column", {&matrix});
  Recording &recording = *site.recording;
  mlir::Value from = recording.plain(matrix, site);
  requireInput(from, site);
  Extents extents = matrixExtents(from, site);
  requireConstant(extents, site);
  const int64_t count = extents.back().extent(0);
  if (column < 0 || column >= count)
    site.fail("there is no column " + std::to_string(column) + " in " + textOf(extents),
              "use 0 to " + std::to_string(count - 1));
  extents.back() = {nullptr, 1, 1};
  mlir::Type element = mlir::getElementTypeOrSelf(from.getType());
  return recording.wrap(ir::ColumnOp::create(recording.builder, recording.unknown,
                                             recording.tensorType(extents, element), from, column));
}

//===-- Neighbours in a row -----------------------------------------------===//

Value eider::repeat(const Operand &value, const Dim &columns, int64_t each) {
  Site site = Recording::enter("repeat", {&value});
  Recording &recording = *site.recording;
  mlir::Value from = recording.plain(value, site);
  auto gathered = from.getDefiningOp<ir::GatherOp>();
  requireInput(gathered ? gathered.getTable() : from, site);
  Extents extents = Recording::extentsOf(from.getType());
  requireConstant(extents, site);
  if (each < 1 || each > INT32_MAX)
    site.fail("each value cannot stand for " + std::to_string(each), "use 1 to 2147483647");
  extents.back() = recording.extentsOf({columns}, site).front();
  mlir::Type element = mlir::getElementTypeOrSelf(from.getType());
  return recording.wrap(ir::RepeatOp::create(recording.builder, recording.unknown,
                                             recording.tensorType(extents, element), from, each));
}

Value eider::rotate_halves(const Operand &value, int64_t over) {
  Site site = Recording::enter("rotate_halves", {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.f32(value, site);
  if (Recording::extentsOf(operand.getType()).empty())
    site.fail("a scalar has no halves", "give a tensor");
  if (over < 2 || over % 2 != 0 || over > INT32_MAX)
    site.fail(std::to_string(over) + " neighbours have no halves", "use an even number");
  return recording.wrap(
      ir::RotateOp::create(recording.builder, recording.unknown, operand.getType(), operand, over));
}

//===-- Scattered rows ----------------------------------------------------===//

void Builder::scatter(const std::string &name, const Value &value, const Value &index,
                      const Dim &rows, std::optional<DType> type, std::source_location where) {
  Operand operand(value, where), chosen(index, where);
  std::string function = "scatter '" + name + "'";
  Site site = Recording::enter(function.c_str(), {&operand, &chosen});
  if (site.recording != recording_.get())
    site.fail("the value is of another Builder", "record an op with one Builder");
  recording_->takeName(name, site);
  mlir::Value stored = recording_->stored(recording_->plain(operand, site), type, site);
  mlir::Value places = recording_->index(chosen, site);
  Extents extents = matrixExtents(stored, site);
  if (rowsOf(places, site) != extents.front())
    site.fail("the index has not one value for each row of " + textOf(extents),
              "give one value a row");
  extents.front() = recording_->extentsOf({rows}, site).front();
  auto into = recording_->tensorType(extents, mlir::getElementTypeOrSelf(stored.getType()));
  ir::ScatterOp::create(recording_->builder, recording_->unknown, name, stored, places, into);
}

void Builder::scatter(const std::string &name, const Scaled &value, const Value &index,
                      const Dim &rows, std::source_location where) {
  Operand chosen(index, where);
  std::string function = "scatter '" + name + "'";
  Site site = Recording::enter(function.c_str(), value, where);
  if (site.recording != recording_.get() ||
      Recording::enter(function.c_str(), {&chosen}).recording != recording_.get())
    Site{function, where, recording_.get()}.fail("the value is of another Builder",
                                                 "record an op with one Builder");
  recording_->takeName(name, site);
  mlir::Value stored = recording_->scaled(value), places = recording_->index(chosen, site);
  auto quantize = stored.getDefiningOp<ir::QuantizeOp>();
  if (!quantize)
    site.fail("the value is not quantised here", "quantize it");
  auto type = mlir::cast<ir::ScaledType>(stored.getType());
  if (!quantize.getScale()) {
    recording_->takeName(name + "_scale", site);
    if (type.getLayout() != ScaleLayout::row_major)
      site.fail("the scales go with their rows, in row_major alone", "leave the layout out");
    if (type.getBlock().front() != 1)
      site.fail("blocks of several rows have one scale, which no row can take with it",
                "use blocks of one row, or give the scales");
  }
  Extents extents = Recording::extentsOf(type.getCodesType());
  if (extents.size() != 2 || rowsOf(places, site) != extents.front())
    site.fail("the index has not one value for each row of " + textOf(extents),
              "give one value a row");
  extents.front() = recording_->extentsOf({rows}, site).front();
  ir::ScatterOp::create(recording_->builder, recording_->unknown, name, stored, places,
                        recording_->tensorType(extents, type.getElementType()));
}
