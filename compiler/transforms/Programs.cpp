//===- Programs.cpp - Programs that passes make --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Programs.h"

#include "compiler/transforms/Domain.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

ArgumentNames::ArgumentNames(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>("name"))
      taken.insert(name.getValue());
  });
}

std::string ArgumentNames::take(std::string wanted, size_t index) {
  const StringRef name = wanted;
  if (name.starts_with(gridStateName) ||
      llvm::is_contained({partsName, sumsName, arrivalsName}, name))
    wanted = "of_" + wanted;
  while (!taken.insert(wanted).second)
    wanted += "_" + std::to_string(index);
  return wanted;
}

OutputOp eider::transforms::outputThatLeaves(ModuleOp module, StringRef name) {
  for (auto program : module.getOps<ProgramOp>())
    for (auto output : program.getOps<OutputOp>())
      if (output.getWorkspace() && output.getName() == name)
        return output;
  return {};
}

ProgramOp eider::transforms::emptyProgram(OpBuilder &builder, ProgramOp program, StringRef suffix) {
  auto module = program->getParentOfType<ModuleOp>();
  const std::string wanted = (program.getSymName() + suffix).str();
  std::string name = wanted;
  for (int n = 2; module.lookupSymbol(name); ++n)
    name = wanted + "_" + std::to_string(n);
  auto other = cast<ProgramOp>(builder.cloneWithoutRegions(program));
  other.removeScheduleAttr();
  other.setSymName(name);
  other.getBody().emplaceBlock();
  return other;
}
