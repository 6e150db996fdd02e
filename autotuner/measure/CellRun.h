//===- measure/CellRun.h - All candidates of one cell -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_CELLRUN_H
#define EIDER_AUTOTUNER_MEASURE_CELLRUN_H

#include "autotuner/measure/Check.h"
#include "autotuner/measure/Compiler.h"
#include "autotuner/measure/Protocol.h"
#include "autotuner/measure/Rounds.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <set>

namespace eider::tuning {

/// Told to the tuner.
using Report = std::function<void(const nlohmann::json &event)>;

/// Thrown when the device no longer answers: the worker ends, the candidate is to blame.
struct DeviceFault {
  int id;
  std::string why;
};

/// Checks and times the candidates of a request, and reports what Protocol.h says. Used once.
class CellRun {
public:
  CellRun(const Device &device, Rounds &rounds, const CellRequest &request, const Report &report);

  /// Throws Error when the cell cannot be measured at all, DeviceFault when the device is lost.
  void run();

private:
  using Clock = std::chrono::steady_clock;
  struct Measured {
    int id;
    Call call;
    Runner runner;
    Times first; ///< Of the first round.
    Times last;  ///< Of the last round.
  };

  void take(CompiledCandidate candidate);
  void takeIncumbent(const CompiledCandidate &candidate, const Kernel &kernel);
  void takeOther(const CompiledCandidate &candidate, const Kernel &kernel);
  Sample sampleOf(const Kernel &kernel);
  Call prepared(const Kernel &kernel);
  void runChecked(const Call &call);
  bool isRight(int id, const Kernel &kernel);
  void requireReference();
  void time(int id, const Call &call);
  bool rankAgain(std::vector<Measured *> &finalists, Times &copies);
  void finish();
  void fail(int id, const std::string &why) const;

  Device device;
  Rounds &rounds;
  const CellRequest &request;
  const Report &report;
  const Program program;
  const Clock::time_point end;
  std::unique_ptr<Tensors> tensors;
  std::unique_ptr<Differences> differences;
  std::future<std::vector<Comparison>> reference;
  std::map<std::string, Comparison> judged; ///< By output; known once the reference was asked.
  std::map<std::string, int> launches;      ///< Machine code and grid, and whose they were first.
  std::vector<Measured> measured;           ///< The incumbent first.
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_CELLRUN_H
