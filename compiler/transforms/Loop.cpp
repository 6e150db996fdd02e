//===- Loop.cpp - What is moved in or out of the loop over tiles ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Loop.h"

#include "compiler/transforms/Domain.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
namespace simt = eider::simt;

/// The tile at its position.
static Value cursorOf(simt::ForTilesOp loop) { return loop.getBlock().getArgument(0); }

/// Where registers are bounded, column vectors, which every block reads again, are loaded where
/// they are used: they are not in registers while the row is reduced.
void eider::transforms::sinkColumnLoads(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    auto isColumns = [](Operation *load) {
      auto typed = dyn_cast_or_null<simt::LoadOp>(load);
      return typed && typed.getAccess() == simt::Access::columns;
    };
    bool widens = isa<arith::ExtFOp>(op) && isColumns(op.getOperand(0).getDefiningOp());
    if ((!isColumns(&op) && !widens) || op.use_empty())
      continue;
    Operation *first = nullptr;
    for (Operation *user : op.getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    op.moveBefore(first);
  }
}

/// A pointer's offset or a constant, which no tile changes, before an op that is before the loop.
static void hoist(Value value, simt::ForTilesOp loop, Operation *before) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (!op)
    return;
  const bool isAfter = op->getBlock() == before->getBlock() && before->isBeforeInBlock(op);
  if (isAfter || op->getBlock() == &loop.getBlock())
    op->moveBefore(before);
}

/// What is the same under every tile is loaded once a block.
void eider::transforms::hoistColumnLoads(simt::ForTilesOp loop) {
  OpBuilder builder(loop);
  Value first;
  for (Operation &op : llvm::make_early_inc_range(loop.getBlock())) {
    auto load = dyn_cast<simt::LoadOp>(op);
    if (!load || load.getAccess() != simt::Access::columns)
      continue;
    if (!first)
      first = simt::FirstTileOp::create(builder, loop.getLoc(), cursorOf(loop).getType(),
                                        loop.getRows());
    load.getAtMutable().assign(first);
    load->moveBefore(loop);
  }
}

/// A tile needs the vector as well: what is loaded for its reduction is loaded for that alone.
void eider::transforms::hoistColumnReductions(simt::ForTilesOp loop) {
  OpBuilder builder(loop);
  IRMapping before;
  before.map(cursorOf(loop), simt::FirstTileOp::create(builder, loop.getLoc(),
                                                       cursorOf(loop).getType(), loop.getRows())
                                 .getResult());
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &loop.getBlock(); };
  const auto reductions = llvm::to_vector(loop.getBlock().getOps<simt::ReduceColumnsOp>());
  for (simt::ReduceColumnsOp reduce : reductions) {
    SetVector<Operation *> slice;
    (void)getBackwardSlice(reduce.getResult(), &slice, options);
    for (Operation *op : slice)
      if (!before.contains(op->getResult(0)))
        builder.clone(*op, before);
    reduce.replaceAllUsesWith(before.lookup(reduce.getResult()));
  }
  for (simt::ReduceColumnsOp reduce : reductions) // at the end: no clone has an erased one's place
    reduce.erase();
}

void eider::transforms::hoistColumns(simt::ForTilesOp loop) {
  Block &body = loop.getBlock();
  OpBuilder builder(loop);
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto inside = dyn_cast<simt::InsideColumnsOp>(op);
    const bool isHere = llvm::any_of(op.getOperands(), [&](Value value) {
      return value.getParentBlock() == &body && !(inside && value == inside.getAt());
    });
    const bool widens = isa<arith::ExtFOp>(op) && op.getOperand(0).getDefiningOp<arith::TruncFOp>();
    if (!isPure(&op) || isHere || widens)
      continue;
    if (inside)
      inside.getAtMutable().assign(simt::FirstTileOp::create(
          builder, loop.getLoc(), cursorOf(loop).getType(), loop.getRows()));
    op.moveBefore(loop);
  }
}

void eider::transforms::loadBefore(simt::ForTilesOp loop, Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &loop.getBlock(); };
  (void)getBackwardSlice(value, &slice, options);
  OpBuilder builder(loop);
  for (Operation *op : slice)
    if (auto load = dyn_cast<simt::LoadOp>(op); load && load.getAccess() == simt::Access::uniform) {
      load.getAtMutable().assign(simt::FirstTileOp::create(
          builder, loop.getLoc(), cursorOf(loop).getType(), loop.getRows()));
      load->moveBefore(loop);
    }
}

/// Arithmetic on values that are the same under every tile is done once a block, too.
void eider::transforms::hoistUniform(simt::ForTilesOp loop) {
  Block &body = loop.getBlock();
  auto isConstant = [](Operation *op) { return isa_and_nonnull<arith::ConstantOp>(op); };
  for (Operation &op : llvm::make_early_inc_range(body)) {
    const bool isScalar = llvm::all_of(op.getResultTypes(),
                                       [](Type type) { return isa<FloatType, IntegerType>(type); });
    const bool isUniform = llvm::all_of(op.getOperands(), [&](Value value) {
      return value.getParentBlock() != &body || isConstant(value.getDefiningOp());
    });
    if (isConstant(&op) || !isPure(&op) || !isScalar || !isUniform)
      continue;
    for (Value value : op.getOperands())
      if (value.getParentBlock() == &body) // a constant
        value.getDefiningOp()->moveBefore(loop);
    op.moveBefore(loop);
  }
}

/// Elements are used once: they need not push out of the caches what is used again.
void eider::transforms::streamElements(simt::ForTilesOp loop) {
  auto isOfTile = [&](auto access) {
    return access && access.getAccess() == simt::Access::elements &&
           !access.getAt().template getDefiningOp<simt::AtRowOp>();
  };
  for (Operation &op : loop.getBlock()) {
    if (auto load = dyn_cast<simt::LoadOp>(op); isOfTile(load))
      load.setStreaming(true);
    if (auto store = dyn_cast<simt::StoreOp>(op); isOfTile(store))
      store.setStreaming(true);
  }
}

void eider::transforms::storeInBulk(simt::ForTilesOp loop) {
  SmallVector<simt::StoreOp> stores;
  for (auto store : loop.getBlock().getOps<simt::StoreOp>())
    if (store.getAccess() == simt::Access::elements && store.getAlignment() % 16 == 0 &&
        isStoredInBulk(cast<VectorType>(store.getValue().getType()).getElementType()))
      stores.push_back(store);
  if (stores.empty())
    return;
  OpBuilder builder(loop);
  Value bulk = simt::BulkStoresOp::create(builder, loop.getLoc(),
                                          simt::BulkStoresType::get(builder.getContext()));
  for (simt::StoreOp store : stores)
    store.getBulkMutable().assign(bulk);
}

void eider::transforms::storeBeforeTranspose(simt::ForTilesOp loop) {
  auto ends = loop.getBlock().getOps<simt::EndTransposeOp>();
  if (ends.empty())
    return;
  simt::EndTransposeOp first = *ends.begin();
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == &loop.getBlock() && !op->isBeforeInBlock(first);
  };
  for (auto store : llvm::make_early_inc_range(loop.getBlock().getOps<simt::StoreOp>())) {
    SetVector<Operation *> slice;
    if (store->isBeforeInBlock(first))
      continue;
    (void)getBackwardSlice(store.getOperation(), &slice, options);
    if (llvm::all_of(slice, [&](Operation *op) { return op == store || isPure(op); }))
      for (Operation *op : slice)
        op->moveBefore(first);
  }
}

/// An op as it is under another tile, with what the loop computes for it.
static Operation *cloneAt(OpBuilder &builder, Operation *op, IRMapping &moved) {
  for (Value value : op->getOperands())
    if (Operation *from = value.getDefiningOp();
        from && from->getBlock() == op->getBlock() && !moved.contains(value))
      cloneAt(builder, from, moved);
  return builder.clone(*op, moved);
}

/// Elements of a tile are loaded while the tile before is worked on: after its first reduction,
/// when the registers of its own elements have been read; at once where nothing comes after that.
/// Each tile is read and written by one block alone, so that what a tile stores is not what the
/// next one has read.
void eider::transforms::loadAhead(simt::ForTilesOp loop) {
  OpBuilder builder(loop);
  Value cursor = cursorOf(loop);
  Block &body = loop.getBlock();
  const bool isRow = loop.getTile().spansRows();
  SmallVector<simt::LoadOp> loads;
  for (auto load : body.getOps<simt::LoadOp>())
    if (simt::SeenOp::wholeOf(load.getAt()) == cursor &&
        (load.getAccess() == simt::Access::elements ||
         (isRow && load.getAccess() == simt::Access::groups)))
      loads.push_back(load);
  auto reduces = llvm::make_filter_range(
      body.getOps<simt::ReduceOp>(), [&](simt::ReduceOp op) { return !isRow || !op.getGroup(); });
  if (loads.empty() || reduces.empty())
    return;
  auto loadAt = [&](simt::LoadOp load, Value at) {
    IRMapping moved;
    moved.map(cursor, at);
    return cloneAt(builder, load, moved)->getResult(0);
  };
  SmallVector<Value> first, next;
  // While column vectors are reduced, the first tile is on its way; not where what it sees of its
  // rows is computed after that.
  Operation *before = loop;
  const bool isMasked =
      llvm::any_of(loads, [&](simt::LoadOp load) { return load.getAt() != cursor; });
  auto reductions = loop->getBlock()->getOps<simt::ReduceColumnsOp>();
  if (!isMasked && !reductions.empty())
    before = *reductions.begin();
  for (simt::LoadOp load : loads) {
    hoist(load.getBase(), loop, before);
    hoist(load.getPitch(), loop, before);
  }
  builder.setInsertionPoint(before);
  Value firstTile =
      simt::FirstTileOp::create(builder, loop.getLoc(), cursorOf(loop).getType(), loop.getRows());
  for (simt::LoadOp load : loads)
    first.push_back(loadAt(load, firstTile));
  simt::ReduceOp reduction = *reduces.begin();
  auto isOfElements = [&](Value value) {
    auto held = dyn_cast<VectorType>(value.getType());
    return held && held.getNumElements() == loop.getTile().elements();
  };
  bool isLast = true;
  for (Operation *op = reduction->getNextNode(); op; op = op->getNextNode())
    isLast &= llvm::none_of(op->getOperands(), isOfElements);
  if (isLast)
    builder.setInsertionPointToStart(&body);
  else
    builder.setInsertionPointAfter(reduction);
  Value nextTile = simt::NextTileOp::create(builder, loop.getLoc(), cursor.getType(), cursor);
  for (simt::LoadOp load : loads)
    next.push_back(loadAt(load, nextTile));
  for (simt::LoadOp load : loads) {
    load.replaceAllUsesWith(body.addArgument(load.getType(), load.getLoc()));
    load.erase();
  }
  loop.getInitialMutable().assign(first);
  builder.setInsertionPointToEnd(&body);
  simt::CarryOp::create(builder, loop.getLoc(), next);
}

void eider::transforms::comeAhead(simt::ForTilesOp loop, int64_t ahead) {
  auto reductions = loop.getBlock().getOps<simt::ReduceOp>();
  auto found = llvm::find_if(reductions, [](simt::ReduceOp op) { return op.getCodec(); });
  assert(found != reductions.end() && "the schedule's rows are multiplied by tensor cores");
  simt::ReduceOp sum = *found;
  auto codes = sum.getInput().getDefiningOp<simt::LoadOp>();
  auto scales = sum.getScales() ? sum.getScales().getDefiningOp<simt::LoadOp>() : simt::LoadOp();
  // The first rows are on their way while column vectors are loaded, and reduced.
  Operation *before = &*llvm::find_if(*loop->getBlock(), [&](Operation &op) {
    return isa<simt::LoadOp, simt::ReduceColumnsOp>(op) || &op == loop.getOperation();
  });
  for (simt::LoadOp load : {codes, scales})
    if (load) {
      hoist(load.getBase(), loop, before);
      hoist(load.getPitch(), loop, before);
    }
  OpBuilder builder(before);
  auto rows = simt::RowsAheadOp::create(
      builder, loop.getLoc(), simt::RowsAheadType::get(builder.getContext()), loop.getRows(),
      codes.getBase(), scales ? Value(scales.getBase()) : Value(), codes.getPitch(),
      scales ? Value(scales.getPitch()) : Value(), TypeAttr::get(cursorOf(loop).getType()),
      builder.getI64IntegerAttr(ahead), builder.getI64IntegerAttr(scales ? scales.getGroup() : 0),
      builder.getI64IntegerAttr(scales ? scales.getGroupRows() : 1));
  builder.setInsertionPoint(sum);
  auto added = simt::SumAheadOp::create(builder, sum.getLoc(), sum.getType(), rows, sum.getTimes(),
                                        sum.getAt(), *sum.getCodec());
  if (Attribute name = sum->getAttr("eider.name"))
    added->setAttr("eider.name", name);
  sum.replaceAllUsesWith(added.getResult());
  sum.erase();
  for (simt::LoadOp load : {codes, scales}) {
    if (!load)
      continue;
    for (Operation *user : llvm::make_early_inc_range(load->getUsers())) // what decoded them
      user->erase();
    load.erase();
  }
}
