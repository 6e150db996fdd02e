//===- examples/demo/OpSources.h - The ops as they are written --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EXAMPLES_DEMO_OPSOURCES_H
#define EIDER_EXAMPLES_DEMO_OPSOURCES_H

#include <string>

namespace demo {

/// The function that describes a library op, out of `compiler/ops/OP.cpp` as it was at build time.
std::string sourceOfOp(const std::string &op);

} // namespace demo

#endif // EIDER_EXAMPLES_DEMO_OPSOURCES_H
