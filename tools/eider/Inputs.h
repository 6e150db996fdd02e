//===- tools/eider/Inputs.h - A program's inputs out of a file --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_INPUTS_H
#define EIDER_TOOLS_EIDER_INPUTS_H

#include "eider/compile.h"
#include "tools/safetensors/Safetensors.h"

namespace eider::cli {

/// The inputs and in-outs of a program, in the signature's order. Other tensors of the file are
/// left alone. Throws Error that names the file and the tensor that is missing, or of another dtype
/// or rank.
std::vector<HostTensor> readInputs(const Signature &signature, const safetensors::File &file);

/// All dims of the program: `given`, those that it fixes, and those that the inputs' shapes give.
/// Throws Error when they contradict each other or when a dim stands in no input.
Dims inferDims(const Signature &signature, const std::vector<HostTensor> &inputs, const Dims &given,
               const std::string &file);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_INPUTS_H
