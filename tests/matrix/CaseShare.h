//===- CaseShare.h - Cases that a quick run takes --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_CASESHARE_H
#define EIDER_TESTS_MATRIX_CASESHARE_H

#include "tests/matrix/Harness.h"

namespace eider::matrix {

/// All cases, as a GPU and the exhaustive tests take them. Where EIDER_TEST_SHARE is N: the first
/// case of each word of a program's IR, schedule, codec, layout, kind of values and order of
/// magnitude of an extent, and every N-th other.
std::vector<Case> shareOf(const std::vector<Case> &cases);

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_CASESHARE_H
