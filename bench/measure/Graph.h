//===- bench/measure/Graph.h - Launches replayed as a CUDA graph -*- C++ -*-==//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_GRAPH_H
#define EIDER_BENCH_MEASURE_GRAPH_H

#include "eider/runtime.h"

#include <functional>
#include <memory>

namespace eider::bench {

/// A CUDA stream of a GPU, with graphs recorded on it: kernels shorter than a
/// launch can only be timed when the host does not launch them one by one.
class GraphStream {
public:
  /// The primary context of `device`, a GPU, is made current in this thread while this lives.
  /// Throws Error.
  explicit GraphStream(const Device &device);
  ~GraphStream();
  GraphStream(const GraphStream &) = delete;
  GraphStream &operator=(const GraphStream &) = delete;

  Stream stream() const;

  /// What puts on the stream, in one launch, all that `enqueue` puts there. It must not outlive
  /// this. Throws Error.
  std::function<void()> record(const std::function<void(Stream)> &enqueue) const;

  /// What puts a kernel of one thread that does nothing on the stream. It must not outlive this.
  /// Throws Error.
  std::function<void()> emptyKernel() const;

private:
  struct Api;
  std::unique_ptr<const Api> api;
  void *handle = nullptr;
};

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_GRAPH_H
