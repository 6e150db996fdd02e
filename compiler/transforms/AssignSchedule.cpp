//===- AssignSchedule.cpp - Which schedule a program runs under -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

void eider::transforms::convertBySoftware(ProgramOp program) {
  const auto software = CodecPathAttr::get(program.getContext(), CodecPath::software);
  for (Operation &op : program.getBlock())
    if (op.hasAttr("codec"))
      op.setAttr("codec", software);
}

bool eider::transforms::takesGivenSchedule(ProgramOp program, StringRef schedule) {
  auto programs = llvm::to_vector(program->getParentOfType<ModuleOp>().getOps<ProgramOp>());
  if (schedule.starts_with(stringifyFamily(Family::attention)) && programs.size() > 1)
    return !program.getOps<AttentionOp>().empty() || !program.getOps<PrefillOp>().empty();
  return program == mainProgram(program->getParentOfType<ModuleOp>());
}

namespace {
struct AssignSchedule : PassWrapper<AssignSchedule, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignSchedule)
  AssignSchedule() = default;
  AssignSchedule(const AssignSchedule &other) : PassWrapper(other) {
    schedule = other.schedule;
    rows = other.rows;
    held = other.held;
    anywhere = other.anywhere;
  }

  Option<std::string> schedule{*this, "schedule",
                               llvm::cl::desc("e.g. row<threads = 448, vector = 16>")};
  Option<int64_t> rows{*this, "rows", llvm::cl::init(0),
                       llvm::cl::desc("of a launch, at most; 0: any number")};
  Option<int64_t> held{*this, "held", llvm::cl::init(0),
                       llvm::cl::desc("elements of a thread of a cooperative kernel, at most; 0: "
                                      "the blocks of no kernel meet")};
  Option<bool> anywhere{*this, "anywhere", llvm::cl::init(false),
                        llvm::cl::desc("whether rows begin anywhere, whatever their width")};

  StringRef getArgument() const final { return "eider-assign-schedule"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<eider::simt::SimtDialect>();
  }
  StringRef getDescription() const final { return "Set each program's schedule"; }

  /// The number of rows that a launch has at most; 0: any.
  int64_t mostRows(ProgramOp program, const Domain &domain) {
    const int64_t extent =
        domain.rows.extent(domain.rows.name ? program.getDimValue(domain.rows.name) : 0);
    return ShapedType::isDynamic(extent) ? rows : std::max<int64_t>(1, extent);
  }

  /// Whether the program's matrix is known to have no rows.
  static bool hasNoRows(ProgramOp program, const Domain &domain) {
    return domain.rows.extent(domain.rows.name ? program.getDimValue(domain.rows.name) : 0) == 0;
  }

  /// The heuristic's: a cooperative one where such is asked for and there is one.
  ScheduleAttr choose(ProgramOp program, const Domain &domain, std::string &message) {
    if (held && !hasNoRows(program, domain))
      if (ScheduleAttr schedule = cooperativeSchedule(&getContext(), domain, held))
        return schedule;
    return heuristicSchedule(&getContext(), domain, mostRows(program, domain), message);
  }

  LogicalResult assign(ProgramOp program, StringRef given) {
    auto domain = Domain::of(program, rows);
    if (!domain)
      return failure();
    if (anywhere)
      domain->alignedElements = 1, domain->shiftsColumns = domain->readsColumns;
    std::string message;
    ScheduleAttr chosen = program.getScheduleAttr();
    if (!given.empty())
      chosen = ScheduleAttr::parse(&getContext(), given, message);
    else if (!chosen)
      chosen = choose(program, *domain, message);
    if (!chosen)
      return program.emitError() << (given.empty() ? "" : "schedule '" + given.str() + "': ")
                                 << message;
    if (!tileOf(chosen, *domain, message))
      return program.emitError(message);
    if (chosen.getKnobs().cooperative && hasNoRows(program, *domain))
      return program.emitError() << "schedule " << chosen.str()
                                 << ": a cooperative kernel holds a matrix that has rows";
    program.setScheduleAttr(chosen);
    if (chosen.getKnobs().software)
      convertBySoftware(program);
    return success();
  }

  /// Where the kernel that combines attention has a schedule of its own, there is such a kernel.
  static void leaveParts(ProgramOp program) {
    ScheduleKnobs knobs = program.getScheduleAttr().getKnobs();
    knobs.combine = 0;
    program.setScheduleAttr(
        ScheduleAttr::get(program.getContext(), program.getScheduleAttr().getFamily(), knobs));
  }

  /// Each block of the kernel before leaves a part: their number is that of its schedule.
  static void countParts(ProgramOp program, llvm::StringMap<int64_t> &parts) {
    for (auto output : program.getOps<OutputOp>())
      if (leavesParts(output) || attentionOf(output))
        parts[output.getName()] = program.getScheduleAttr().getKnobs().blocks;
    OpBuilder builder(program.getContext());
    for (auto input : program.getOps<InputOp>())
      if (input->hasAttr(partsKind) || input->hasAttr(attentionKind))
        input->setAttr(partsCount, builder.getI64IntegerAttr(parts.lookup(input.getName())));
  }

  void runOnOperation() final {
    llvm::StringMap<int64_t> parts;
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      const bool isGiven = takesGivenSchedule(program, schedule);
      if (failed(assign(program, isGiven ? StringRef(schedule) : "")))
        return signalPassFailure();
      if (!schedule.empty() && !isGiven && !program.getOps<AttentionOp>().empty())
        leaveParts(program);
      countParts(program, parts);
    }
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createAssignSchedule(const std::string &schedule,
                                                              Launches launches) {
  auto pass = std::make_unique<AssignSchedule>();
  pass->schedule = schedule;
  pass->rows = launches.rows;
  pass->held = launches.held;
  pass->anywhere = launches.anywhere;
  return pass;
}
