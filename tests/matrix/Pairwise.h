//===- Pairwise.h - Few cells that hold every pair of values ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_PAIRWISE_H
#define EIDER_TESTS_MATRIX_PAIRWISE_H

#include "tests/matrix/Cell.h"

namespace eider::matrix {

/// Cells such that any two values of any two axes that can go together do so in one of them; the
/// same for the same seed. Greedy: each cell takes in as many new pairs as it can.
std::vector<Cell> pairwiseCells(uint64_t seed);

/// Pairs of values that go together and stand in no cell.
size_t uncoveredPairs(const std::vector<Cell> &cells);

/// Every combination of op, dtype, format, block, codec, width and (isRepresentative) rows;
/// scales, sources, numerics, memory and values are drawn at random, the same in every run.
std::vector<Cell> wholeProduct();

/// Every combination of op, format, block, layout of scales and numerics; all else is drawn
/// likewise.
std::vector<Cell> numericsProduct();

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_PAIRWISE_H
