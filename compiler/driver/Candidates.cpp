//===- Candidates.cpp - The schedules worth measuring, as text ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"
#include "compiler/transforms/Space.h"

using namespace mlir;
using namespace eider;
using namespace eider::driver;

std::vector<ScheduleCandidate> eider::candidates(const Program &program,
                                                 const CompileOptions &options,
                                                 const SpaceOptions &space) {
  Compilation compilation(program, options);
  auto programs = llvm::to_vector(compilation.scheduled().getOps<ir::ProgramOp>());
  ir::ProgramOp last = programs.back();
  std::optional<transforms::Domain> domain = transforms::Domain::of(last);
  transforms::SpaceFacts facts;
  facts.multiprocessors = space.multiprocessors;
  const StringAttr rows = domain->rows.name;
  auto extent = rows ? space.dims.find(rows.getValue().str()) : space.dims.end();
  if (!rows || extent != space.dims.end())
    facts.rows = domain->rows.extent(rows ? extent->second : 0);
  std::vector<ScheduleCandidate> candidates;
  for (transforms::ScheduleOption &option :
       transforms::scheduleSpace(last.getContext(), *domain, facts))
    candidates.push_back(
        {option.schedule.str(), option.heuristic, option.cost, std::move(option.pruned)});
  return candidates;
}
