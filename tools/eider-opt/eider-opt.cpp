//===- eider-opt.cpp - Every pass by name ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/CudaPrinter.h"
#include "compiler/ir/Simt.h"
#include "compiler/transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
/// Prints the module's CUDA text to standard output: `eider-print-cuda`.
struct PrintCuda : PassWrapper<PrintCuda, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintCuda)
  StringRef getArgument() const final { return "eider-print-cuda"; }
  StringRef getDescription() const final { return "Print the kernels as CUDA C++"; }
  void runOnOperation() final {
    auto text = eider::text::printCuda(getOperation());
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<eider::ir::EiderDialect, eider::simt::SimtDialect, arith::ArithDialect,
                  math::MathDialect>();
  eider::transforms::registerPasses();
  PassRegistration<PrintCuda>();
  return asMainReturnCode(MlirOptMain(argc, argv, "eider-opt: Eider's passes by name\n", registry));
}
