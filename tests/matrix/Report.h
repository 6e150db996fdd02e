//===- Report.h - What became of the cells ----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_REPORT_H
#define EIDER_TESTS_MATRIX_REPORT_H

#include "tests/matrix/Cell.h"

#include <string>
#include <vector>

namespace eider::matrix {

/// What became of one cell.
struct Outcome {
  Cell cell;
  uint64_t seed = 0;
  std::string variant;
  std::vector<Comparison> comparisons;
  std::string
      failure; ///< The error that stopped it, or its first wrong element; empty if it passed.

  bool passed() const { return failure.empty(); }
};

/// How a run went, apart from its cells.
struct Totals {
  size_t texts = 0;
  double compileSeconds = 0, runSeconds = 0; ///< Emitting and compiling; launching and comparing.
};

/// A table of op × block with the numbers of cells that passed, and the first failures, to standard
/// output.
void print(const std::vector<Outcome> &outcomes, const Totals &totals);

/// Every cell, as JSON. Throws Error (Machine) when the file cannot be written.
void writeJson(const std::string &file, const std::string &target,
               const std::vector<Outcome> &outcomes, const Totals &totals);

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_REPORT_H
