//===- measure/Rounds.h - Interleaved rounds of launches --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_ROUNDS_H
#define EIDER_AUTOTUNER_MEASURE_ROUNDS_H

#include "autotuner/measure/Tensors.h"
#include "bench/measure/Graph.h"

#include <functional>
#include <memory>
#include <vector>

namespace eider::tuning {

/// Times of rounds, in microseconds a launch.
class Times {
public:
  void add(double microseconds) { values.push_back(microseconds); }
  double median() const;
  /// (third quartile − first) / median
  double spread() const;
  /// |median of the second half − median of the first| / median: a clock that falls, a neighbour
  /// that comes.
  double drift() const;
  size_t count() const { return values.size(); }

private:
  std::vector<double> values;
};

/// What a round launches: each set of tensors once (three times if there is one set, which sweeps
/// the cache by itself).
struct Runner {
  std::function<void()> launches;
  std::function<void()> prelude; ///< Keeps the device busy while the first launch is on its way.
  int count = 1;
};

/// Measures on one device. Every launch finds nothing of its tensors in the L2, and in-outs hold
/// their old values when a round begins.
class Rounds {
public:
  explicit Rounds(const Device &device);
  ~Rounds();
  Rounds(const Rounds &) = delete;
  Rounds &operator=(const Rounds &) = delete;

  /// Must be called before the rest: another cell.
  void begin(const Tensors &tensors);

  /// `call`, which is prepared for the cell, as rounds of launches: replayed as a CUDA graph if
  /// they are short.
  Runner runnerOf(const Call &call, void *workspace);
  /// A memcpy that moves as many bytes.
  Runner memcpyRunner();

  /// Microseconds a launch, of one round.
  double measure(const Runner &runner) const;

private:
  Runner make(std::function<void(Stream, size_t)> enqueue);

  Device device;
  const Tensors *tensors = nullptr;
  std::unique_ptr<bench::GraphStream> graphs; ///< None on `host`.
  Stream stream;
  std::byte *from = nullptr, *to = nullptr; ///< To copy, and to flush the cache by copying.
  size_t bytes = 0;
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_ROUNDS_H
