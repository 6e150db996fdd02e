//===- tests/gpu/runtime/Graph.h - Streams and graphs for tests -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The parts of the driver that a user of Eider calls and Eider does not.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_GPU_RUNTIME_GRAPH_H
#define EIDER_TESTS_GPU_RUNTIME_GRAPH_H

#include "eider/runtime.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/SharedLibrary.h"

#include <cstdlib>
#include <functional>

namespace eider {

/// A function of the driver by its name, its result checked.
template <typename... Arguments> void callDriver(const char *name, Arguments... arguments) {
  static SharedLibrary library = [] {
    SharedLibrary opened;
    const char *path = std::getenv("EIDER_CUDA_DRIVER");
    opened.open(path ? path : "libcuda.so.1");
    return opened;
  }();
  cuda::Result (*function)(Arguments...) = nullptr;
  if (!library.resolve(name, function))
    throw Error(ErrorKind::Machine, std::string("the driver has no ") + name);
  cuda::driver().check(function(arguments...), name);
}

/// Makes the primary context of the first GPU current, as a user's CUDA program has it.
inline void usePrimaryContext() {
  cuda::Context context = nullptr;
  callDriver("cuDevicePrimaryCtxRetain", &context, 0);
  callDriver("cuCtxSetCurrent", context);
}

class OwnStream {
public:
  OwnStream() {
    usePrimaryContext();
    callDriver("cuStreamCreate", &stream, 1u); // does not wait for the default stream
  }
  ~OwnStream() { callDriver("cuStreamDestroy_v2", stream); }
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;
  void *handle() const { return stream; }

private:
  void *stream = nullptr;
};

/// What `record` launches on the stream, as a graph.
class Graph {
public:
  Graph(const OwnStream &stream, const std::function<void()> &record) {
    void *graph = nullptr;
    callDriver("cuStreamBeginCapture_v2", stream.handle(),
               2); // relaxed: allocations elsewhere do no harm
    record();
    callDriver("cuStreamEndCapture", stream.handle(), &graph);
    callDriver("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
    callDriver("cuGraphDestroy", graph);
  }
  ~Graph() { callDriver("cuGraphExecDestroy", executable); }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  /// Runs it and waits for its end.
  void launch(const OwnStream &stream) const {
    callDriver("cuGraphLaunch", executable, stream.handle());
    callDriver("cuStreamSynchronize", stream.handle());
  }

private:
  void *executable = nullptr;
};

/// A context that is not the primary one, with a stream.
class OtherContext {
public:
  OtherContext() {
    callDriver("cuCtxCreate_v2", &context, 0u, 0);
    callDriver("cuStreamCreate", &other, 1u);
    callDriver("cuCtxPopCurrent_v2", &context);
  }
  ~OtherContext() { callDriver("cuCtxDestroy_v2", context); }
  OtherContext(const OtherContext &) = delete;
  OtherContext &operator=(const OtherContext &) = delete;
  void *stream() const { return other; }

private:
  void *context = nullptr, *other = nullptr;
};

} // namespace eider

#endif // EIDER_TESTS_GPU_RUNTIME_GRAPH_H
