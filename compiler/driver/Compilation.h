//===- Compilation.h - One request on its way through the passes -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DRIVER_COMPILATION_H
#define EIDER_DRIVER_COMPILATION_H

#include "compiler/dsl/ProgramImpl.h"
#include "compiler/transforms/Passes.h"
#include "eider/compile.h"
#include "mlir/IR/MLIRContext.h"

namespace eider::driver {

/// A program, a context of its own, and what the passes made of it. Every member throws
/// Error{Request} with the passes' first diagnostic.
class Compilation {
public:
  Compilation(const Program &program, const CompileOptions &options);

  /// The recorded program with its dims made static.
  mlir::OwningOpRef<mlir::ModuleOp> specialized();
  /// The legalised tensor programs, one a kernel, under a variant's schedules.
  mlir::ModuleOp scheduled(transforms::VariantKind variant = transforms::VariantKind::contiguous);
  /// The variants of the executable, in order of preference: cooperative ones where the program has
  /// such kernels, that for few rows only where it has another schedule.
  std::vector<transforms::VariantKind> variants();
  /// The variant that the given schedule is for alone, where other launches have the heuristic's: a
  /// cooperative kernel, of matrices that all blocks together hold, or tiles of few rows that are
  /// transposed. Nothing where every launch takes it, or none is given.
  std::optional<transforms::VariantKind> variantOfGiven();
  /// The kernels of a variant.
  mlir::OwningOpRef<mlir::ModuleOp> lowered(transforms::VariantKind variant);
  /// The rows that a launch which a variant serves has at most; 0: any number.
  int64_t mostRowsOf(transforms::VariantKind variant);
  /// The CUDA text of a module of kernels.
  std::string text(mlir::ModuleOp kernels);

  const CompileOptions &options() const { return options_; }
  const Program &program() const { return program_; }

private:
  /// Runs `work`; turns its failure into an Error.
  template <class Work> void run(Work work);

  const Program program_;
  const CompileOptions options_;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> legalized_;
  /// By variant; `uneven` and `aligned` have the schedules of `contiguous`, `uneven_large` one of
  /// its own for the main kernel.
  std::map<transforms::VariantKind, mlir::OwningOpRef<mlir::ModuleOp>> scheduled_;

  mlir::ModuleOp legalized();
  std::vector<transforms::VariantKind> cooperativeVariants();
  bool mayBeTaller();
  bool mayLieApart();
};

} // namespace eider::driver

#endif // EIDER_DRIVER_COMPILATION_H
