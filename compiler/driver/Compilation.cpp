//===- Compilation.cpp - One request on its way through the passes --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"

#include "compiler/emit/CudaPrinter.h"
#include "compiler/transforms/Targets.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace eider;
using namespace eider::driver;

/// A target, or an Error that names all of them.
static void checkTarget(const std::string &name) {
  if (transforms::findTarget(name))
    return;
  std::string names;
  for (const transforms::Target &target : transforms::targetTable())
    names += (names.empty() ? "" : ", ") + target.name.str();
  throw Error(ErrorKind::Request, "no target '" + name + "'", "arch", "the targets are " + names);
}

Compilation::Compilation(const Program &program, const CompileOptions &options)
    : program_(program), options_(options), context(MLIRContext::Threading::DISABLED) {
  checkTarget(options.target);
  loadDialects(context);
  context.loadDialect<simt::SimtDialect>();
}

template <class Work> void Compilation::run(Work work) {
  std::string first;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      first = diagnostic.str();
    return success();
  });
  if (failed(work()))
    throw Error(ErrorKind::Request, first.empty() ? "the passes failed" : first, program_.name());
}

OwningOpRef<ModuleOp> Compilation::specialized() {
  OwningOpRef<ModuleOp> module = parseModule(program_, context);
  PassManager manager(&context);
  manager.addPass(transforms::createSpecialize(options_.dims));
  run([&] { return manager.run(*module); });
  return module;
}

ModuleOp Compilation::scheduled() {
  if (scheduled_)
    return *scheduled_;
  OwningOpRef<ModuleOp> module = parseModule(program_, context);
  PassManager manager(&context);
  if (options_.timings)
    manager.enableTiming();
  transforms::buildTensorPipeline(
      manager, {options_.dims, options_.target, options_.codec, options_.schedule});
  run([&] { return manager.run(*module); });
  scheduled_ = std::move(module);
  return *scheduled_;
}

OwningOpRef<ModuleOp> Compilation::lowered(transforms::VariantKind variant) {
  OwningOpRef<ModuleOp> module = scheduled().clone();
  PassManager manager(&context);
  if (options_.timings)
    manager.enableTiming();
  transforms::buildVariantPipeline(manager, variant);
  run([&] { return manager.run(*module); });
  return module;
}

std::string Compilation::text(ModuleOp kernels) {
  std::string text;
  run([&] {
    auto printed = text::printCuda(kernels);
    if (succeeded(printed))
      text = std::move(*printed);
    return LogicalResult(printed);
  });
  return text;
}
