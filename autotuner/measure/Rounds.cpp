//===- measure/Rounds.cpp - Interleaved rounds of launches ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Rounds.h"

#include "bench/measure/Data.h"
#include "bench/measure/Meter.h"

#include <algorithm>
#include <cmath>

namespace eider::tuning {

namespace {
/// A launch by the host takes 3 to 5 us: what is not well above is replayed.
constexpr double replayBelow = 20;

double at(std::vector<double> values, double quantile) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(quantile * static_cast<double>(values.size())))];
}
} // namespace

double Times::median() const { return at(values, 0.5); }

double Times::spread() const { return (at(values, 0.75) - at(values, 0.25)) / median(); }

double Times::drift() const {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  return std::abs(at({middle, values.end()}, 0.5) - at({values.begin(), middle}, 0.5)) / median();
}

Rounds::Rounds(const Device &device) : device(device) {
  if (device.isHost())
    return;
  graphs = std::make_unique<bench::GraphStream>(device);
  stream = graphs->stream();
}

Rounds::~Rounds() {
  try {
    device.free(from);
    device.free(to);
  } catch (const Error &) {
    // The device is lost.
  }
}

void Rounds::begin(const Tensors &cell) {
  tensors = &cell;
  const size_t wanted = std::max({static_cast<size_t>(2 * device.info().l2),
                                  bench::bytesToCopy(cell.traffic()), cell.sets().size() * 512});
  if (wanted <= bytes)
    return;
  device.free(from);
  device.free(to);
  from = to = nullptr;
  from = static_cast<std::byte *>(device.allocate(wanted));
  to = static_cast<std::byte *>(device.allocate(wanted));
  bench::fillWithData(device, from, DType::u8, static_cast<int64_t>(wanted), 7);
  bytes = wanted;
}

Runner Rounds::make(std::function<void(Stream, size_t)> enqueue) {
  const size_t sets = tensors->sets().size();
  const size_t count = device.isHost() ? 1 : sets == 1 ? 3 : sets;
  auto all = [=](Stream on) {
    for (size_t i = 0; i < count; ++i)
      enqueue(on, i % sets);
  };
  Runner runner;
  runner.count = static_cast<int>(count);
  runner.launches = [=, this] { all(stream); };
  runner.prelude = [=, this] { enqueue(stream, sets - 1); };
  if (device.isHost())
    return runner;
  // The first time has costs of its own.
  measure(runner);
  if (measure(runner) < replayBelow)
    runner.launches = graphs->record(all);
  return runner;
}

Runner Rounds::runnerOf(const Call &call, void *workspace) {
  return make([this, call, workspace](Stream on, size_t set) {
    call.launch(on, tensors->sets()[set], {}, workspace);
  });
}

Runner Rounds::memcpyRunner() {
  const size_t moved = std::max<size_t>(bench::bytesToCopy(tensors->traffic()), 512);
  const size_t places = std::max<size_t>(1, bytes / moved);
  return make([=, this](Stream on, size_t set) {
    const size_t offset = set % places * moved;
    device.copy(to + offset, from + offset, moved, on);
  });
}

double Rounds::measure(const Runner &runner) const {
  tensors->restore(stream);
  if (!device.isHost()) {
    if (tensors->needFlush())
      device.copy(to, from, static_cast<size_t>(2 * device.info().l2), stream);
    else
      runner.prelude();
  }
  return device.microseconds(stream, runner.launches) / runner.count;
}

} // namespace eider::tuning
