//===- measure/Protocol.h - What tuner and worker say -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Lines of JSON over one socket, which is the worker's standard input and output. The tuner sends
// requests; the worker answers each with events, in this order:
//
//   ready    (once, after its start) target: what the device compiles for
//   dropped  id, why: compiled, but not worth running
//   start    id: runs on the device from here on; the watchdog watches
//   failed   id, why: wrong results, or it does not compile
//   fault    id, why: the device is lost; the worker ends
//   measured id, us
//   result   bytes, memcpy, runs: [{id, us, spread}, …] of the last round, the incumbent first
//   refused  why: too much noise for any result
//   error    kind, why: the request itself is wrong, or the machine lacks something
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_PROTOCOL_H
#define EIDER_AUTOTUNER_MEASURE_PROTOCOL_H

#include "eider/runtime.h"

#include <string>
#include <vector>

namespace eider::tuning {

/// A schedule to measure. The first of a request is the incumbent.
struct CandidateRequest {
  int id = 0;
  std::string schedule;
  /// The contract to run in the place of what the compiler gives; empty: the compiler's.
  std::string contract = {};
  bool asked = false; ///< For by name: measured though it keeps registers in memory.
};

/// One program at one shape.
struct CellRequest {
  std::string program; ///< text in the `eider` dialect
  std::string codec;
  Dims dims;                      ///< Of the launch.
  std::vector<std::string> fixed; ///< Those of them to specialise for.
  std::vector<CandidateRequest> candidates;
  double seconds = 5; ///< After which no further candidate is begun.
};

std::string toLine(const CellRequest &request);

/// Throws Error (Request) for anything else than what toLine() gives.
CellRequest parseRequest(const std::string &line);

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_PROTOCOL_H
