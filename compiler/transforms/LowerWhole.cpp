//===- LowerWhole.cpp - Values of the whole matrix as a thread has them ---===//
//
// Part of Eider, under the Apache License v2.0.
//
// What is reduced over the whole matrix: in two kernels, by parts that each block of the first
// leaves; in a cooperative one, by blocks that meet, each with the one tile that it holds; where it
// is only given, by blocks that combine what they have seen into one value, or the last of which
// does. And over a column vector, which the threads of a row hold.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Loop.h"
#include "compiler/transforms/ProgramLowering.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;
namespace simt = eider::simt;

/// Where blocks meet, or the last of them finds what all have left: a word and a part a block, for
/// each reduction over the whole matrix.
void ProgramLowering::addGridStates(
    function_ref<Value(const Twine &, Type, const Twine &)> addArgument) {
  auto words = simt::PointerType::get(builder.getContext(), builder.getI64Type());
  for (auto reduce : program.getOps<ReduceOp>()) {
    if (domain.isOfColumns(reduce) || domain.levelOf(reduce.getType())->kind != LevelKind::uniform)
      continue;
    const size_t number = gridStates.size() + 1;
    const std::string name =
        gridStateName.str() + (number == 1 ? "" : "_" + std::to_string(number));
    gridStates[reduce] = addArgument(name, words, "workspace:" + name);
  }
}

/// Where blocks of one kernel leave parts, of attention or of a product, that the last combines.
void ProgramLowering::addParts(
    function_ref<Value(const Twine &, Type, const Twine &)> addArgument) {
  auto memoryOf = [&](Type type) { return simt::PointerType::get(builder.getContext(), type); };
  const StringRef name = domain.attends ? partsName : sumsName;
  parts = addArgument(name, memoryOf(builder.getF32Type()), "workspace:" + name);
  arrivals = addArgument(arrivalsName, memoryOf(builder.getI64Type()), "workspace:" + arrivalsName);
}

/// The same under every tile: what of it can comes before the loop (hoistColumnReductions).
void ProgramLowering::reduceColumns(ReduceOp op) {
  auto [input, times] = summed(op);
  auto reduced = simt::ReduceColumnsOp::create(builder, op.getLoc(), builder.getF32Type(),
                                               op.getKind(), input, times, cursor);
  if (Attribute given = op->getAttr("eider.name"))
    reduced->setAttr("eider.name", given);
  map.map(op.getResult(), reduced.getResult());
}

/// After the loop, since no tile changes it; or under the only tile.
void ProgramLowering::storeUniform(OutputOp op) {
  Value value = map.lookup(op.getValue()), base = pointers.lookup(op.getName());
  if (isCooperative()) {
    simt::StoreOp::create(builder, op.getLoc(), simt::Access::uniform, base, cursor, value, Value(),
                          Value());
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&kernel.getBlock());
  loadBefore(loop, value);
  if (op->hasAttr(combinedName))
    simt::CombineIntoOp::create(builder, op.getLoc(), value, base);
  else if (isa<simt::PartialType>(value.getType()))
    simt::StorePartOp::create(builder, op.getLoc(), value, base);
  else
    simt::StoreOp::create(builder, op.getLoc(), simt::Access::uniform, base, firstTile(), value,
                          Value(), Value());
}

/// Each block of the kernel before left a part; every block combines all of them.
LogicalResult ProgramLowering::combineParts(InputOp op) {
  auto count = op->getAttrOfType<IntegerAttr>(partsCount);
  if (!count)
    return op.emitError("parts of an unknown number of blocks; run eider-assign-schedule first");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  auto combined =
      simt::CombinePartsOp::create(builder, op.getLoc(), builder.getF32Type(),
                                   op->getAttrOfType<ReductionAttr>(partsKind).getValue(),
                                   pointers.lookup(op.getName()), count.getInt(), firstTile());
  if (Attribute given = op->getAttr("eider.name"))
    combined->setAttr("eider.name", given);
  map.map(op.getResult(), combined.getResult());
  return success();
}

/// All blocks meet, each with the one tile that it holds.
void ProgramLowering::reduceGrid(ReduceOp op) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  Value base = gridStates[op];
  auto grid = simt::GridBarrierOp::create(builder, op.getLoc(),
                                          simt::GridType::get(builder.getContext()), base);
  builder.setInsertionPointToEnd(&loop.getBlock());
  auto reduced = simt::ReduceGridOp::create(builder, op.getLoc(), builder.getF32Type(),
                                            op.getKind(), map.lookup(op.getInput()), grid, cursor);
  if (Attribute given = op->getAttr("eider.name"))
    reduced->setAttr("eider.name", given);
  map.map(op.getResult(), reduced.getResult());
}

/// The same reduction of the same elements by groups, rows or blocks, which are fewer values; null
/// where there is none before.
ReduceOp ProgramLowering::reducedAlready(ReduceOp op) {
  for (Operation *user : op.getInput().getUsers())
    if (auto other = dyn_cast<ReduceOp>(user);
        other && other != op && other.getKind() == op.getKind() &&
        domain.levelOf(other.getType())->kind != LevelKind::uniform &&
        map.contains(other.getResult()))
      return other;
  return {};
}

/// Each thread keeps what it has seen, over all tiles of its block.
LogicalResult ProgramLowering::reduceWhole(ReduceOp op) {
  for (Operation *user : op->getUsers())
    if (auto output = dyn_cast<OutputOp>(user);
        !output || !(leavesParts(output) || output->hasAttr(combinedName)))
      return op.emitError("a reduction over the whole matrix in the kernel that reads it: "
                          "eider-partition cuts it out");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  auto partial =
      simt::PartialOp::create(builder, op.getLoc(), simt::PartialType::get(builder.getContext()),
                              op.getKind(), gridStates.lookup(op), firstTile());
  if (Attribute given = op->getAttr("eider.name"))
    partial->setAttr("eider.name", given);
  builder.setInsertionPointToEnd(&loop.getBlock());
  if (ReduceOp same = reducedAlready(op))
    simt::AddReducedOp::create(builder, op.getLoc(), map.lookup(same.getResult()), partial, cursor);
  else
    simt::AddOp::create(builder, op.getLoc(), map.lookup(op.getInput()), partial, cursor);
  map.map(op.getResult(), partial.getResult());
  return success();
}
