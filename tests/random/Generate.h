//===- Generate.h - Random sketches -----------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_GENERATE_H
#define EIDER_TESTS_RANDOM_GENERATE_H

#include "tests/random/Sketch.h"

namespace eider::sketch {

/// The sketch of a seed: well-typed, the same on every machine.
Sketch generate(uint64_t seed);

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_GENERATE_H
