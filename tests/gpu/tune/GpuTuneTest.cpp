//===- tests/gpu/tune/GpuTuneTest.cpp - The tuner on a GPU ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Cell.h"
#include "eider/jit.h"
#include "eider/tune.h"
#include "tests/gpu/tune/Defects.h"
#include "tests/unit/autotuner/Differences.h"
#include "tests/unit/autotuner/Support.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::tuning;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

class GpuTune : public testing::Test {
protected:
  void SetUp() override {
    if (const std::string why = Device::whyNoGpu(); !why.empty())
      GTEST_SKIP() << why;
  }
  TemporaryDirectory temporary;
  DeviceOptions options() const {
    DeviceOptions options;
    options.cache.directory = (temporary.path / "cache").string();
    return options;
  }
};

TEST_F(GpuTune, AHangAFaultATrapAndAWrongResultCostThemselvesAlone) {
  const Device device = Device::open("cuda:0", options());
  const Program program = libraryProgram("quantize");
  const CellRequest request =
      requestWithDefects(program, device.target(), {{"tokens", 1000}, {"hidden", 7168}});
  WorkerHost host("cuda:0", {3000ms, 60000ms});
  const CellOutcome outcome = host.run(request);
  ASSERT_EQ(outcome.rejected.size(), 4u);
  EXPECT_THAT(outcome.rejected.at(hangs), HasSubstr("did not end within 3.0 s"));
  EXPECT_NE(outcome.rejected.at(faults), "");
  EXPECT_NE(outcome.rejected.at(traps), "");
  EXPECT_THAT(outcome.rejected.at(liesInOneElement), HasSubstr("is not what the heuristic's"));
  ASSERT_TRUE(outcome.refused.empty()) << outcome.refused;
  EXPECT_EQ(outcome.runs.front().id, 0);
  // The device is as before.
  const Kernel kernel = jit(program, device, {{"hidden", 7168}});
  EXPECT_NO_THROW(kernel.prepare({{"tokens", 4}, {"hidden", 7168}}));
}

TEST_F(GpuTune, ResultsAreComparedByStepsAndByDistance) {
  testDifferences(Device::open("cuda:0", options()));
}

TEST_F(GpuTune, ACellIsTunedRecordedAndTakenByJit) {
  const Device device = Device::open("cuda:0", options());
  const Program program = libraryProgram("add_rms_norm_quant");
  const Dims dims = {{"tokens", 4096}, {"hidden", 7168}};
  TuneResult result;
  for (int attempt = 0; attempt < 3; ++attempt)
    if ((result = tune(program, device, dims)).refused.empty())
      break;
  ASSERT_TRUE(result.refused.empty()) << result.refused;
  EXPECT_TRUE(result.recorded);
  EXPECT_LT(result.seconds, 10);
  EXPECT_LE(result.microseconds, result.heuristicTime);
  EXPECT_GT(result.memcpyTime, 0);
  int measured = 0;
  for (const TunedSchedule &candidate : result.candidates)
    measured += candidate.microseconds > 0;
  EXPECT_GE(measured, 5);
  EXPECT_TRUE(tune(program, device, dims).fromRecord);

  const Kernel kernel = jit(program, device, {{"hidden", 7168}});
  EXPECT_EQ(kernel.prepare({{"tokens", 3000}, {"hidden", 7168}}).variant(),
            "tuned_tokens_2049_4096");
  EXPECT_EQ(kernel.prepare({{"tokens", 5000}, {"hidden", 7168}}).variant(), "contiguous");
}

} // namespace
