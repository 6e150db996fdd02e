//===- Join.cpp - Two kernels as one, whose blocks meet -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// eider-partition has cut a reduction over the whole matrix out, into a program that leaves parts.
// Where the schedule is cooperative, the reduction comes back: what both programs compute is then
// computed once, from elements that are read once. So does attention whose blocks combine their
// parts themselves. Where one kernel gives values of the whole matrix, no other begins them.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Domain.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/Programs.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

namespace {
struct Join : PassWrapper<Join, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Join)
  StringRef getArgument() const final { return "eider-join"; }
  StringRef getDescription() const final {
    return "A program takes in the one before it, whose blocks meet or combine what they leave";
  }

  /// What a program is given, by its name; null for other ops.
  static StringAttr givenName(Operation &op) {
    const bool isGiven = isa<InputOp, InOutOp, ScalarOp, IntegerOp>(op);
    return isGiven ? op.getAttrOfType<StringAttr>("name") : StringAttr();
  }

  /// One that leaves parts of such a kind which `program` reads; null where there is none. What it
  /// has taken in may read the parts of another.
  ProgramOp programBefore(ProgramOp program, StringRef kind) {
    for (auto input : program.getOps<InputOp>())
      if (input->hasAttr(kind))
        if (OutputOp left = outputThatLeaves(getOperation(), input.getName()))
          return left->getParentOfType<ProgramOp>();
    return {};
  }

  /// Copies `first` to the begin of `program`; gives what its values are there.
  static IRMapping takeIn(ProgramOp first, ProgramOp program) {
    OpBuilder builder = OpBuilder::atBlockBegin(&program.getBlock());
    DenseMap<StringAttr, Operation *> given;
    for (Operation &op : llvm::make_early_inc_range(program.getBlock()))
      if (StringAttr name = givenName(op)) {
        given[name] = &op;
        op.moveBefore(&program.getBlock(), builder.getInsertionPoint());
        builder.setInsertionPointAfter(&op);
      }
    IRMapping map;
    for (Operation &op : first.getBlock()) {
      if (Operation *same = givenName(op) ? given.lookup(givenName(op)) : nullptr)
        map.map(op.getResults(), same->getResults());
      else if (!isa<OutputOp>(op))
        builder.clone(op, map);
    }
    return map;
  }

  /// The program that begins what the blocks of `program` combine; null where none does.
  ProgramOp beginOf(ProgramOp program) {
    for (auto output : program.getOps<OutputOp>())
      for (auto other : getOperation().getOps<ProgramOp>())
        if (output->hasAttr(combinedName) && other->hasAttr(ofWholeName) &&
            llvm::any_of(other.getOps<OutputOp>(),
                         [&](OutputOp begun) { return begun.getName() == output.getName(); }))
          return other;
    return {};
  }

  static void join(ProgramOp first, ProgramOp program) {
    IRMapping map = takeIn(first, program);
    for (auto output : first.getOps<OutputOp>()) {
      for (auto input : llvm::make_early_inc_range(program.getOps<InputOp>()))
        if ((input->hasAttr(partsKind) || input->hasAttr(attentionKind)) &&
            input.getName() == output.getName()) {
          input.replaceAllUsesWith(map.lookup(output.getValue()));
          input.erase();
        }
    }
    if (program.getScheduleAttr().getKnobs().software)
      convertBySoftware(program);
  }

  // The last first: what it takes in, others may read, too.
  void runOnOperation() final {
    const auto programs = llvm::to_vector(getOperation().getOps<ProgramOp>());
    SetVector<Operation *> joined;
    for (ProgramOp program : llvm::reverse(programs)) {
      if (ProgramOp first = programBefore(program, attentionKind);
          first && first.getScheduleAttr() && first.getScheduleAttr().getKnobs().combine) {
        program.setScheduleAttr(first.getScheduleAttr());
        join(first, program);
        joined.insert(first);
        continue;
      }
      ScheduleAttr schedule = program.getScheduleAttr();
      if (joined.contains(program) || !schedule)
        continue;
      const ScheduleKnobs &knobs = schedule.getKnobs();
      if (ProgramOp begin = beginOf(program); begin && (knobs.combine || knobs.cooperative))
        joined.insert(begin);
      if (!knobs.cooperative)
        continue;
      while (ProgramOp first = programBefore(program, partsKind)) {
        join(first, program);
        joined.insert(first);
      }
    }
    for (Operation *first : joined)
      first->erase();
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createJoin() { return std::make_unique<Join>(); }
