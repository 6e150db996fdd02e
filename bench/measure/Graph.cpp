//===- bench/measure/Graph.cpp - Launches replayed as a CUDA graph --------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The runtime launches, and needs no graphs: their part of the driver is resolved here, in the
// library that the runtime opened.
//
//===----------------------------------------------------------------------===//
#include "bench/measure/Graph.h"

#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/SharedLibrary.h"

#include <dlfcn.h>

namespace eider::bench {

using namespace cuda;

namespace {
using GraphHandle = struct GraphTag *;
using GraphProgram = struct GraphProgramTag *;
constexpr unsigned nonBlocking = 1;
constexpr int threadLocal = 1; ///< Other threads may go on using the driver during a capture.
} // namespace

#define EIDER_GRAPH_FUNCTIONS(X)                                                                   \
  X(streamCreate, cuStreamCreate, (DriverStream * stream, unsigned flags))                         \
  X(streamDestroy, cuStreamDestroy_v2, (DriverStream stream))                                      \
  X(beginCapture, cuStreamBeginCapture_v2, (DriverStream stream, int mode))                        \
  X(endCapture, cuStreamEndCapture, (DriverStream stream, GraphHandle * graph))                    \
  X(instantiate, cuGraphInstantiateWithFlags,                                                      \
    (GraphProgram * program, GraphHandle graph, unsigned long long flags))                         \
  X(launch, cuGraphLaunch, (GraphProgram program, DriverStream stream))                            \
  X(destroyProgram, cuGraphExecDestroy, (GraphProgram program))                                    \
  X(destroyGraph, cuGraphDestroy, (GraphHandle graph))

struct GraphStream::Api {
#define EIDER_MEMBER(member, symbol, signature) Result(*member) signature;
  EIDER_GRAPH_FUNCTIONS(EIDER_MEMBER)
#undef EIDER_MEMBER

  Api() {
    Dl_info opened = {};
    SharedLibrary library;
    if (!dladdr(reinterpret_cast<const void *>(driver().init), &opened) ||
        !library.open(opened.dli_fname))
      throw Error(ErrorKind::Machine, "the driver's library cannot be opened again", "CUDA driver");
#define EIDER_RESOLVE(member, symbol, signature)                                                   \
  if (!library.resolve(#symbol, member))                                                           \
    throw Error(ErrorKind::Machine, "the driver has no " #symbol, "CUDA driver",                   \
                "install a driver for CUDA 12.0 or later");
    EIDER_GRAPH_FUNCTIONS(EIDER_RESOLVE)
#undef EIDER_RESOLVE
  }
};

GraphStream::GraphStream(const Device &device) : api(std::make_unique<const Api>()) {
  const std::string &id = device.info().id; // cuda:N
  DeviceNumber number = 0;
  Context context = nullptr;
  driver().check(driver().deviceGet(&number, std::stoi(id.substr(id.find(':') + 1))),
                 "opening a GPU");
  driver().check(driver().primaryRetain(&context, number), "retaining the context");
  driver().check(driver().contextPush(context), "making the context current");
  DriverStream stream = nullptr;
  driver().check(api->streamCreate(&stream, nonBlocking), "making a stream");
  handle = stream;
}

GraphStream::~GraphStream() {
  Context ignored = nullptr;
  api->streamDestroy(static_cast<DriverStream>(handle));
  driver().contextPop(&ignored);
}

Stream GraphStream::stream() const { return handle; }

std::function<void()> GraphStream::record(const std::function<void(Stream)> &enqueue) const {
  const auto stream = static_cast<DriverStream>(handle);
  driver().check(api->beginCapture(stream, threadLocal), "beginning a graph");
  GraphHandle graph = nullptr;
  try {
    enqueue(handle);
  } catch (...) {
    api->endCapture(stream, &graph);
    throw;
  }
  driver().check(api->endCapture(stream, &graph), "ending a graph");
  GraphProgram program = nullptr;
  const Result made = api->instantiate(&program, graph, 0);
  api->destroyGraph(graph);
  driver().check(made, "making a graph");
  std::shared_ptr<GraphProgramTag> owner(program, api->destroyProgram);
  return [this, owner] {
    driver().check(api->launch(owner.get(), static_cast<DriverStream>(handle)),
                   "launching a graph");
  };
}

std::function<void()> GraphStream::emptyKernel() const {
  constexpr char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry empty() { ret; }\n";
  Library library = nullptr;
  LibraryKernel kernel = nullptr;
  Function function = nullptr;
  driver().check(driver().libraryLoad(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0),
                 "loading an empty kernel");
  driver().check(driver().libraryKernel(&kernel, library, "empty"), "finding an empty kernel");
  driver().check(driver().kernelFunction(&function, kernel), "preparing an empty kernel");
  return [this, function] {
    driver().check(driver().launch(function, 1, 1, 1, 1, 1, 1, 0, static_cast<DriverStream>(handle),
                                   nullptr, nullptr),
                   "launching an empty kernel");
  };
}

} // namespace eider::bench
