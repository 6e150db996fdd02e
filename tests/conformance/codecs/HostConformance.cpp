//===- HostConformance.cpp - Every check on all of its domain -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "HostWalk.h"

#include <chrono>
#include <cstring>

using namespace eider::conformance;

namespace {

/// Conversions are checked on every float; the rest on every 31st number of their domains, for the
/// whole takes hours on a CPU (gpu-conformance does it in minutes).
uint64_t strideOf(const HostCheck &check, bool whole) {
  const bool isConversion =
      std::strstr(check.name, "encode_e") || std::strstr(check.name, "_from_float");
  return whole || isConversion || check.bits < 20 ? 1 : 31;
}

} // namespace

/// `host-conformance [--whole] [PART-OF-A-NAME]`: the checks whose name has the part. Exit status 1
/// if one fails.
int main(int argc, char **argv) {
  const bool whole = argc > 1 && !std::strcmp(argv[1], "--whole");
  const char *part = argc > 1 + whole ? argv[1 + whole] : "";
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  const auto start = Clock::now();
  int done = 0, failed = 0;
  for (const HostCheck &check : hostChecks()) {
    if (!std::strstr(check.name, part))
      continue;
    const auto begin = Clock::now();
    const uint64_t stride = strideOf(check, whole);
    const Outcome outcome = walk(check, stride);
    const uint64_t inputs = ((1ull << check.bits) + stride - 1) / stride;
    ++done;
    failed +=
        !report(check.name, static_cast<double>(inputs), check.bound, outcome, seconds(begin));
  }
  std::printf("%d checks, %d failed, %.0f s\n", done, failed, seconds(start));
  return done == 0 || failed > 0;
}
