//===- tests/aot/LoadingTest.cpp - What NAME.c asks of a driver -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/aot/Probe.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <thread>

using namespace eider;

namespace {

class Loading : public testing::Test {
protected:
  void SetUp() override {
    FakeDriver &driver = fakeDriver();
    driver.major = 9, driver.minor = 0, driver.currentDevice = 0;
    driver.loadResult = driver.launchResult = driver.readableParameters = 0;
    driver.librariesLoaded = driver.launches = 0;
    driver.maxDynamicShared = -1;
  }

  Probe probe(const std::vector<std::string> &targets = {"sm_80", "sm_90", "sm_90a", "sm_100"}) {
    if (targets != written)
      writeProbe(probeContract("sm_90"), targets, temporary.path.string());
    written = targets;
    return Probe(temporary.path.string());
  }

  int launch(const Probe &probe) {
    return probe.launch(nullptr, x, 16, y, 16, which, 1, 2.0f, 8, 16, workspace);
  }

  TemporaryDirectory temporary;
  std::vector<std::string> written; ///< The targets of what the directory holds.
  alignas(256) float x[128], y[128], which[4], workspace[256];
};

/// EIDER_CUDA_DRIVER while it lives.
struct DriverVariable {
  explicit DriverVariable(const char *path) { ::setenv("EIDER_CUDA_DRIVER", path, 1); }
  ~DriverVariable() { ::setenv("EIDER_CUDA_DRIVER", fakeDriverPath().c_str(), 1); }
};

TEST_F(Loading, TheImageIsTheDevices) {
  const struct {
    int major, minor;
    const char *image;
  } devices[] = {
      {8, 0, "sm_80"}, {8, 9, "sm_80"}, {9, 0, "sm_90a"}, {10, 0, "sm_100"}, {10, 3, "sm_100"}};
  for (const auto &device : devices) {
    fakeDriver().major = device.major, fakeDriver().minor = device.minor;
    EXPECT_EQ(probe().load(), 0);
    EXPECT_STREQ(fakeDriver().lastImage.c_str(), device.image);
  }
}

TEST_F(Loading, ADeviceWithoutAnImageIsNamed) {
  const Probe of = probe();
  for (int major : {7, 12}) {
    fakeDriver().major = major;
    EXPECT_STREQ(of.errorString(of.load()), "the device is none of those that the kernels are for: "
                                            "sm_80, sm_90, sm_90a, sm_100");
  }
  fakeDriver().major = 9;
  EXPECT_EQ(of.load(), 0); // nothing is remembered of a failure
}

TEST_F(Loading, AnImageOfOneArchitectureRunsThereAlone) {
  const Probe of = probe({"sm_100a"});
  fakeDriver().major = 10, fakeDriver().minor = 3;
  EXPECT_NE(of.load(), 0);
  fakeDriver().minor = 0;
  EXPECT_EQ(of.load(), 0);
}

TEST_F(Loading, ANewerDeviceTakesThePtxOfTheNewestTarget) {
  const struct {
    int major, minor;
    const char *image;
  } devices[] = {{8, 9, "sm_80"},      {9, 0, "sm_90a"},      {10, 0, "sm_100"},
                 {10, 3, "sm_100"},    {12, 0, "ptx:sm_100"}, {12, 1, "ptx:sm_100"},
                 {13, 0, "ptx:sm_100"}};
  for (const auto &device : devices) {
    fakeDriver().major = device.major, fakeDriver().minor = device.minor;
    const Probe of = probe({"ptx:sm_80", "sm_90a", "ptx:sm_100"});
    EXPECT_EQ(of.load(), 0) << device.image;
    EXPECT_STREQ(fakeDriver().lastImage.c_str(), device.image);
    EXPECT_EQ(launch(of), 0);
    EXPECT_EQ(fakeDriver().last.function, "probe_small");
  }
  fakeDriver().major = 7;
  const Probe of = probe(written);
  EXPECT_STREQ(of.errorString(of.load()), "the device is none of those that the kernels are for: "
                                          "sm_80, sm_90a, sm_100 and GPUs newer than sm_100");
}

TEST_F(Loading, ADriverThatCannotCompileThePtxSaysSo) {
  fakeDriver().major = 12;
  fakeDriver().loadResult = 222; // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
  const Probe of = probe({"ptx:sm_90"});
  EXPECT_EQ(of.load(), 222);
  fakeDriver().loadResult = 0;
  EXPECT_EQ(of.load(), 0);
}

TEST_F(Loading, EveryDeviceIsServedOnce) {
  const Probe of = probe();
  for (int device : {0, 1, 0, 1, 2}) {
    fakeDriver().currentDevice = device;
    EXPECT_EQ(of.load(), 0);
  }
  EXPECT_EQ(fakeDriver().librariesLoaded, 1); // a library serves all devices that run its image
  EXPECT_EQ(fakeDriver().maxDynamicShared, 232448 - 1024); // what static shared memory leaves
}

TEST_F(Loading, SixteenThreadsLoadOnce) {
  const Probe of = probe();
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] { failures += of.load() != 0; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(fakeDriver().librariesLoaded, 1);
}

TEST_F(Loading, WhatIsMissingIsNamed) {
  {
    const DriverVariable missing("/nonexistent");
    const Probe of = probe();
    EXPECT_EQ(of.load(), -1);
    EXPECT_EQ(launch(of), -1);
    EXPECT_NE(std::string(of.errorString(-1)).find("no NVIDIA driver"), std::string::npos);
  }
  {
    const DriverVariable another("libc.so.6");
    const Probe of = probe();
    EXPECT_STREQ(of.errorString(of.load()), "the NVIDIA driver is older than CUDA 12.0");
  }
  const Probe of = probe();
  fakeDriver().currentDevice = -1;
  EXPECT_NE(std::string(of.errorString(launch(of))).find("no CUDA context is current"),
            std::string::npos);
}

TEST_F(Loading, TheDriversErrorsAreItsOwn) {
  const Probe of = probe();
  EXPECT_EQ(launch(of), 0);
  fakeDriver().launchResult = 719;
  EXPECT_EQ(launch(of), 719);
  EXPECT_STREQ(of.errorString(719), "as told");
  fakeDriver().launchResult = 4; // the process is at its end
  EXPECT_EQ(launch(of), 0);
}

TEST_F(Loading, AComplaintNamesTheTensor) {
  const Probe of = probe();
  auto complaint = [&](const float *givenX, int64_t xStride, float *givenY) {
    return std::string(of.errorString(
        of.launch(nullptr, givenX, xStride, givenY, 16, which, 1, 2.0f, 8, 16, workspace)));
  };
  EXPECT_EQ(complaint(nullptr, 16, y), "x is null");
  EXPECT_EQ(complaint(x, -16, y), "x has a negative stride");
  EXPECT_EQ(complaint(x, 16, reinterpret_cast<float *>(reinterpret_cast<char *>(y) + 2)),
            "y is not aligned to its elements");
  EXPECT_EQ(complaint(x, 16, x + 4), "y overlaps another tensor, and one of the two is written");
  EXPECT_EQ(complaint(x, 16, workspace + 128), "y overlaps the workspace");
  EXPECT_EQ(complaint(x, INT64_MAX, y), "x has more bytes than can be counted");
  EXPECT_STREQ(of.errorString(-1000), "unknown status");
}

TEST_F(Loading, TheWorkspaceIsWhatTheContractSays) {
  const Probe of = probe();
  EXPECT_EQ(of.workspaceBytes(0, 16), 512);
  EXPECT_EQ(of.workspaceBytes(65, 16), 512 + 512);
  EXPECT_LT(of.workspaceBytes(INT64_MAX, 16), 0);
  EXPECT_NE(
      std::string(of.errorString(of.launch(nullptr, x, 16, y, 16, which, 1, 2.0f, 8, 16, nullptr)))
          .find("workspace is null"),
      std::string::npos);
}

} // namespace
