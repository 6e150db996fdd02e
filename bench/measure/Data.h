//===- bench/measure/Data.h - Data that is worth timing on ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_DATA_H
#define EIDER_BENCH_MEASURE_DATA_H

#include "eider/dsl.h"
#include "eider/runtime.h"

namespace eider::bench {

/// What a tensor's numbers are. Scales are positive and near those of normally distributed values:
/// others are divided by in another branch of a kernel, which no user's data takes.
enum class Content { values, scales };

/// What a tensor of this name holds: scales are called `scale` or `…_scale`.
Content contentOf(const std::string &name);

/// Fills device memory of `elements` of a type with normally distributed values (FP8 codes: any but
/// NaN) or with scales from 2^-8 to 2^-7, the same for the same seed. Never zeros, on which memory
/// and arithmetic are faster. Throws Error (Request) for integers: fillWithIndices().
void fillWithData(const Device &device, void *pointer, DType type, int64_t elements, uint64_t seed,
                  Content content = Content::values);

/// Whether a tensor chooses rows of another, or says how many tokens there are, or where they
/// begin.
bool isOfIndices(const Signature::Tensor &tensor);

/// Fills device memory of such a tensor with choices in an order of no pattern, each once while
/// there are enough of them; with as many tokens as there may be; with starts of sequences of one
/// length, or nearly. Throws Error (Request) for no rows.
void fillWithIndices(const Device &device, void *pointer, const Signature::Tensor &tensor,
                     int64_t elements, const Dims &dims, uint64_t seed);

/// The extent that a signature's expression gives. Throws Error.
int64_t extentOf(const std::string &expression, const Dims &dims);

/// The bytes that a launch moves of a tensor of `shape`: all of it, or the rows that are chosen of
/// it; of in-outs twice, but of scattered rows once.
size_t trafficOf(const Signature::Tensor &tensor, const std::vector<int64_t> &shape,
                 const Dims &dims);

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_DATA_H
