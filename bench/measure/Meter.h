//===- bench/measure/Meter.h - Time beside a memcpy -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_METER_H
#define EIDER_BENCH_MEASURE_METER_H

#include "bench/measure/Graph.h"
#include "eider/runtime.h"

#include <functional>
#include <memory>
#include <vector>

namespace eider::bench {

/// What a memcpy copies that moves as many bytes as `traffic`, read and written: half of it, up to
/// whole pieces, for a memcpy of others is up to 1.6 times as slow.
size_t bytesToCopy(size_t traffic);

/// Enqueues one launch, on the `copy`-th of the equal sets of tensors that it has.
using Enqueue = std::function<void(Stream stream, int copy)>;

/// What the second-level cache holds when a launch begins.
enum class L2 {
  Cold, ///< Nothing of the launch's tensors.
  Warm  ///< As much of them as it can.
};

struct Timing {
  double kernel = 0, memcpy = 0; ///< microseconds a launch: medians of the rounds
  double spread = 0;             ///< (third quartile − first) / median of the kernel's rounds
  double low = 0, high = 0;      ///< 95 % interval of the median of kernel / memcpy, a round each
  bool replayed = false;         ///< As a CUDA graph, not launched one by one.
};

/// Measures on one device, in one thread, in rounds: several launches of the kernel, then as many
/// memcpys of the same bytes, each between two events. Before a round there is one that is not
/// timed. Cold: each launch of a round has tensors of its own, and where all of them are not five
/// times the cache, a copy sweeps it before instead; what is so large by itself needs no others.
/// Warm: the same tensors, used just before. Launches under 20 us are replayed as a CUDA graph. On
/// `host`: wall time of single launches, which says nothing about any GPU.
class Meter {
public:
  explicit Meter(const Device &device, int rounds = 30);
  ~Meter();
  Meter(const Meter &) = delete;
  Meter &operator=(const Meter &) = delete;

  /// How many sets of tensors a cold measurement wants, for a launch that moves so many bytes.
  int copiesFor(size_t traffic) const;

  /// `launch` has copiesFor(traffic) sets of tensors. Throws Error.
  Timing time(const Enqueue &launch, size_t traffic, L2 l2) const;

  /// Microseconds that each of some subjects takes: medians of rounds in which all take their
  /// turns, so that what is compared has seen the same clocks. Each finds in the L2 what it left
  /// there itself. Throws Error.
  std::vector<double> timeInTurn(const std::vector<std::function<void(Stream)>> &launches) const;

  /// Microseconds that a kernel which does nothing takes, replayed as a CUDA graph; 0 on `host`.
  double emptyKernel() const;

  /// Microseconds that a launch costs the calling thread, the queue never being full.
  double launchCost(const Enqueue &launch) const;

private:
  struct Rounds;
  Rounds prepare(const Enqueue &enqueue, int launches, int copies, bool replay, bool isSwept) const;
  int launchesFor(size_t traffic) const;
  /// Whether so many bytes leave nothing in the cache that the next launch could find.
  bool sweepsByItself(size_t traffic) const;
  void sweepCache() const;

  Device device;
  int rounds;
  std::unique_ptr<GraphStream> graphs; ///< None on `host`.
  Stream stream;
  void *sweepFrom = nullptr, *sweepTo = nullptr;
};

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_METER_H
