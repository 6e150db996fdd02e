//===- tests/unit/autotuner/TuneTest.cpp ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The whole way, on the simulator: candidates, worker, checks, times, records, jit.
//
//===----------------------------------------------------------------------===//
#include "eider/tune.h"

#include "autotuner/measure/Check.h"
#include "autotuner/store/Store.h"
#include "eider/jit.h"
#include "tests/unit/autotuner/Differences.h"
#include "tests/unit/autotuner/Support.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gmock/gmock.h>

using namespace eider;
using testing::HasSubstr;

namespace {

class TuneTest : public testing::Test {
protected:
  TuneTest() {
    tuning.candidates = 3;
    tuning.seconds = 60; // on a busy machine, too
  }

  Device host() const {
    DeviceOptions options;
    options.cache = {true, (temporary.path / "cache").string()};
    return Device::open("host", options);
  }

  TemporaryDirectory temporary;
  const Program program = libraryProgram("add_rms_norm_quant");
  const Dims dims = {{"tokens", 6}, {"hidden", 512}};
  TuneOptions tuning;
};

TEST_F(TuneTest, MeasuresRecordsAndFindsTheRecordAgain) {
  const TuneResult result = tune(program, host(), dims, tuning);
  ASSERT_EQ(result.refused, "");
  EXPECT_TRUE(result.recorded);
  EXPECT_FALSE(result.fromRecord);
  EXPECT_EQ(result.candidates.front().schedule, result.heuristic);
  EXPECT_GT(result.candidates.front().microseconds, 0);
  EXPECT_GT(result.microseconds, 0);
  EXPECT_LE(result.microseconds, result.heuristicTime);
  // x, weight read; residual read and written; codes and scales written.
  EXPECT_EQ(result.bytes, 6 * 512 * (2 + 2 + 2 + 1) + 512 * 2 + 6 * 4 * 4);
  for (const TunedSchedule &candidate : result.candidates)
    EXPECT_THAT(candidate.rejected, testing::Not(HasSubstr("is not what"))) << candidate.schedule;

  const TuneResult again = tune(program, host(), {{"tokens", 8}, {"hidden", 512}}, tuning);
  EXPECT_TRUE(again.fromRecord); // the same bucket
  EXPECT_EQ(again.schedule, result.schedule);
  EXPECT_EQ(jit(program, host(), {{"hidden", 512}}).variants().front().name, "tuned_tokens_5_8");
}

TEST_F(TuneTest, ResultsAreComparedByStepsAndByDistance) { eider::tuning::testDifferences(host()); }

/// Of a norm with a bias some results are nearly 0: what the order of a sum leaves of them is
/// further off than any steps or the least bound.
TEST_F(TuneTest, SumsInAnotherOrderAreRight) {
  tuning.schedules = {"row<threads = 32, vector = 4, rows = 4>"};
  OpParameters parameters;
  parameters.dtype = "f32";
  const TuneResult result =
      tune(libraryOp("layer_norm", parameters), host(), {{"tokens", 512}, {"hidden", 512}}, tuning);
  ASSERT_EQ(result.candidates.size(), 2u);
  EXPECT_EQ(result.candidates[1].rejected, "");
  EXPECT_GT(result.candidates[1].microseconds, 0);
}

/// No rows of the matrix stand for all of its transpose's: a small launch is checked in full.
TEST_F(TuneTest, ChecksATransposeInFull) {
  const TuneResult result =
      tune(libraryProgram("cast_transpose"), host(), {{"tokens", 160}, {"hidden", 64}}, tuning);
  ASSERT_EQ(result.refused, "");
  EXPECT_TRUE(result.recorded);
  for (const TunedSchedule &candidate : result.candidates)
    EXPECT_THAT(candidate.rejected, testing::Not(HasSubstr("is not what"))) << candidate.schedule;
}

/// Eight rows stand for all, in groups that have fewer of them.
TEST_F(TuneTest, ChecksRowsInTheirGroups) {
  const TuneResult result = tune(libraryOp("grouped_matmul", {.index = "i32"}), host(),
                                 {{"groups", 3}, {"m", 12}, {"n", 16}, {"k", 16384}}, tuning);
  ASSERT_EQ(result.refused, "");
  EXPECT_TRUE(result.recorded);
  for (const TunedSchedule &candidate : result.candidates)
    EXPECT_THAT(candidate.rejected, testing::Not(HasSubstr("is not what"))) << candidate.schedule;
}

TEST_F(TuneTest, VerifiesARecordBesideTheHeuristic) {
  Tuner tuner(host().info(), host().cacheOptions());
  EXPECT_THROW(tuner.verify(program, dims, tuning), Error);
  CompileOptions options;
  options.target = "host";
  options.dims = {{"hidden", 512}};
  tuning::Record record =
      sampleRecord(program, "hidden=512 tokens=5..8", candidates(program, options).at(1).schedule);
  record.target = "host";
  record.device = tuning::identityOf(host().info());
  const tuning::Store store(host().cacheOptions());
  ASSERT_TRUE(store.replace({record}));
  const TuneVerification found = tuner.verify(program, dims, tuning);
  ASSERT_EQ(found.refused, "");
  EXPECT_EQ(found.schedule, record.schedule);
  EXPECT_NE(found.heuristic, record.schedule);
  EXPECT_GT(found.microseconds, 0);
  EXPECT_NE(found.microseconds, record.microseconds);
  EXPECT_GT(found.heuristicTime, 0);
  ASSERT_EQ(store.all().size(), 1u); // nothing is recorded
  EXPECT_EQ(store.all().front().microseconds, record.microseconds);
}

TEST_F(TuneTest, WrongDimsAreRefused) {
  for (const Dims &bad : {Dims{{"hidden", 512}}, Dims{{"tokens", 0}, {"hidden", 512}},
                          Dims{{"tokens", 1}, {"hidden", 512}, {"other", 1}}})
    EXPECT_THROW(tune(program, host(), bad, tuning), Error);
}

TEST_F(TuneTest, InTheBackgroundWithinABudget) {
  BackgroundTuning none(host(), {{program, dims}}, 0, tuning);
  EXPECT_TRUE(none.wait().empty());
  BackgroundTuning wrong(host(), {{program, {{"hidden", 512}}}}, 60, tuning);
  EXPECT_THROW(wrong.wait(), Error);
}

TEST(RowPlan, RowsStandForThemselvesWhereNothingCrossesThem) {
  using tuning::planRows;
  const auto plan = [](const char *op, const char *block) {
    return planRows(libraryProgram(op, block).signature(), {"hidden"});
  };
  EXPECT_EQ(plan("quantize", "1x128").dim, "tokens");
  EXPECT_EQ(plan("quantize", "1x128").block, 1);
  EXPECT_EQ(plan("quantize", "128x128").block, 128);
  EXPECT_EQ(plan("add_rms_norm_quant", "1x*").block, 1);
  const Program causal = libraryOp("softmax", {.settings = {{"causal", "1"}}});
  EXPECT_EQ(planRows(causal.signature(), {"hidden"}).dim, "");
  const Program random = libraryOp("quantize", {.numerics = {{"rounding", "stochastic"}}});
  EXPECT_EQ(planRows(random.signature(), {"hidden"}).dim, "");
  const std::vector<std::string> ofBatches = {"batches", "n", "k"};
  EXPECT_EQ(planRows(libraryOp("batched_matmul", {}).signature(), ofBatches).dim, "");
  EXPECT_EQ(planRows(libraryOp("grouped_scaled_matmul", {}).signature(), {"groups", "n", "k"}).dim,
            "m");
  EXPECT_EQ(planRows(libraryOp("softmax", {}).signature(), {"hidden"}).dim, "tokens");
  EXPECT_EQ(plan("cast_transpose", "1x128").dim, "");
}

TEST(SampledRows, AlwaysTheFirstAndTheLastAndThePartialBlock) {
  for (int64_t block : {1, 8, 128})
    for (int64_t rows : {1, 7, 128, 1000, 16384, 100001}) {
      const auto ranges = tuning::sampledRows(rows, block, 8192);
      EXPECT_EQ(ranges.front().first, 0);
      EXPECT_EQ(ranges.back().second, rows);
      for (auto [from, to] : ranges) {
        EXPECT_EQ(from % block, 0);
        EXPECT_TRUE(to == rows || to == from + block);
      }
    }
}

} // namespace
