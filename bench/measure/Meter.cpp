//===- bench/measure/Meter.cpp - Time beside a memcpy ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/measure/Meter.h"

#include "bench/measure/Data.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace eider::bench {
namespace {

constexpr double replayBelow = 20;             ///< us: a launch by the host takes 3 to 5
constexpr size_t roundBytes = size_t(1) << 29; ///< What a round moves, about.
constexpr int warmUpRounds = 2;
constexpr double turn = 1000; ///< us that one of several subjects takes before the next

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double spreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return (values[n * 3 / 4] - values[n / 4]) / values[n / 2];
}

/// The ends of the 95 % interval of the values' median, by their ranks.
std::pair<double, double> intervalOfMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double middle = (n - 1) / 2, beyond = 0.98 * std::sqrt(n);
  const auto at = [&](double rank) {
    return values[static_cast<size_t>(std::clamp(std::round(rank), 0.0, n - 1))];
  };
  return {at(middle - beyond), at(middle + beyond)};
}

/// Memory for memcpys of half of `traffic`, one a launch.
class CopyBuffers {
public:
  CopyBuffers(const Device &device, size_t traffic, int copies)
      : device(device), bytes(bytesToCopy(traffic)) {
    const size_t all = std::max<size_t>(bytes * static_cast<size_t>(copies), 1);
    from = static_cast<std::byte *>(device.allocate(all));
    to = static_cast<std::byte *>(device.allocate(all));
    fillWithData(device, from, DType::u8, static_cast<int64_t>(all), 7);
  }
  ~CopyBuffers() {
    device.free(from);
    device.free(to);
  }
  CopyBuffers(const CopyBuffers &) = delete;
  CopyBuffers &operator=(const CopyBuffers &) = delete;

  void copy(Stream stream, int which) const {
    const size_t offset = bytes * static_cast<size_t>(which);
    device.copy(to + offset, from + offset, bytes, stream);
  }

private:
  Device device;
  size_t bytes;
  std::byte *from, *to;
};

} // namespace

size_t bytesToCopy(size_t traffic) {
  const size_t bytes = traffic / 2, piece = bytes < 1 << 20 ? 512 : 4096;
  return (bytes + piece - 1) / piece * piece;
}

/// The rounds of one subject.
struct Meter::Rounds {
  const Meter &meter;
  std::function<void()> launches; ///< All of a round.
  int count;
  bool isSwept; ///< Else the L2 holds before a round what one leaves there.

  double measure() const {
    // Either keeps the GPU busy while the first launch is on its way to it.
    if (isSwept)
      meter.sweepCache();
    else
      launches();
    return meter.device.microseconds(meter.stream, launches) / count;
  }
};

Meter::Meter(const Device &device, int rounds) : device(device), rounds(rounds) {
  if (device.isHost())
    return;
  graphs = std::make_unique<GraphStream>(device);
  stream = graphs->stream();
  const auto bytes = static_cast<size_t>(2 * device.info().l2);
  sweepFrom = device.allocate(bytes);
  sweepTo = device.allocate(bytes);
  fillWithData(device, sweepFrom, DType::u8, static_cast<int64_t>(bytes), 8);
}

Meter::~Meter() {
  if (device.isHost())
    return;
  device.free(sweepFrom);
  device.free(sweepTo);
}

void Meter::sweepCache() const {
  if (!device.isHost())
    device.copy(sweepTo, sweepFrom, static_cast<size_t>(2 * device.info().l2), stream);
}

int Meter::launchesFor(size_t traffic) const {
  if (device.isHost())
    return 1;
  return static_cast<int>(std::clamp<size_t>(roundBytes / std::max<size_t>(traffic, 1), 5, 100));
}

bool Meter::sweepsByItself(size_t traffic) const {
  return traffic > static_cast<size_t>(5 * device.info().l2);
}

int Meter::copiesFor(size_t traffic) const {
  return sweepsByItself(traffic) ? 1 : launchesFor(traffic);
}

Meter::Rounds Meter::prepare(const Enqueue &enqueue, int launches, int copies, bool replay,
                             bool isSwept) const {
  auto all = [=](Stream on) {
    for (int i = 0; i < launches; ++i)
      enqueue(on, i % copies);
  };
  if (replay)
    return {*this, graphs->record(all), launches, isSwept};
  return {*this, [=, this] { all(stream); }, launches, isSwept};
}

Timing Meter::time(const Enqueue &launch, size_t traffic, L2 l2) const {
  const int launches = launchesFor(traffic), copies = copiesFor(traffic),
            used = l2 == L2::Cold ? copies : 1;
  // A round of its own sweeps the cache as well, and leaves in it what a round finds. Another copy
  // leaves lines that are to be written, which the launches would pay for that write less.
  const bool isSwept =
      l2 == L2::Cold && !sweepsByItself(traffic * static_cast<size_t>(launches)) && graphs;
  const CopyBuffers buffers(device, traffic, copies);
  const Enqueue memcpy = [&](Stream on, int which) { buffers.copy(on, which); };
  // Once for the first launch's own costs, once for the time.
  const Rounds first = prepare(launch, launches, used, false, isSwept);
  first.measure();
  const bool replay = graphs && first.measure() < replayBelow;
  const Rounds ours = prepare(launch, launches, used, replay, isSwept);
  const Rounds theirs = prepare(memcpy, launches, used, replay, isSwept);
  std::vector<double> kernel, copy, ratios;
  for (int round = -warmUpRounds; round < rounds; ++round) {
    const double a = ours.measure(), b = theirs.measure();
    if (round < 0)
      continue;
    kernel.push_back(a);
    copy.push_back(b);
    ratios.push_back(a / b);
  }
  const auto [low, high] = intervalOfMedian(ratios);
  return {median(kernel), median(copy), spreadOf(kernel), low, high, replay};
}

std::vector<double>
Meter::timeInTurn(const std::vector<std::function<void(Stream)>> &launches) const {
  std::vector<Rounds> all;
  for (const auto &launch : launches) {
    const Enqueue enqueue = [launch](Stream on, int) { launch(on); };
    const Rounds first = prepare(enqueue, 1, 1, false, false);
    first.measure();
    const double once = first.measure();
    all.push_back(prepare(enqueue, static_cast<int>(std::clamp(turn / once, 3.0, 100.0)), 1,
                          graphs && once < replayBelow, false));
  }
  std::vector<std::vector<double>> times(all.size());
  for (int round = -warmUpRounds; round < rounds; ++round)
    for (size_t i = 0; i < all.size(); ++i)
      if (const double time = all[i].measure(); round >= 0)
        times[i].push_back(time);
  std::vector<double> medians;
  for (std::vector<double> &values : times)
    medians.push_back(median(std::move(values)));
  return medians;
}

double Meter::emptyKernel() const {
  if (!graphs)
    return 0;
  const auto empty = graphs->emptyKernel();
  const Rounds all = prepare([&](Stream, int) { empty(); }, launchesFor(0), 1, true, false);
  std::vector<double> times;
  for (int round = -warmUpRounds; round < rounds; ++round)
    if (const double time = all.measure(); round >= 0)
      times.push_back(time);
  return median(times);
}

double Meter::launchCost(const Enqueue &launch) const {
  using Clock = std::chrono::steady_clock;
  const int launches = device.isHost() ? 1 : 32; // far from the queue's end
  std::vector<double> costs;
  for (int round = -warmUpRounds; round < rounds; ++round) {
    device.synchronize();
    const auto start = Clock::now();
    for (int i = 0; i < launches; ++i)
      launch(stream, 0);
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    if (round >= 0)
      costs.push_back(time.count() / launches);
  }
  device.synchronize();
  return median(costs);
}

} // namespace eider::bench
