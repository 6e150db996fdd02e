//===- tests/unit/runtime/driver/FakeDriver.h -------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A library in the place of libcuda that runs nothing, answers as it is told, and counts what it is
// asked.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_RUNTIME_DRIVER_FAKEDRIVER_H
#define EIDER_TESTS_UNIT_RUNTIME_DRIVER_FAKEDRIVER_H

#include <atomic>
#include <string>

namespace eider {

/// One launch, as the driver was asked for it.
struct FakeLaunch {
  unsigned grid = 0, block = 0, shared = 0;
  unsigned cluster = 0; ///< 0: by cuLaunchKernel
  bool cooperative = false, overlaps = false;
  void *stream = nullptr;
  std::string function;
  unsigned long long parameters[8] = {}; ///< The first ones; a pointer or 64-bit integer each.
};

struct FakeDriver {
  // What it answers.
  int version = 13000, major = 9, minor = 0, sharedPerBlock = 232448;
  int multiprocessors = 1, threadsPerMultiprocessor = 2048, blocksPerMultiprocessor = 32;
  bool cooperates = true;
  int launchResult = 0, allocateResult = 0, loadResult = 0;
  int readableParameters = 0; ///< How many the kernel under test has.
  bool capturing = false;
  void *streamContext = nullptr; ///< Null: the primary one.
  int currentDevice = 0;         ///< Of cuCtxGetDevice; below 0: there is no context.
  // What it was asked.
  std::atomic<int> librariesLoaded = 0, contextPushes = 0, contextPops = 0, launches = 0;
  std::string lastImage; ///< Its first bytes.
  int maxDynamicShared = -1;
  FakeLaunch last;
};

} // namespace eider

extern "C" eider::FakeDriver *eiderFakeDriver();

#endif // EIDER_TESTS_UNIT_RUNTIME_DRIVER_FAKEDRIVER_H
