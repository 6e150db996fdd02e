//===- tools/report/Cases.h - Who was measured at the same thing -*- C++ -*-==//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_CASES_H
#define EIDER_TOOLS_REPORT_CASES_H

#include "tools/report/Results.h"

namespace eider::report {

/// A time of somebody else at the same thing.
struct PeerTime {
  std::string name;
  const Cell *cell;
};

/// All times of one op with one set of params at one shape, on one kind of machine. The cells
/// belong to the documents.
struct Case {
  std::string device, op, l2;
  Pairs params; ///< Without who, schedule and L2.
  Pairs shape;
  const Cell *heuristic = nullptr;     ///< With the schedule that the compiler chooses.
  const Cell *tuned = nullptr;         ///< With the schedule of the tuner's record.
  std::vector<const Cell *> schedules; ///< With given schedules, fastest first.
  std::vector<PeerTime> peers;         ///< Fastest first.

  /// What a user gets without tuning; if only given schedules were measured, the best of them.
  const Cell *ours() const;
  /// The best that is known: the tuned time, or the fastest of the heuristic's and the given
  /// schedules'; null if that is the heuristic's.
  const Cell *best() const;
  /// `quantize 1x128 · bf16 · e4m3, 16384 × 8192, cold`.
  std::string name() const;
  /// How bad it is: the larger of our ratios to memcpy and to the fastest peer.
  double badness() const;
};

/// The cases of all cells that are times, worst first. A newer file's cell takes the place of an
/// older one's.
std::vector<Case> casesOf(const std::vector<Document> &documents);

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_CASES_H
