//===- autotuner/BuildCommand.h - What would fill the cache -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_BUILDCOMMAND_H
#define EIDER_AUTOTUNER_BUILDCOMMAND_H

#include "eider/compile.h"

#include <string>

namespace eider {

/// `text` as one word of a shell's command line.
std::string shellWord(const std::string &text);

/// What a person is told to run so that the cache holds a request. `source`: the program as `eider
/// build` is given it, OP with its parameters or FILE.mlir; empty: a file that is to be made of
/// Program::text().
std::string buildCommand(const Program &program, const CompileOptions &options,
                         const std::string &source);

} // namespace eider

#endif // EIDER_AUTOTUNER_BUILDCOMMAND_H
