//===- Modes.h - Presets of a quantisation's numerics -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DSL_MODES_H
#define EIDER_DSL_MODES_H

#include "compiler/ir/Eider.h"
#include "eider/dsl.h"
#include "llvm/Support/Error.h"

namespace eider::detail {

/// The names of all modes, separated by ", ".
std::string modeNames();

/// The numerics of `mode` for `format` (e4m3 or e5m2), with single parameters over them. The error
/// is one line: what is wrong, and what is possible.
llvm::Expected<ir::NumericsAttr> numericsOf(mlir::MLIRContext *context, const std::string &mode,
                                            DType format,
                                            const std::map<std::string, std::string> &overrides);

} // namespace eider::detail

#endif // EIDER_DSL_MODES_H
