//===- ClusterTest.cpp - A row to several blocks, against the reference ---===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"
#include "tests/matrix/Reference.h"

using namespace eider;
using namespace eider::matrix;

namespace {

/// Skips all tests where the device has no clusters of blocks.
class WithClusters : public OnTestDevice {
  std::string lackOf(const Device &device) override {
    return device.info().clusters ? "" : device.info().name + " has no clusters";
  }
};
const ::testing::Environment *const withClusters =
    ::testing::AddGlobalTestEnvironment(new WithClusters);

constexpr const char *Schedules[] = {
    "row<threads = 32, vector = 4, cluster = 2>", "row<threads = 96, vector = 8, cluster = 4>",
    "row<threads = 256, vector = 4, cluster = 8>",
    "row<threads = 64, vector = 16, blocks = 4, cluster = 2, hoist = 1>",
    "row<threads = 64, vector = 16, tiles = 4, resident = 2, prefetch = 1, cluster = 8>"};

/// Cells of one op: numerics that reduce rows in each way, odd widths, both variants.
std::vector<std::string> cellsOf(const std::string &op) {
  const std::string head = op + " · ";
  return {head + "bf16 · e4m3 · f32 · 1x* · row_major · hardware · dynamic · default · odd · "
                 "several · contiguous · "
                 "specials",
          head + "f32 · e5m2 · f32 · 1x* · row_major · software · dynamic · default · wide · R+1 · "
                 "strided misaligned "
                 "· normal",
          head + "f16 · e4m3 · f32 · 1x* · row_major · software · dynamic · nan=ignore · 1 · R-1 · "
                 "contiguous · "
                 "specials",
          head + "bf16 · e4m3 · f32 · 1x* · row_major · hardware · dynamic · trtllm_token · 4B · 1 "
                 "· padded · huge"};
}

TEST(Clusters, HoldRowsOfEveryOpAsTheReference) {
  std::vector<Case> cases;
  size_t next = 0; // Each kind of cell meets each schedule, in one op or another.
  for (const char *op : {"quantize", "silu_mul_quant", "rms_norm_quant", "add_rms_norm_quant"}) {
    for (const std::string &cell : cellsOf(op))
      for (int turn = 0; turn < 2; ++turn)
        cases.push_back(scheduled(cell, Schedules[next++ % std::size(Schedules)]));
    ++next;
  }
  expectReference(cases);
}

/// A norm reduces its row, and groups inside each block's part of it.
TEST(Clusters, HoldGroupsOfNeighbours) {
  std::vector<Case> cases;
  for (const char *schedule : Schedules) {
    const std::string head = "rms_norm_quant · bf16 · e4m3 · f32 · ",
                      middle = " · row_major · hardware · dynamic · "
                               "default · wide · R+1 · ";
    cases.push_back(scheduled(head + "1x32" + middle + "contiguous · normal", schedule));
    cases.push_back(scheduled(head + "1x128" + middle + "strided · normal", schedule));
  }
  // Two meetings a row, the next on its way, and threads that are no power of two.
  for (const char *rows : {"wide · R+1", "wide · several"})
    cases.push_back(scheduled(std::string("softmax_quant · bf16 · e4m3 · f32 · 1x128 · row_major · "
                                          "hardware · dynamic · default · ") +
                                  rows + " · contiguous · normal",
                              "row<threads = 160, vector = 16, blocks = 4, resident = 6, "
                              "prefetch = 1, cluster = 4>"));
  expectReference(cases);
}

TEST(Clusters, NoRowsLaunchNothing) {
  expectReference({scheduled(
      "rms_norm_quant · bf16 · e4m3 · f32 · 1x* · row_major · hardware · dynamic · default · "
      "odd · 0 · contiguous · normal",
      Schedules[0])});
}

/// Rows that no block holds, under the heuristic's schedule, and by as many warps as a cluster has.
/// Magnitudes grow along the row, so that each block's part matters.
TEST(Clusters, HoldRowsThatNoBlockHolds) {
  std::vector<Case> cases;
  for (const auto &[hidden, schedule] : std::initializer_list<std::pair<int64_t, const char *>>{
           {131072, ""},
           {100000, ""},
           {65537, ""},
           {65536, "row<threads = 1024, vector = 8, cluster = 8>"}}) {
    OpParameters parameters;
    parameters.dtype = "f32";
    parameters.block = "1x*";
    Case given{
        libraryOp("rms_norm_quant", parameters), {}, {}, {{"tokens", 2}, {"hidden", hidden}}};
    given.options.dims = {{"hidden", hidden}};
    given.options.schedule = schedule;
    for (const Signature::Tensor &tensor : given.program.signature().tensors) {
      if (tensor.role == Signature::Role::Output)
        continue;
      const int64_t rows = tensor.shape.size() == 2 ? 2 : 1;
      HostTensor values{tensor.name, f32, {hidden}, {}};
      if (rows == 2)
        values.shape = {rows, hidden};
      values.data.resize(static_cast<size_t>(rows * hidden) * sizeof(float));
      auto *elements = reinterpret_cast<float *>(values.data.data());
      for (int64_t i = 0; i < rows * hidden; ++i)
        elements[i] = static_cast<float>(i % 97 - 48) * static_cast<float>(1 + i % hidden);
      given.inputs.push_back(std::move(values));
    }
    cases.push_back(std::move(given));
  }
  expectReference(cases);
}

} // namespace
