//===- Includes.h - What a text includes ------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMIT_INCLUDES_H
#define EIDER_EMIT_INCLUDES_H

#include "mlir/IR/BuiltinOps.h"

namespace eider::text {

/// The includes that the module's kernels need, and what of the library is named without `eider::`.
void printIncludes(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace eider::text

#endif // EIDER_EMIT_INCLUDES_H
