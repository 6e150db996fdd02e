//===- Operators.h - What an op is in C++ -----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMIT_OPERATORS_H
#define EIDER_EMIT_OPERATORS_H

#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace eider::text {

/// How tightly an expression binds.
enum Binding { Comparison, Sum, Product, Unary, Primary };

/// The function of `eider::` that an elementwise op calls; empty for operators and others.
llvm::StringRef functionOf(mlir::Operation *op);

/// The binary operator of an op and how it binds.
std::optional<std::pair<llvm::StringRef, Binding>> operatorOf(mlir::Operation *op);

/// What the result of an op without a name of its own, that loads nothing, is called.
std::string resultName(mlir::Operation *op);

} // namespace eider::text

#endif // EIDER_EMIT_OPERATORS_H
