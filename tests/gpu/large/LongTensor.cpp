//===- LongTensor.cpp - Device memory that repeats itself -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/gpu/large/LongTensor.h"

#include "tests/matrix/BatchBackend.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace eider;
using namespace eider::large;

namespace {
constexpr size_t guardBytes = size_t(1) << 16;
/// What one thread compares at a time.
constexpr size_t pieceBytes = size_t(1) << 24;

bool isPoison(const std::byte *bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte byte) { return byte == poison; });
}

/// Where two pieces of memory first differ; `bytes` if nowhere.
size_t firstDifference(const std::byte *a, const std::byte *b, size_t bytes) {
  if (std::memcmp(a, b, bytes) == 0)
    return bytes;
  return static_cast<size_t>(std::mismatch(a, a + bytes, b).first - a);
}
} // namespace

LongTensor::LongTensor(const Device &device, Runs runs, std::vector<int64_t> strides)
    : device(device), runs(runs), strides(std::move(strides)) {
  memory = static_cast<std::byte *>(device.allocate(runs.bytes() + 2 * guardBytes));
  begin = memory + guardBytes;
  device.fill(memory, std::to_integer<int>(poison), runs.bytes() + 2 * guardBytes);
}

void LongTensor::repeat(const std::vector<std::byte> &pattern, int64_t period) {
  const size_t unit = runs.unitBytes, step = static_cast<size_t>(period) * runs.pitch();
  const size_t all = static_cast<size_t>(runs.units - 1) * runs.pitch();
  std::vector<std::byte> first(step + runs.pitch(), poison);
  for (int64_t run = 0; run < runs.outer; ++run) {
    const std::byte *from = pattern.data() + static_cast<size_t>(run * (period + 1)) * unit;
    for (int64_t i = 0; i <= period; ++i)
      std::memcpy(&first[static_cast<size_t>(i) * runs.pitch()],
                  from + static_cast<size_t>(i) * unit, unit);
    std::byte *to = begin + static_cast<size_t>(run) * runs.runBytes();
    device.upload(to, first.data(), step);
    for (size_t filled = step; filled < all; filled *= 2)
      device.copy(to + filled, to, std::min(filled, all - filled));
    device.synchronize();
    device.upload(to + all, &first[step], runs.pitch());
  }
}

void LongTensor::upload(const std::vector<std::byte> &data) const {
  device.upload(begin, data.data(), data.size());
}

std::vector<std::byte> LongTensor::gather(const std::vector<int64_t> &units) const {
  std::vector<std::byte> data(static_cast<size_t>(runs.outer) * units.size() * runs.unitBytes);
  std::byte *to = data.data();
  for (int64_t run = 0; run < runs.outer; ++run)
    for (int64_t unit : units) {
      const size_t at =
          static_cast<size_t>(run) * runs.runBytes() + static_cast<size_t>(unit) * runs.pitch();
      device.download(to, begin + at, runs.unitBytes);
      to += runs.unitBytes;
    }
  return data;
}

std::string LongTensor::writtenOutside() const {
  std::vector<std::byte> guard(guardBytes);
  for (const std::byte *from : {memory, begin + runs.bytes()}) {
    device.download(guard.data(), from, guardBytes);
    if (!isPoison(guard.data(), guardBytes))
      return "something was written outside";
  }
  return "";
}

/// `expected`: the run's first `period` units, with their gaps.
std::string LongTensor::deviationInRun(int64_t run, int64_t first, int64_t count, int64_t period,
                                       const std::byte *expected) const {
  const size_t bytes = static_cast<size_t>(count) * runs.pitch();
  const size_t step = std::min(static_cast<size_t>(period) * runs.pitch(), bytes);
  const auto data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  device.download(data.get(),
                  begin + static_cast<size_t>(run) * runs.runBytes() +
                      static_cast<size_t>(first) * runs.pitch(),
                  bytes);
  size_t at = firstDifference(data.get(), expected, step);
  if (at == step)
    at += firstDifference(data.get() + step, data.get(), bytes - step);
  if (at == bytes)
    return "";
  const int64_t unit = first + static_cast<int64_t>(at / runs.pitch());
  return "run " + std::to_string(run) + ", unit " + std::to_string(unit) + ", byte " +
         std::to_string(at % runs.pitch()) + " is not that of unit " +
         std::to_string(unit % period);
}

std::string LongTensor::deviation(int64_t period) const {
  if (std::string found = writtenOutside(); !found.empty())
    return found;
  const size_t step = static_cast<size_t>(period) * runs.pitch();
  std::vector<std::byte> expected(static_cast<size_t>(runs.outer) * step);
  for (int64_t run = 0; run < runs.outer; ++run) {
    std::byte *to = expected.data() + static_cast<size_t>(run) * step;
    device.download(to, begin + static_cast<size_t>(run) * runs.runBytes(), step);
    for (size_t gap = runs.unitBytes; gap < step; gap += runs.pitch())
      if (!isPoison(to + gap, runs.gap))
        return "something was written between rows";
  }
  const int64_t pieceUnits = std::max<int64_t>(static_cast<int64_t>(pieceBytes / step), 1) * period;
  const int64_t pieces = (runs.units - 1 + pieceUnits - 1) / pieceUnits;
  std::vector<std::string> found(static_cast<size_t>(runs.outer * pieces));
  matrix::inParallel(found.size(), [&](size_t i) {
    const int64_t run = static_cast<int64_t>(i) / pieces;
    const int64_t first = static_cast<int64_t>(i) % pieces * pieceUnits;
    found[i] = deviationInRun(run, first, std::min(pieceUnits, runs.units - 1 - first), period,
                              expected.data() + static_cast<size_t>(run) * step);
  });
  const auto first = std::ranges::find_if(found, [](const auto &one) { return !one.empty(); });
  return first == found.end() ? "" : *first;
}

void LongTensor::spoil(int64_t unit, bool inGap) const {
  const size_t last = static_cast<size_t>(runs.outer - 1) * runs.runBytes();
  std::byte *at = begin + last + static_cast<size_t>(unit) * runs.pitch();
  at += inGap ? runs.unitBytes : 0;
  std::byte byte;
  device.download(&byte, at, 1);
  byte ^= std::byte{1};
  device.upload(at, &byte, 1);
}
