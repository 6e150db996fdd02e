//===- examples/demo/Timing.cpp - Speed beside a memcpy -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "examples/demo/Timing.h"

#include <algorithm>
#include <functional>

using namespace eider;

namespace demo {

namespace {

/// Device memory, freed at the end.
class Memory {
public:
  explicit Memory(const Device &device) : device_(device) {}
  ~Memory() {
    for (void *pointer : pointers_)
      device_.free(pointer);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  std::byte *allocate(size_t bytes) {
    pointers_.push_back(device_.allocate(std::max<size_t>(bytes, 1)));
    return static_cast<std::byte *>(pointers_.back());
  }

private:
  Device device_;
  std::vector<void *> pointers_;
};

void repeat(const Device &device, std::byte *to, size_t bytes, const std::vector<std::byte> &data) {
  for (size_t at = 0; at < bytes; at += data.size())
    device.upload(to + at, data.data(), std::min(data.size(), bytes - at));
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

} // namespace

Speed timeLaunches(const Device &device, const Kernel &kernel, const Dims &dims,
                   const std::vector<TimedTensor> &tensors) {
  Memory memory(device);
  std::vector<TensorArg> arguments;
  size_t bytes = 0;
  for (const TimedTensor &tensor : tensors) {
    std::byte *pointer = memory.allocate(tensor.bytes);
    if (!tensor.data.empty())
      repeat(device, pointer, tensor.bytes, tensor.data);
    arguments.push_back({pointer});
    bytes += tensor.bytes * (tensor.isRead + tensor.isWritten);
  }
  Call call = kernel.prepare(dims, arguments);
  void *workspace = memory.allocate(call.workspace_bytes());
  const std::byte *from = memory.allocate(bytes / 2);
  std::byte *to = memory.allocate(bytes / 2);

  // One after the other, so that both see the same clocks; the first rounds warm up.
  std::vector<double> launches, copies;
  constexpr int kWarmUp = 5, kRounds = 45;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    double launch = device.microseconds({}, [&] { call.launch({}, arguments, {}, workspace); });
    double copy = device.microseconds({}, [&] { device.copy(to, from, bytes / 2); });
    if (round < kWarmUp)
      continue;
    launches.push_back(launch);
    copies.push_back(copy);
  }
  return {median(launches), median(copies), bytes};
}

} // namespace demo
