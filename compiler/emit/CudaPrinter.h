//===- CudaPrinter.h - A thread program as CUDA C++ -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMIT_CUDAPRINTER_H
#define EIDER_EMIT_CUDAPRINTER_H

#include "compiler/ir/Simt.h"

#include <string>

namespace eider::text {

/// The CUDA text of all kernels of `module`, in order. Failure (with a diagnostic) for an op that
/// has no text.
mlir::FailureOr<std::string> printCuda(mlir::ModuleOp module);

} // namespace eider::text

#endif // EIDER_EMIT_CUDAPRINTER_H
