//===- measure/Compiler.h - Candidates compiled beside measuring -*- C++ -*-==//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_COMPILER_H
#define EIDER_AUTOTUNER_MEASURE_COMPILER_H

#include "autotuner/measure/Protocol.h"
#include "eider/compile.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace eider::tuning {

/// A candidate, compiled or not.
struct CompiledCandidate {
  int id = 0;
  std::string schedule;
  std::string failure; ///< Why it could not be compiled; empty: it is.
  std::string drop;    ///< Why it is not worth running; empty: it is.
  Executable executable;
  std::string launched; ///< SHA-256 of the machine code, and the grids; empty where none is seen.
};

/// Compiles a cell's candidates in threads of its own, in their order.
class CandidateCompiler {
public:
  CandidateCompiler(const Program &program, const Device &device, const CellRequest &request);
  /// Ends the threads; waits for what they are at.
  ~CandidateCompiler();

  /// The next one that is done (the incumbent is the first); nothing when all are, or when `until`
  /// has passed.
  std::optional<CompiledCandidate> next(std::chrono::steady_clock::time_point until);

private:
  void work();
  CompiledCandidate compileOne(const CandidateRequest &candidate) const;

  const Program program;
  const Device device;
  const CellRequest &request;
  std::mutex mutex;
  std::condition_variable changed;
  size_t begun = 0, given = 0;
  std::deque<CompiledCandidate> done;
  bool incumbentGiven = false, stopping = false;
  std::vector<std::thread> threads;
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_COMPILER_H
