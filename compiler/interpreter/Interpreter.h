//===- Interpreter.h - The eider dialect, op by op --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The reference that kernels are compared with: it shares nothing with the template library. Each
// op is executed on whole tensors, in double, and every elementwise result is rounded to its type.
// Beside each value it keeps where a conforming f32 implementation may lie (Range.h).
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_INTERPRETER_H
#define EIDER_INTERPRETER_INTERPRETER_H

#include "compiler/interpreter/Indices.h"
#include "compiler/interpreter/ScaleMemory.h"
#include "eider/compile.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace eider::interpreter {

using RuntimeValue = std::variant<Tensor, CodeTensor, ScaledTensor>;

/// An output, or the new value of an in-out.
struct ProgramResult {
  std::string name;
  RuntimeValue value;
  bool givenScales = false;      ///< The scales are an input of the program, not a result.
  ScalePlacement placement = {}; ///< Of scales: those of a scaled tensor, or the value itself.
  std::optional<Placement> scattered = {}; ///< Where the value's rows go, if they are scattered.
};

/// A result's value as tensors in memory: one, or codes and scales.
std::vector<HostTensor> toHost(const ProgramResult &result);

/// Executes a program as the DSL records it, before any pass; results stand in the program's order.
/// Throws Error: Request for a tensor, scalar or op that does not fit.
std::vector<ProgramResult> run(ir::ProgramOp program, const std::vector<HostTensor> &inputs,
                               const std::map<std::string, double> &scalars);

/// Reads the program and executes it.
std::vector<ProgramResult> run(const Program &program, const std::vector<HostTensor> &inputs,
                               const std::map<std::string, double> &scalars);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_INTERPRETER_H
