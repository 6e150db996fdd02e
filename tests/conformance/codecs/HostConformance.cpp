//===- HostConformance.cpp - Every check on all of its domain -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "HostWalk.h"

#include <chrono>
#include <cstring>

using namespace eider::conformance;

/// `host-conformance [PART-OF-A-NAME]`: the checks whose name has the part, over their whole
/// domains. Exit status 1 if one fails.
int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  const auto start = Clock::now();
  int done = 0, failed = 0;
  for (const HostCheck &check : hostChecks()) {
    if (argc > 1 && !std::strstr(check.name, argv[1]))
      continue;
    const auto begin = Clock::now();
    const Outcome outcome = walk(check, 1);
    const double inputs = static_cast<double>(1ull << check.bits);
    ++done;
    failed += !report(check.name, inputs, check.bound, outcome, seconds(begin));
  }
  std::printf("%d checks, %d failed, %.0f s\n", done, failed, seconds(start));
  return done == 0 || failed > 0;
}
