//===- Shapes.cpp - Broadcasts, halves, reductions ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Recording.h"

using namespace eider;
using namespace eider::detail;
using eider::ir::Reduction;

Value eider::broadcast(const Operand &value, const Shape &shape) {
  Site site = Recording::enter("broadcast", {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.plain(value, site);
  if (Recording::isIndex(value))
    operand = recording.index(value, site);
  else if (!ir::isValueType(mlir::getElementTypeOrSelf(operand.getType())))
    operand = recording.f32(value, site); // narrow scales
  Extents from = Recording::extentsOf(operand.getType());
  Extents to = recording.extentsOf(shape, site);
  if (from.size() > to.size() || Recording::common(from, to, site) != to)
    site.fail("a value of shape " + textOf(from) + " does not repeat over " + textOf(to),
              "dims align at the end; each is equal, 1, or the number of blocks of the other");
  return recording.wrap(recording.broadcast(operand, to));
}

Value eider::transpose(const Operand &value) {
  Site site = Recording::enter("transpose", {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.plain(value, site);
  Extents extents = Recording::extentsOf(operand.getType());
  if (Recording::isIndex(value))
    site.fail("the operand is an index", "transpose values; take positions along the other axis");
  if (extents.size() != 2)
    site.fail("a value of shape " + textOf(extents) + " has no rows and columns to exchange",
              "give a matrix");
  if (extents[0] == extents[1] && !extents[0].isOne())
    site.fail("rows and columns of " + textOf(extents) + " are the same dim",
              "declare a dim for each: a program tells a matrix from its transpose by their names");
  return recording.wrap(ir::TransposeOp::create(recording.builder, recording.unknown, operand));
}

//===-- Halves ------------------------------------------------------------===//

static Value half(const char *name, ir::Half which, const Operand &value) {
  Site site = Recording::enter(name, {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.plain(value, site);
  Extents extents = Recording::extentsOf(operand.getType());
  if (extents.empty() || Recording::isIndex(value))
    site.fail("a scalar or an index has no halves", "give a tensor of values");
  ir::DimExpr &last = extents.back();
  if (last.factor % 2 != 0 || last.divisor != 1)
    site.fail("the last axis of " + textOf(extents) + " is not twice a whole dim",
              "declare its extent as 2 * dim");
  last.factor /= 2;
  auto type = recording.tensorType(extents, mlir::getElementTypeOrSelf(operand.getType()));
  return recording.wrap(
      ir::HalfOp::create(recording.builder, recording.unknown, type, which, operand));
}

Value eider::first_half(const Operand &value) { return half("first_half", ir::Half::first, value); }
Value eider::second_half(const Operand &value) {
  return half("second_half", ir::Half::second, value);
}

//===-- Reductions --------------------------------------------------------===//

static Value reduce(const char *name, Reduction kind, const Operand &value, const Block &block) {
  Site site = Recording::enter(name, {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.f32(value, site);
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(operand.getType());
  if (!type)
    site.fail("a scalar has nothing to reduce", "give a tensor");
  auto extents = Recording::blockOf(block, Recording::extentsOf(type), site);
  return recording.wrap(ir::ReduceOp::create(recording.builder, recording.unknown,
                                             ir::reducedType(type, extents), kind, operand,
                                             extents));
}

/// Over the whole of one axis.
static Value reduce(const char *name, Reduction kind, const Operand &value, int axis) {
  Site site = Recording::enter(name, {&value});
  auto extents = Recording::extentsOf(site.recording->plain(value, site).getType());
  int rank = static_cast<int>(extents.size());
  if (axis < -rank || axis >= rank)
    site.fail("there is no axis " + std::to_string(axis) + " in " + textOf(extents),
              rank ? "use " + std::to_string(-rank) + " to " + std::to_string(rank - 1)
                   : "give a tensor");
  Block block(rank, 1);
  block[axis < 0 ? axis + rank : axis] = whole;
  return reduce(name, kind, value, block);
}

Value eider::sum(const Operand &value, int axis) {
  return reduce("sum", Reduction::sum, value, axis);
}
Value eider::sum(const Operand &value, const Block &block) {
  return reduce("sum", Reduction::sum, value, block);
}
Value eider::mean(const Operand &value, int axis) {
  return reduce("mean", Reduction::mean, value, axis);
}
Value eider::mean(const Operand &value, const Block &block) {
  return reduce("mean", Reduction::mean, value, block);
}
Value eider::max(const Operand &value, const Block &block) {
  return reduce("max", Reduction::max, value, block);
}
Value eider::min(const Operand &value, const Block &block) {
  return reduce("min", Reduction::min, value, block);
}
Value eider::amax(const Operand &value, int axis) {
  return reduce("amax", Reduction::amax, value, axis);
}
Value eider::amax(const Operand &value, const Block &block) {
  return reduce("amax", Reduction::amax, value, block);
}
Value eider::max_along(const Operand &value, int axis) {
  return reduce("max_along", Reduction::max, value, axis);
}
Value eider::min_along(const Operand &value, int axis) {
  return reduce("min_along", Reduction::min, value, axis);
}
