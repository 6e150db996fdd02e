//===- Candidates.cpp - The schedules worth measuring, as text ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Space.h"

using namespace mlir;
using namespace eider;
using namespace eider::driver;
using eider::transforms::VariantKind;

std::vector<ScheduleCandidate> eider::candidates(const Program &program,
                                                 const CompileOptions &options,
                                                 const SpaceOptions &space) {
  Compilation compilation(program, options);
  // The main kernel, but for what only combines attention and rounds it.
  auto tunedOf = [&](VariantKind kind) {
    ModuleOp kernels = compilation.scheduled(kind);
    for (auto program : kernels.getOps<ir::ProgramOp>())
      if (auto attends = transforms::Domain::of(program)->attends; attends && attends->isAlone)
        return program;
    return transforms::mainProgram(kernels);
  };
  ir::ProgramOp tuned = tunedOf(VariantKind::contiguous);
  std::optional<transforms::Domain> domain = transforms::Domain::of(tuned);
  transforms::SpaceFacts facts;
  facts.multiprocessors = space.multiprocessors;
  const StringAttr rows = domain->rows.name;
  auto extent = rows ? space.dims.find(rows.getValue().str()) : space.dims.end();
  if (!rows || extent != space.dims.end())
    facts.rows = domain->rows.extent(rows ? extent->second : 0);
  for (VariantKind kind : compilation.variants())
    if (facts.rows > 0 && facts.rows <= compilation.mostRowsOf(kind)) {
      tuned = tunedOf(kind);
      domain = transforms::Domain::of(tuned, compilation.mostRowsOf(kind));
      break;
    }
  const bool isLarge = llvm::is_contained(compilation.variants(), VariantKind::uneven_large) &&
                       facts.rows >= transforms::largeRowsOf(*domain) &&
                       facts.rows % tuned.getScheduleAttr().getKnobs().vector != 0;
  if (isLarge)
    tuned = tunedOf(VariantKind::uneven_large);
  // What a launch takes without a record is measured first: of cooperative kernels, the first that
  // holds the matrix.
  const ir::ScheduleAttr otherwise = tuned.getScheduleAttr();
  const std::vector<VariantKind> kinds = compilation.variants();
  for (VariantKind kind : llvm::reverse(kinds))
    if (ir::ProgramOp joined = transforms::isCooperative(kind) ? tunedOf(kind) : ir::ProgramOp();
        joined && transforms::holds(joined.getScheduleAttr(), *domain, facts))
      tuned = joined;
  std::vector<ScheduleCandidate> candidates;
  for (transforms::ScheduleOption &option :
       transforms::scheduleSpace(tuned.getScheduleAttr(), *domain, facts))
    candidates.push_back(
        {option.schedule.str(), option.heuristic, option.cost, std::move(option.pruned)});
  if (otherwise == tuned.getScheduleAttr())
    return candidates;
  // Two kernels in its place come second.
  std::erase_if(candidates, [&](const ScheduleCandidate &candidate) {
    return candidate.schedule == otherwise.str();
  });
  candidates.insert(candidates.begin() + 1, {otherwise.str(), false, candidates[0].cost, ""});
  return candidates;
}
