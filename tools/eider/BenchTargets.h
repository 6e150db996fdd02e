//===- tools/eider/BenchTargets.h - What is asked of a cell -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_BENCHTARGETS_H
#define EIDER_TOOLS_EIDER_BENCHTARGETS_H

#include "tools/eider/Requests.h"

namespace eider::cli {

/// The most times a memcpy of the same bytes that a program may take, cold; 0: none stated. They
/// are stated for bf16 at the shape that fills any GPU; the software codec's measure is the
/// hardware's time, and other shapes' the peers'.
double targetOf(const ProgramRequest &program);

/// Whether a scale of the whole matrix comes from what is scaled: no element can be written before
/// all are read, so that what no cache holds is read twice.
bool readsTwice(const ProgramRequest &program);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_BENCHTARGETS_H
