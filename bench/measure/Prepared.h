//===- bench/measure/Prepared.h - Programs that wait for a stream -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_PREPARED_H
#define EIDER_BENCH_MEASURE_PREPARED_H

#include "eider/dsl.h"
#include "eider/jit.h"
#include "eider/runtime.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

namespace eider::bench {

/// Device memory that frees itself.
inline std::shared_ptr<void> allocate(const Device &device, size_t bytes) {
  return {device.allocate(std::max<size_t>(bytes, 1)), [device](void *pointer) {
            try {
              device.free(pointer);
            } catch (const Error &) {
              // The device is lost, of which another call tells.
            }
          }};
}

/// What puts work on a stream. It must not outlive the memory of its tensors.
using Launch = std::function<void(Stream)>;

/// A program on tensors, by name, prepared for `dims`: launches neither compile nor allocate.
/// Throws Error.
inline Launch launchOf(const Device &device, const Program &program, const Dims &dims,
                       const std::vector<NamedTensor> &tensors) {
  const Kernel kernel = jit(program, device, dims);
  std::vector<NamedTensor> ordered;
  std::vector<TensorArg> arguments;
  for (const std::string &name : kernel.tensorNames()) {
    const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
    if (found == tensors.end())
      throw Error(ErrorKind::Request, "no tensor '" + name + "' was given", kernel.name());
    ordered.push_back(*found);
  }
  auto owned = std::make_shared<const std::vector<NamedTensor>>(std::move(ordered)); // strides
  for (const NamedTensor &tensor : *owned)
    arguments.push_back({tensor.pointer, tensor.strides});
  const Call call = kernel.prepare(dims, arguments);
  const std::shared_ptr<void> workspace = allocate(device, call.workspace_bytes());
  return [call, workspace, owned, arguments](Stream stream) {
    call.launch(stream, arguments, {}, workspace.get());
  };
}

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_PREPARED_H
