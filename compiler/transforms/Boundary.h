//===- Boundary.h - What a program reads and writes -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_BOUNDARY_H
#define EIDER_TRANSFORMS_BOUNDARY_H

#include "compiler/ir/Eider.h"

#include <string>

namespace eider::transforms {

/// The tensor type of an argument or result op; null for other ops.
mlir::Type boundaryType(mlir::Operation &op);

/// Its name.
llvm::StringRef boundaryName(mlir::Operation &op);

/// What a program reads and writes, in words: `x bf16 [tokens, hidden], weight bf16 [hidden]`.
struct BoundaryText {
  std::string reads, writes;
};
BoundaryText describeBoundary(ir::ProgramOp program);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_BOUNDARY_H
