//===- Library.h - The registry of the op library ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_LIBRARY_H
#define EIDER_OPS_LIBRARY_H

#include "compiler/ops/Parameters.h"
#include "eider/compile.h"

namespace eider::ops {

/// Reads the parameters of an op as they stand on the command line. Throws Error naming the op, the
/// parameter, the value and what is possible; a parameter that the op does not take is refused too.
Parameters readParameters(const OpInfo &op, const OpParameters &text);

} // namespace eider::ops

#endif // EIDER_OPS_LIBRARY_H
