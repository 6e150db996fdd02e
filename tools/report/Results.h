//===- tools/report/Results.h - Files of results ----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_RESULTS_H
#define EIDER_TOOLS_REPORT_RESULTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eider::report {

/// Names and values, as they stand in the file.
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// One figure. bench/README.md says what each field is.
struct Cell {
  std::string op;
  Pairs params, shape;
  std::string metric, unit;
  double value = 0;
  std::string baseline; ///< Empty: none.
  std::optional<double> baselineValue, target, targetDifference, spread, bytes, starts;

  /// The value of a param; empty if there is none.
  std::string param(const std::string &name) const;
  /// value / baselineValue, if there is one that is not zero.
  std::optional<double> ratio() const;
  /// The same, where the baseline is a memcpy.
  std::optional<double> ofMemcpy() const;
  /// Whether it is the time of a launch, of whatever schedule: `time`, or the tuner's `tuned_time`
  /// and `heuristic_time`.
  bool isTime() const;
  /// Whether what was asked of it is met; nothing was asked: no value.
  std::optional<bool> met() const;
};

/// One file.
struct Document {
  std::string file, bench, date, commit, device;
  Pairs machine;  ///< All of the machine but its device.
  Pairs versions; ///< Of what was measured, if the file says.
  Pairs absent;   ///< What was to be measured, but was not there, and why.
  std::vector<Cell> cells;
};

/// Reads the text of a file. Throws Error (Request) that names the file and the field.
Document readDocument(const std::string &text, const std::string &file);

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_RESULTS_H
