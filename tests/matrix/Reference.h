//===- Reference.h - Cases under a schedule, and what they give -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_REFERENCE_H
#define EIDER_TESTS_MATRIX_REFERENCE_H

#include "eider/runtime.h"
#include "tests/matrix/CaseShare.h"
#include "tests/matrix/Cell.h"
#include "tests/matrix/Harness.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace eider::matrix {

/// Skips all tests of a program, with the reason, where testDevice() is not or lacks what they
/// need; `host` is everywhere.
class OnTestDevice : public ::testing::Environment {
  void SetUp() override {
    std::string why;
    try {
      why = lackOf(Device::open(testDevice()));
    } catch (const Error &error) {
      if (testDevice() == "host")
        FAIL() << error.what();
      why = error.what();
    }
    if (why.empty())
      return;
    // Of tests that an environment skips GoogleTest counts none: ctest knows them by these words.
    std::printf("[  SKIPPED ] all tests: %s\n", why.c_str());
    GTEST_SKIP() << why;
  }

protected:
  /// What the tests need and the device has not; empty if nothing.
  virtual std::string lackOf(const Device & /*device*/) { return ""; }
};
inline ::testing::Environment *const onTestDevice =
    ::testing::AddGlobalTestEnvironment(new OnTestDevice);

/// The case of a cell, under a schedule.
inline Case scheduled(const std::string &cell, const std::string &schedule) {
  Case given = makeCase(cellNamed(cell), /*seed=*/7);
  given.options.schedule = schedule;
  return given;
}

/// Runs cases on testDevice(), all or a quick run's share, and expects of each what the reference
/// expects.
inline void expectReference(const std::vector<Case> &all) {
  const std::vector<Case> cases = shareOf(all);
  Harness harness(testDevice(), /*seed=*/3);
  for (const Case &given : cases)
    harness.add(given);
  harness.build();
  for (size_t i = 0; i < cases.size(); ++i)
    for (const Comparison &comparison : compare(cases[i].program, cases[i].inputs, harness.run(i)))
      EXPECT_EQ(comparison.wrong, 0)
          << cases[i].options.schedule << ", case " << i << ": " << comparison.firstWrong;
}

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_REFERENCE_H
