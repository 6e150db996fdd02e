//===- Programs.h - A user's own programs -----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_HELDOUT_PROGRAMS_H
#define EIDER_TESTS_HELDOUT_PROGRAMS_H

#include "eider/dsl.h"

#include <vector>

namespace eider::heldout {

/// Elementwise, functions of a column and of an element: y = quantize(x · tanh(w) + log(1 + |x|)),
/// 1x64.
Program blend(DType type);

/// Two reductions along the row, and one over blocks of the result; an output a row. y =
/// quantize((x − min) / spread), spread = max − min, at least `least`.
Program stretch(DType type, const Block &block);

/// Halves and an in-out that is read and written: a gated cell of a recurrent network. state = g ·
/// state + (1 − g) · tanh(candidate); y = quantize(max(state, 0)), e5m2, 1x32.
Program gatedState(DType type);

/// What is less than `least` is hidden by an infinity. y = quantize(softmax(x seen)), 1x*.
Program visible(DType type);

/// All of them, for bf16 and f32.
std::vector<Program> programs();

} // namespace eider::heldout

#endif // EIDER_TESTS_HELDOUT_PROGRAMS_H
