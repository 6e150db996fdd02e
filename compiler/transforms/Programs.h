//===- Programs.h - Programs that passes make ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_PROGRAMS_H
#define EIDER_TRANSFORMS_PROGRAMS_H

#include "compiler/ir/Eider.h"

#include "llvm/ADT/StringSet.h"

namespace eider::transforms {

/// Names of a module's arguments, and of what its kernels leave each other.
class ArgumentNames {
public:
  ArgumentNames() = default;
  explicit ArgumentNames(mlir::ModuleOp module);

  /// A name that no argument has, nor what kernels have in the workspace themselves: the wanted
  /// one, or others with `index`.
  std::string take(std::string wanted, size_t index);

private:
  llvm::StringSet<> taken;
};

/// The output by which a program of the module leaves others `name` in the workspace; null where
/// none does.
ir::OutputOp outputThatLeaves(mlir::ModuleOp module, llvm::StringRef name);

/// A program of the same dims where the builder is, named `program`'s name and the suffix. A
/// schedule that the text gives is `program`'s alone.
ir::ProgramOp emptyProgram(mlir::OpBuilder &builder, ir::ProgramOp program, llvm::StringRef suffix);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_PROGRAMS_H
