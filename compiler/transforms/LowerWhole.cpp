//===- LowerWhole.cpp - Values of the whole matrix as a thread has them ---===//
//
// Part of Eider, under the Apache License v2.0.
//
// What is reduced over the whole matrix: in two kernels, by parts that each block of the first
// leaves; in a cooperative one, by blocks that meet, each with the one tile that it holds; where it
// is only given, by the block that comes last, of the parts that all have left. And
// over a column vector, which the threads of a row hold.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Loop.h"
#include "compiler/transforms/ProgramLowering.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;
namespace simt = eider::simt;

/// Where blocks meet: a word and a part a block, for each reduction over the whole matrix.
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
  if (isa<simt::PartialType>(value.getType()))
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
        !givenParts.contains(op) && (!output || !output.getWorkspace()))
      return op.emitError("a reduction over the whole matrix in the kernel that reads it: "
                          "eider-partition cuts it out");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  auto partial =
      simt::PartialOp::create(builder, op.getLoc(), simt::PartialType::get(builder.getContext()),
                              op.getKind(), firstTile());
  if (Attribute given = op->getAttr("eider.name"))
    partial->setAttr("eider.name", given);
  builder.setInsertionPointToEnd(&loop.getBlock());
  if (ReduceOp same = reducedAlready(op))
    simt::AddReducedOp::create(builder, op.getLoc(), map.lookup(same.getResult()), partial);
  else
    simt::AddOp::create(builder, op.getLoc(), map.lookup(op.getInput()), partial, cursor);
  map.map(op.getResult(), partial.getResult());
  return success();
}

/// A word for the blocks, and a part of each for each reduction that is only given.
void ProgramLowering::addGivenParts(
    function_ref<Value(const Twine &, Type, const Twine &)> addArgument) {
  for (auto reduce : program.getOps<ReduceOp>()) {
    if (domain.isOfColumns(reduce) ||
        domain.levelOf(reduce.getType())->kind != LevelKind::uniform ||
        !isOnlyGiven(reduce, domain))
      continue;
    const std::string name = (givenPartsName + Twine("_") + Twine(givenParts.size())).str();
    auto given = reduce->getAttrOfType<StringAttr>("eider.name");
    givenParts[reduce] = addArgument(
        (given ? given.getValue() : stringifyReduction(reduce.getKind())) + "_parts",
        simt::PointerType::get(builder.getContext(), builder.getF32Type()), "workspace:" + name);
    SetVector<Operation *> needing;
    getForwardSlice(reduce.getOperation(), &needing);
    ofLastBlock.insert_range(needing);
  }
  if (!givenParts.empty())
    lastBlock =
        addArgument("arrivals", simt::PointerType::get(builder.getContext(), builder.getI64Type()),
                    "workspace:" + lastBlockName);
}

/// After all else that a block does, of what it left: the outputs that are only given, and what
/// they are computed from, which is of the whole matrix alone.
LogicalResult ProgramLowering::giveByLastBlock() {
  if (givenParts.empty())
    return success();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  auto counted = simt::ArrivalsOp::create(builder, program.getLoc(),
                                          simt::ArrivalsType::get(builder.getContext()), lastBlock);
  builder.setInsertionPointToEnd(&kernel.getBlock());
  SmallVector<Value> outputs;
  for (auto output : program.getOps<OutputOp>())
    if (ofLastBlock.contains(output))
      outputs.push_back(output.getValue());
  for (auto reduce : program.getOps<ReduceOp>())
    if (Value parts = givenParts.lookup(reduce))
      simt::StorePartOp::create(builder, reduce.getLoc(), map.lookup(reduce.getResult()), parts);
  auto last = simt::LastBlockOp::create(builder, program.getLoc(), counted);
  last.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&last.getBlock());
  cursor = firstTile();
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { // what is reduced, the block has no more
    return llvm::none_of(op->getUsers(),
                         [&](Operation *user) { return givenParts.contains(user); });
  };
  for (Value value : outputs)
    (void)getBackwardSlice(value, &needed, options);
  auto isBeforeLoop = [&](Operation &op) { // and is there for the last block as well
    Value value = op.getNumResults() ? map.lookupOrNull(op.getResult(0)) : Value();
    return value && value.getParentBlock() == &kernel.getBlock();
  };
  for (Operation &op : program.getBlock()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    auto output = dyn_cast<OutputOp>(op);
    if (reduce && givenParts.contains(reduce)) {
      auto combined = simt::CombinePartsOp::create(builder, op.getLoc(), builder.getF32Type(),
                                                   reduce.getKind(), givenParts[reduce],
                                                   /*parts=*/0, cursor);
      if (auto given = op.getAttrOfType<StringAttr>("eider.name"))
        combined->setAttr("eider.name", builder.getStringAttr(given.getValue() + "_of_blocks"));
      map.map(reduce.getResult(), combined.getResult());
    } else if (output && ofLastBlock.contains(&op)) {
      simt::StoreOp::create(builder, op.getLoc(), simt::Access::uniform,
                            pointers.lookup(output.getName()), cursor,
                            map.lookup(output.getValue()), Value(), Value());
    } else if (needed.contains(&op) && !isBeforeLoop(op) && failed(lower(op))) {
      return failure();
    }
  }
  return success();
}
