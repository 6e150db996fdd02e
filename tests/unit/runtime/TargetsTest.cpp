//===- tests/unit/runtime/TargetsTest.cpp ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Targets.h"

#include <gtest/gtest.h>

using namespace eider::cuda;

namespace {

TEST(Targets, Names) {
  EXPECT_EQ(parseTarget("sm_90a")->virtualName(), "compute_90a");
  EXPECT_EQ(parseTarget("sm_75")->capability, 75);
  for (const char *unknown : {"sm_70", "sm_89a", "sm_90f", "sm_9", "90", "", "sm_900", "host"})
    EXPECT_FALSE(parseTarget(unknown)) << unknown;
}

TEST(Targets, UnknownGpusTakeTheHighestKnownTargetBefore) {
  EXPECT_EQ(targetFor(9, 0)->name(), "sm_90a"); // warpgroups are its alone
  EXPECT_EQ(targetFor(10, 0)->name(), "sm_100");
  EXPECT_EQ(targetFor(7, 5)->name(), "sm_75");
  EXPECT_EQ(targetFor(8, 9)->name(), "sm_89");
  EXPECT_EQ(targetFor(12, 9)->name(), "sm_121"); // same major version: as a cubin
  EXPECT_TRUE(runsCubin(12, 9, *targetFor(12, 9)));
  EXPECT_EQ(targetFor(13, 0)->name(), "sm_121"); // a new one: as PTX
  EXPECT_FALSE(runsCubin(13, 0, *targetFor(13, 0)));
  EXPECT_FALSE(targetFor(7, 0));
}

TEST(Targets, CubinsRunOnTheSameMajorVersionFromTheirMinorOn) {
  EXPECT_TRUE(runsCubin(8, 9, {80, false}));
  EXPECT_FALSE(runsCubin(8, 0, {86, false}));
  EXPECT_FALSE(runsCubin(9, 0, {80, false}));
  EXPECT_TRUE(runsCubin(9, 0, {90, true}));
  EXPECT_FALSE(runsCubin(10, 3, {100, true}));
}

} // namespace
