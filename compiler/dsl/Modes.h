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

/// The numerics of `mode` for a format and a type of scales, with single parameters over them. The
/// error is one line: what is wrong, and what is possible.
llvm::Expected<ir::NumericsAttr> numericsOf(mlir::MLIRContext *context, const std::string &mode,
                                            DType format, DType scale,
                                            const std::map<std::string, std::string> &overrides);

/// What a mode quantises to where a request does not say.
struct ModeDefaults {
  DType scale = DType::f32;
  Block block = {1, 128};
};
ModeDefaults defaultsOf(const std::string &mode);

} // namespace eider::detail

#endif // EIDER_DSL_MODES_H
