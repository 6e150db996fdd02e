//===- Outcome.h - What a walk over a check's domain found ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_OUTCOME_H
#define EIDER_TESTS_OUTCOME_H

#include <cstdint>
#include <cstdio>

namespace eider::conformance {

/// The layout is that of kernels.cu.
struct Outcome {
  uint64_t wrong = 0;                ///< Inputs off by more than the bound.
  uint32_t largest = 0;              ///< The largest distance of all.
  uint32_t firstWrong = 0xffffffffu; ///< The least wrong input, when there is one.
};

/// One line of the report; gives whether all was right.
inline bool report(const char *name, double inputs, uint32_t bound, const Outcome &outcome,
                   double seconds) {
  std::printf("%-32s %11.0f inputs, largest error %u of %u, %8.2f s", name, inputs, outcome.largest,
              bound, seconds);
  if (outcome.wrong)
    std::printf("   WRONG: %llu, first 0x%08x", static_cast<unsigned long long>(outcome.wrong),
                outcome.firstWrong);
  std::printf("\n");
  std::fflush(stdout);
  return outcome.wrong == 0;
}

} // namespace eider::conformance

#endif // EIDER_TESTS_OUTCOME_H
