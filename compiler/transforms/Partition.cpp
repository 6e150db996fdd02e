//===- Partition.cpp - One program a kernel -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Two-dimensional blocks and reductions along whole rows do not fit one tile: the values a row are
// computed by a kernel of their own, which reads what it needs and writes them to the workspace.
// In-outs are only read there: the one store stays in the last kernel, after every read of the old
// value.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Domain.h"
#include "compiler/transforms/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

namespace {
struct Partition : PassWrapper<Partition, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Partition)
  StringRef getArgument() const final { return "eider-partition"; }
  StringRef getDescription() const final { return "Cut programs at grid-wide dependences"; }

  /// Values a row that anything wider, or a result, reads.
  SmallVector<Value> frontier(ProgramOp program, const Domain &domain) {
    SmallVector<Value> values;
    program.walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        auto isRows = [&](Type type) {
          auto level = domain.levelOf(type);
          return level && level->kind == LevelKind::rows;
        };
        bool read = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return isa<OutputOp, StoreOp>(user) || !isRows(user->getResult(0).getType());
        });
        if (isRows(result.getType()) && read && !isa<InputOp, InOutOp>(op))
          values.push_back(result);
      }
    });
    return values;
  }

  /// The program that computes `values` into the workspace, before `program`.
  void cut(ProgramOp program, ArrayRef<Value> values) {
    OpBuilder builder(program);
    auto first = cast<ProgramOp>(builder.cloneWithoutRegions(program));
    first.setSymName((program.getSymName() + "_rows").str());
    first.getBody().emplaceBlock();
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    for (Value value : values)
      (void)getBackwardSlice(value, &slice, options);
    llvm::StringSet<> taken;
    for (Operation &op : program.getBlock())
      if (auto name = op.getAttrOfType<StringAttr>("name"))
        taken.insert(name.getValue());
    IRMapping map;
    builder.setInsertionPointToEnd(&first.getBlock());
    for (Operation &op : program.getBlock())
      if (slice.contains(&op))
        builder.clone(op, map);
    for (auto [index, original] : llvm::enumerate(values)) {
      Value value = original;
      std::string name = "row_value_" + std::to_string(index);
      if (auto given = value.getDefiningOp()->getAttrOfType<StringAttr>("eider.name"))
        name = given.str();
      while (!taken.insert(name).second)
        name += "_" + std::to_string(index);
      builder.setInsertionPointToEnd(&first.getBlock());
      OutputOp::create(builder, value.getLoc(), name, map.lookup(value), true);
      OpBuilder inner(value.getDefiningOp());
      Value loaded = InputOp::create(inner, value.getLoc(), value.getType(), name, true);
      value.replaceAllUsesWith(loaded);
    }
  }

  void runOnOperation() final {
    for (ProgramOp program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      auto domain = Domain::of(program);
      if (!domain)
        return signalPassFailure();
      if (domain->block.isBlock() && domain->reducesRows)
        cut(program, frontier(program, *domain));
    }
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createPartition() { return std::make_unique<Partition>(); }
