//===- CooperativeTest.cpp - All blocks at once, against the reference ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"
#include "tests/matrix/Reference.h"

using namespace eider;
using namespace eider::matrix;

namespace {

/// Skips the test, with the reason, where there is no device.
class Cooperative : public ::testing::Test {
protected:
  void SetUp() override {
    try {
      Device::open(testDevice());
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
  }
};

/// One row a block, several, parts of one; with chunks that no row's end cuts, and others.
constexpr const char *MapSchedules[] = {
    "map<threads = 32, vector = 4, loads = 4, resident = 4, cooperative = 1>",
    "map<threads = 8, vector = 8, rows = 8, loads = 2, resident = 8, cooperative = 1>",
    "map<threads = 4, vector = 4, rows = 4, loads = 4, resident = 8, cooperative = 1, streaming = 1>",
    "map<threads = 64, vector = 16, rows = 2, loads = 1, resident = 2, cooperative = 1, software = 1>"};
constexpr const char *RowSchedules[] = {
    "row<threads = 64, vector = 16, resident = 4, cooperative = 1>",
    "row<threads = 96, vector = 8, resident = 2, cooperative = 1, hoist = 1>",
    "row<threads = 16, vector = 8, rows = 4, resident = 4, cooperative = 1>"}; // not of wide rows

/// Cells of one op, whose memory a cooperative kernel takes.
std::vector<std::string> cellsOf(const std::string &op) {
  const std::string head = op + " · ";
  return {head + "bf16 · e4m3 · f32 · *x* · row_major · hardware · dynamic · default · odd · "
                 "several · contiguous · specials",
          head + "f32 · e5m2 · f32 · *x* · row_major · software · dynamic · default · wide · "
                 "several · contiguous · normal",
          head + "f16 · e4m3 · f32 · *x* · row_major · software · dynamic · nan=ignore · 1 · "
                 "several · contiguous · specials",
          head + "bf16 · e5m2 · f32 · *x* · row_major · hardware · dynamic · default · wide · "
                 "1 · contiguous · huge",
          head + "bf16 · e4m3fnuz · f32 · *x* · row_major · software · dynamic · default · odd · "
                 "several · contiguous · tiny"};
}

/// Runs cases, whose variants must be `variant`; gives what each gave.
std::vector<std::vector<HostTensor>> resultsOf(const std::vector<Case> &cases,
                                               const std::string &variant) {
  Harness harness(testDevice(), /*seed=*/3);
  for (const Case &given : cases)
    harness.add(given);
  harness.build();
  std::vector<std::vector<HostTensor>> results;
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(harness.variantOf(i), variant) << "case " << i;
    results.push_back(harness.run(i));
    for (const Comparison &comparison : compare(cases[i].program, cases[i].inputs, results.back()))
      EXPECT_EQ(comparison.wrong, 0)
          << cases[i].options.schedule << ", case " << i << ": " << comparison.firstWrong;
  }
  return results;
}

/// One kernel gives the reference's bits, and those of the two kernels in its place.
TEST_F(Cooperative, GivesTheBitsOfTwoKernels) {
  std::vector<Case> one, two;
  size_t next = 0; // Each kind of cell meets each schedule, in one op or another.
  for (const char *op : {"quantize", "silu_mul_quant", "gelu_bias_quant"}) {
    for (const std::string &cell : cellsOf(op)) {
      one.push_back(scheduled(cell, MapSchedules[next++ % std::size(MapSchedules)]));
      two.push_back(scheduled(cell, ""));
    }
  }
  const auto ofOne = resultsOf(one, "cooperative"), ofTwo = resultsOf(two, "contiguous");
  for (size_t i = 0; i < ofOne.size(); ++i) {
    ASSERT_EQ(ofOne[i].size(), ofTwo[i].size());
    for (size_t j = 0; j < ofOne[i].size(); ++j)
      EXPECT_EQ(ofOne[i][j].data, ofTwo[i][j].data) << "case " << i << ", " << ofOne[i][j].name;
  }
}

/// Norms reduce their rows before all blocks meet.
TEST_F(Cooperative, NormsAsTheReference) {
  std::vector<Case> cases;
  size_t next = 0;
  for (const char *op : {"rms_norm_quant", "add_rms_norm_quant", "layer_norm_quant"}) {
    for (const std::string &cell : cellsOf(op))
      cases.push_back(scheduled(
          cell, RowSchedules[cell.find(" · wide") == cell.npos ? 2 : next++ % 2]));
  }
  resultsOf(cases, "cooperative");
}

/// What is not contiguous, and what has no rows, takes the kernels that take anything.
TEST_F(Cooperative, OtherMemoryAndNoRowsTakeTwoKernels) {
  const std::string head =
      "quantize · bf16 · e4m3 · f32 · *x* · row_major · hardware · dynamic · default · odd · ";
  resultsOf({scheduled(head + "several · strided misaligned · specials", MapSchedules[0]),
             scheduled(head + "several · padded · normal", MapSchedules[1])},
            "general");
  resultsOf({scheduled(head + "0 · contiguous · normal", MapSchedules[0])}, "contiguous");
}

/// The heuristic's, where the device holds the matrix, and where it does not.
TEST_F(Cooperative, IsTakenWhereTheMatrixIsHeld) {
  OpParameters parameters;
  parameters.block = "*x*";
  CompileOptions options;
  const Device device = Device::open(testDevice());
  options.target = device.target();
  options.dims = {{"hidden", 4096}};
  const Kernel kernel = device.load(compile(libraryOp("quantize", parameters), options));
  EXPECT_EQ(kernel.prepare({{"tokens", 8}, {"hidden", 4096}}).variant(), "cooperative");
  EXPECT_EQ(kernel.prepare({{"tokens", 100000}, {"hidden", 4096}}).variant(), "contiguous");
}

} // namespace
