//===- ProgramImpl.h - Programs and MLIR modules ----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DSL_PROGRAMIMPL_H
#define EIDER_DSL_PROGRAMIMPL_H

#include "compiler/ir/Eider.h"
#include "eider/dsl.h"
#include "mlir/IR/OwningOpRef.h"

namespace eider {

namespace detail {
struct ProgramImpl {
  std::string name, text;
  Signature signature;
};
} // namespace detail

/// Loads the dialects in which a program is written: eider, arith, math.
void loadDialects(mlir::MLIRContext &context);

/// The module of a program, in `context` (dialects are loaded). Throws Error.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(const Program &program, mlir::MLIRContext &context);

/// The program of a verified op; its locations are lost. Throws Error when a name cannot stand at a
/// kernel's boundary, with `where`, or the op's own place when that is empty.
Program makeProgram(ir::ProgramOp op, const std::string &where);

/// The DType of a float type that may stand in memory; none for others.
std::optional<DType> dtypeOf(mlir::Type type);

/// The MLIR type of a float type that may stand in memory; null for others.
mlir::Type typeOf(DType type, mlir::MLIRContext *context);

} // namespace eider

#endif // EIDER_DSL_PROGRAMIMPL_H
