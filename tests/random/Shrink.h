//===- Shrink.h - Simpler sketches ------------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_SHRINK_H
#define EIDER_TESTS_RANDOM_SHRINK_H

#include "tests/random/Sketch.h"

#include <functional>

namespace eider::sketch {

/// Well-typed sketches, each simpler than `sketch` in one way, the boldest first: fewer results, a
/// step's operand or an input in its place, smaller extents, plainer attributes.
std::vector<Sketch> simpler(const Sketch &sketch);

/// The simplest sketch that is found on the way down from `sketch`, of which `fails` holds. At most
/// `tries` are asked about.
Sketch shrunk(const Sketch &sketch, const std::function<bool(const Sketch &)> &fails,
              unsigned tries);

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_SHRINK_H
