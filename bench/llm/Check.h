//===- bench/llm/Check.h - A decode layer beside plain loops ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_LLM_CHECK_H
#define EIDER_BENCH_LLM_CHECK_H

#include "eider/runtime.h"

#include <string>

namespace eider::llm {

/// Runs a layer of MiniLM's dims on real weights (a file that examples/data/slice.py made) over
/// sequences of several lengths, and compares what it gives with loops in double over the same
/// codes, which round to bf16 where the layer does; and with such loops that are wrong in one
/// thing each, which must differ by far. Prints a line each; whether all are as they should be.
/// Throws Error.
bool checkLayer(const Device &device, const std::string &weights);

} // namespace eider::llm

#endif // EIDER_BENCH_LLM_CHECK_H
