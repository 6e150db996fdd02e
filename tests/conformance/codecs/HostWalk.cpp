//===- HostWalk.cpp - A check over its domain, on the host ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "HostWalk.h"

#include "checks.cuh"

#include <algorithm>
#include <thread>
#include <vector>

namespace eider::conformance {

namespace {

using namespace checks;

constexpr HostCheck list[] = {
#define CHECK(name, bits, bound, function) {#name, bits, bound, function},
#define HARDWARE_CHECK CHECK
#define FP4_CHECK CHECK
#include "checks.def"
};

Outcome walkPart(const HostCheck &check, uint64_t begin, uint64_t stride) {
  Outcome outcome;
  for (uint64_t number = begin; number < 1ull << check.bits; number += stride) {
    const uint32_t distance = check.distance(static_cast<uint32_t>(number));
    outcome.largest = std::max(outcome.largest, distance);
    if (distance > check.bound && outcome.wrong++ == 0)
      outcome.firstWrong = static_cast<uint32_t>(number);
  }
  return outcome;
}

} // namespace

std::span<const HostCheck> hostChecks() { return list; }

Outcome walk(const HostCheck &check, uint64_t stride) {
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Outcome> parts(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t)
    threads.emplace_back([&, t] { parts[t] = walkPart(check, t * stride, count * stride); });
  for (std::thread &thread : threads)
    thread.join();
  Outcome all;
  for (const Outcome &part : parts) {
    all.wrong += part.wrong;
    all.largest = std::max(all.largest, part.largest);
    all.firstWrong = std::min(all.firstWrong, part.firstWrong);
  }
  return all;
}

} // namespace eider::conformance
