//===- measure/Cell.h - One cell, run by a worker ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_CELL_H
#define EIDER_AUTOTUNER_MEASURE_CELL_H

#include "autotuner/measure/Protocol.h"
#include "autotuner/measure/WorkerProcess.h"
#include "runtime/host/TemporaryDirectory.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace eider::tuning {

/// A candidate of the last rounds.
struct RankedRun {
  int id = 0;
  double microseconds = 0, spread = 0;
};

/// What a worker, or several in turn, found of a cell.
struct CellOutcome {
  std::vector<RankedRun> runs; ///< The incumbent first; empty if refused.
  std::string refused;         ///< Why there are no runs.
  double memcpyTime = 0;       ///< microseconds
  int64_t bytes = 0;
  std::map<int, std::string> rejected; ///< By candidate: dropped, wrong, hung, faulty.
  std::map<int, double> measured;      ///< microseconds of the first rounds
};

/// How long a worker may be silent.
struct Patience {
  std::chrono::milliseconds candidate{5000}; ///< While one runs: it hangs.
  std::chrono::milliseconds other{60000};    ///< While it starts or compiles.
};

/// A device's worker, started when there is something to run, and again after each candidate that
/// took it down. Not thread-safe.
class WorkerHost {
public:
  WorkerHost(std::string device, Patience patience);

  /// What the device compiles for.
  std::string target();

  /// Throws Error when the cell cannot be measured at all: the request is wrong, the machine lacks
  /// something, or the incumbent itself fails.
  CellOutcome run(CellRequest request);

private:
  void start();
  bool attempt(const CellRequest &request, CellOutcome &outcome);
  void lose(const CellRequest &request, CellOutcome &outcome, int running, const std::string &why);

  const std::string device;
  const Patience patience;
  host::TemporaryDirectory scratch; ///< The cache of the workers: what candidates compile to.
  std::string target_;
  std::unique_ptr<WorkerProcess> worker;
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_CELL_H
