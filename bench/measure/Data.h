//===- bench/measure/Data.h - Data that is worth timing on ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_DATA_H
#define EIDER_BENCH_MEASURE_DATA_H

#include "eider/runtime.h"

namespace eider::bench {

/// Fills device memory of `elements` of a type with normally distributed values (FP8 codes: any but
/// NaN), the same for the same seed. Never zeros, on which memory and arithmetic are faster. Throws
/// Error (Request) for integers, whose meaning only the op knows.
void fillWithData(const Device &device, void *pointer, DType type, int64_t elements, uint64_t seed);

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_DATA_H
