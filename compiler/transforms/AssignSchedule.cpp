//===- AssignSchedule.cpp - Which schedule a program runs under -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Passes.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

namespace {
struct AssignSchedule : PassWrapper<AssignSchedule, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignSchedule)
  AssignSchedule() = default;
  AssignSchedule(const AssignSchedule &other) : PassWrapper(other) { schedule = other.schedule; }

  Option<std::string> schedule{*this, "schedule",
                               llvm::cl::desc("e.g. row<threads = 448, vector = 16>")};

  StringRef getArgument() const final { return "eider-assign-schedule"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<eider::simt::SimtDialect>();
  }
  StringRef getDescription() const final { return "Set each program's schedule"; }

  LogicalResult assign(ProgramOp program, StringRef given) {
    auto domain = Domain::of(program);
    if (!domain)
      return failure();
    std::string message;
    ScheduleAttr chosen = program.getScheduleAttr();
    if (!given.empty())
      chosen = ScheduleAttr::parse(&getContext(), given, message);
    else if (!chosen)
      chosen = heuristicSchedule(&getContext(), *domain, message);
    if (!chosen)
      return program.emitError() << (given.empty() ? "" : "schedule '" + given.str() + "': ")
                                 << message;
    if (!tileOf(chosen, *domain, message))
      return program.emitError(message);
    program.setScheduleAttr(chosen);
    return success();
  }

  void runOnOperation() final {
    // A given schedule is for the last kernel, which the program is named for.
    auto programs = llvm::to_vector(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (failed(assign(program, program == programs.back() ? StringRef(schedule) : "")))
        return signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createAssignSchedule(const std::string &schedule) {
  auto pass = std::make_unique<AssignSchedule>();
  pass->schedule = schedule;
  return pass;
}
