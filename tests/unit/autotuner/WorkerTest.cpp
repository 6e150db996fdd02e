//===- tests/unit/autotuner/WorkerTest.cpp --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The watchdog and the restarts, with a worker that misbehaves as it is told; then real kernels in
// the real worker, on the simulator.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Cell.h"

#include "tests/gpu/tune/Defects.h"
#include "tests/unit/autotuner/Support.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::tuning;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

CellRequest threeCandidates() {
  return {"program", "auto", {{"tokens", 4}}, {}, {{0, "a"}, {1, "b"}, {2, "c"}}};
}

class MisbehavingWorker : public testing::TestWithParam<std::pair<const char *, const char *>> {};

TEST_P(MisbehavingWorker, CostsTheCandidateAlone) {
  const Variable worker("EIDER_WORKER", EIDER_TEST_WORKERS "/worker.sh");
  const Variable defect("EIDER_TEST_DEFECT", GetParam().first);
  WorkerHost host("host", {500ms, 5000ms});
  EXPECT_EQ(host.target(), "host");
  const CellOutcome outcome = host.run(threeCandidates());
  ASSERT_EQ(outcome.rejected.size(), 1u);
  EXPECT_THAT(outcome.rejected.at(1), HasSubstr(GetParam().second));
  ASSERT_EQ(outcome.runs.size(), 2u);
  EXPECT_EQ(outcome.runs[1].id, 2);
  EXPECT_EQ(outcome.runs[1].microseconds, 9);
  EXPECT_EQ(outcome.bytes, 4096);
}

INSTANTIATE_TEST_SUITE_P(Defects, MisbehavingWorker,
                         testing::Values(std::pair("hang", "did not end within 0.5 s"),
                                         std::pair("segv", "Segmentation fault (illegal address)"),
                                         std::pair("trap", "trap"),
                                         std::pair("fault", "CUDA_ERROR_ILLEGAL_ADDRESS"),
                                         std::pair("nonsense", "talks nonsense: not JSON")),
                         [](const auto &info) { return std::string(info.param.first); });

TEST(Worker, AnIncumbentThatFailsIsAnError) {
  const Variable worker("EIDER_WORKER", EIDER_TEST_WORKERS "/worker.sh");
  const Variable defect("EIDER_TEST_DEFECT", "segv");
  WorkerHost host("host", {500ms, 5000ms});
  CellRequest request = threeCandidates();
  std::swap(request.candidates[0], request.candidates[1]); // the first is the incumbent
  try {
    host.run(request);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("the heuristic's kernel"));
  }
}

TEST(Worker, WhatIsNoWorkerIsAnError) {
  for (const char *path : {"/nonexistent/eider-worker", "/etc/passwd"}) {
    const Variable worker("EIDER_WORKER", path);
    WorkerHost host("host", {500ms, 2000ms});
    EXPECT_THROW(host.target(), Error) << path;
  }
  const Variable worker("EIDER_WORKER", "/bin/true");
  WorkerHost host("host", {500ms, 2000ms});
  try {
    host.target();
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("does not start"));
    EXPECT_EQ(error.kind(), ErrorKind::Machine);
  }
}

TEST(Worker, TheDeviceThatIsMissingIsNamed) {
  WorkerHost host("cuda:999", {});
  EXPECT_THROW(host.target(), Error);
}

//===-- Real kernels with defects, on the simulator -----------------------===//

TEST(SimulatedWorker, AHangAFaultATrapAndAWrongResultCostThemselvesAlone) {
  const Program program = libraryProgram("quantize");
  const CellRequest request = requestWithDefects(program, "host", {{"tokens", 3}, {"hidden", 128}});
  WorkerHost host("host", {3000ms, 60000ms});
  const CellOutcome outcome = host.run(request);
  ASSERT_EQ(outcome.rejected.size(), 4u);
  EXPECT_THAT(outcome.rejected.at(hangs), HasSubstr("did not end within 3.0 s"));
  EXPECT_THAT(outcome.rejected.at(faults), HasSubstr("Segmentation fault"));
  EXPECT_THAT(outcome.rejected.at(traps), HasSubstr("the worker died of"));
  EXPECT_THAT(outcome.rejected.at(liesInOneElement), HasSubstr("is not what the heuristic's"));
  ASSERT_FALSE(outcome.runs.empty());
  EXPECT_EQ(outcome.runs.front().id, 0);
}

/// All results are off by little more than the largest may be: near enough to the heuristic's, and
/// the reference finds it among the small.
TEST(SimulatedWorker, WhatIsNearIsHeldAgainstTheReference) {
  OpParameters parameters;
  parameters.dtype = "bf16";
  const Program program = libraryOp("layer_norm", parameters);
  CompileOptions options;
  options.target = "host";
  options.dims = {{"hidden", 512}};
  contract::Contract off = contract::read(compile(program, options).contract);
  const std::string stored = "to<bf16>(n)";
  for (contract::Variant &variant : off.variants) {
    const size_t at = variant.source.find(stored);
    ASSERT_NE(at, std::string::npos) << variant.source;
    variant.source.replace(at, stored.size(), "to<bf16>(n + 0.02f)");
  }
  WorkerHost host("host", {10000ms, 60000ms});
  const CellOutcome outcome = host.run({program.text(),
                                        "auto",
                                        {{"tokens", 256}, {"hidden", 512}},
                                        {"hidden"},
                                        {{0, ""}, {1, "off", contract::write(off)}},
                                        60});
  ASSERT_EQ(outcome.rejected.size(), 1u);
  EXPECT_THAT(outcome.rejected.at(1), HasSubstr("is wrong: y["));
}

} // namespace
