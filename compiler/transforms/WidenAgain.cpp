//===- WidenAgain.cpp - Rows are held as they were loaded -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// What is widened once is held as floats from its first use to its last, by whatever compiles the
// text, which moves elements of a row that has no registers for that to memory and back.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace eider;
using namespace eider::transforms;

/// What widens a row's elements, of rows that begin anywhere, for a reduction of the row and for
/// what follows it is done again for the latter, where weights are loaded after it, which need
/// registers too.
static void widenAgainAfter(simt::ReduceOp reduction) {
  auto wide = reduction.getInput().getDefiningOp<arith::ExtFOp>();
  auto row = wide ? wide.getIn().getDefiningOp<simt::LoadOp>() : simt::LoadOp();
  if (!row || row.getAccess() != simt::Access::elements || row.getAlignment() >= 16)
    return;
  Block *block = reduction->getBlock();
  auto isLater = [&](Operation *op) {
    return op->getBlock() == block && reduction->isBeforeInBlock(op);
  };
  auto isLaterWeight = [&](simt::LoadOp load) {
    return load.getAccess() == simt::Access::columns && isLater(load);
  };
  if (llvm::none_of(block->getOps<simt::LoadOp>(), isLaterWeight))
    return;
  Operation *first = nullptr;
  for (Operation *user : wide->getUsers())
    if (isLater(user) && (!first || user->isBeforeInBlock(first)))
      first = user;
  if (!first)
    return;
  OpBuilder builder(first);
  Value again = simt::WidenAgainOp::create(builder, wide.getLoc(), wide.getType(), row.getResult());
  wide.getResult().replaceUsesWithIf(again,
                                     [&](OpOperand &use) { return isLater(use.getOwner()); });
}

/// Whether a thread's elements as floats, and as many 16-bit weights, are more than the registers
/// that the kernel's bound leaves it, beside `others`.
static bool lacksRegisters(simt::ForTilesOp loop) {
  constexpr int64_t registers = 65536, others = 24;
  auto kernel = loop->getParentOfType<simt::KernelOp>();
  const int64_t threads = kernel.getThreads() * kernel.getResident();
  const int64_t elements = loop.getTile().elements();
  return threads && elements + elements / 2 + others > registers / threads / 8 * 8;
}

namespace {
struct WidenAgain : PassWrapper<WidenAgain, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WidenAgain)

  StringRef getArgument() const final { return "eider-widen-again"; }
  StringRef getDescription() const final { return "Hold rows as they were loaded"; }

  void runOnOperation() final {
    getOperation().walk([](simt::ForTilesOp loop) {
      if (loop.getTile().getKind() != simt::TileKind::row || !lacksRegisters(loop))
        return;
      for (auto reduction : llvm::to_vector(loop.getBlock().getOps<simt::ReduceOp>()))
        if (!reduction.getGroup())
          widenAgainAfter(reduction);
    });
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createWidenAgain() {
  return std::make_unique<WidenAgain>();
}
