//===- CooperativeTest.cpp - All blocks at once, against the reference ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"
#include "tests/matrix/Reference.h"

#include <map>
#include <set>

using namespace eider;
using namespace eider::matrix;

namespace {

/// One row a block, several, parts of one; with chunks that no row's end cuts, and others.
constexpr const char *MapSchedules[] = {
    "map<threads = 32, vector = 4, loads = 4, resident = 4, cooperative = 1>",
    "map<threads = 8, vector = 8, rows = 8, loads = 2, resident = 8, cooperative = 1>",
    "map<threads = 4, vector = 4, rows = 4, loads = 4, resident = 8, cooperative = 1, streaming = "
    "1>",
    "map<threads = 64, vector = 16, rows = 2, loads = 1, resident = 2, cooperative = 1, software = "
    "1>"};
constexpr const char *RowSchedules[] = {
    "row<threads = 64, vector = 16, resident = 4, cooperative = 1>",
    "row<threads = 96, vector = 8, resident = 2, cooperative = 1, hoist = 1>",
    "row<threads = 16, vector = 8, rows = 4, resident = 4, cooperative = 1>"}; // not of wide rows

/// Cells of one op, whose memory a cooperative kernel takes.
std::vector<std::string> cellsOf(const std::string &op) {
  const std::string head = op + " · ";
  return {head + "bf16 · e4m3 · f32 · *x* · row_major · hardware · dynamic · default · B+1 · "
                 "several · contiguous · specials",
          head + "f32 · e5m2 · f32 · *x* · row_major · software · dynamic · default · wide · "
                 "several · contiguous · normal",
          head + "f16 · e4m3 · f32 · *x* · row_major · software · dynamic · nan=ignore · 1 · "
                 "several · contiguous · specials",
          head + "bf16 · e5m2 · f32 · *x* · row_major · hardware · dynamic · default · wide · "
                 "1 · contiguous · huge",
          head + "bf16 · e4m3fnuz · f32 · *x* · row_major · software · dynamic · default · B+1 · "
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
TEST(Cooperative, GivesTheBitsOfTwoKernels) {
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
TEST(Cooperative, NormsAsTheReference) {
  std::vector<Case> cases;
  size_t next = 0;
  for (const char *op : {"rms_norm_quant", "add_rms_norm_quant", "layer_norm_quant"}) {
    for (const std::string &cell : cellsOf(op))
      cases.push_back(
          scheduled(cell, RowSchedules[cell.find(" · wide") == cell.npos ? 2 : next++ % 2]));
  }
  resultsOf(cases, "cooperative");
}

/// What is not contiguous, and what has no rows, takes the kernels that take anything.
TEST(Cooperative, OtherMemoryAndNoRowsTakeTwoKernels) {
  const std::string head =
      "quantize · bf16 · e4m3 · f32 · *x* · row_major · hardware · dynamic · default · B+1 · ";
  resultsOf({scheduled(head + "several · strided misaligned · specials", MapSchedules[0]),
             scheduled(head + "several · padded · normal", MapSchedules[1])},
            "general");
  resultsOf({scheduled(head + "0 · contiguous · normal", MapSchedules[0])}, "contiguous");
}

/// A per-tensor cast by the heuristic's schedules.
Case castOf(int64_t tokens, int64_t hidden) {
  OpParameters parameters;
  parameters.block = "*x*";
  Case made{libraryOp("quantize", parameters), {}, {}, {{"tokens", tokens}, {"hidden", hidden}}};
  made.options.dims = {{"hidden", hidden}};
  HostTensor x{"x", bf16, {tokens, hidden}, {}};
  x.data.resize(static_cast<size_t>(2 * tokens * hidden));
  uint32_t state = static_cast<uint32_t>(tokens);
  for (size_t i = 0; i < x.data.size(); i += 2) {
    state = state * 1664525 + 1013904223;
    x.data[i] = static_cast<std::byte>(state >> 8);
    x.data[i + 1] = static_cast<std::byte>((state >> 16 & 0x83) + 0x3c); // a small exponent
  }
  made.inputs.push_back(std::move(x));
  return made;
}

/// Sizes about those up to which an H200 (on `host`, the simulator) holds the matrix.
TEST(Cooperative, SmallMatricesTakeOneKernelAndLargeOnesTwo) {
  const bool isHost = testDevice() == "host";
  std::vector<Case> cases;
  for (const int64_t tokens :
       isHost ? std::vector<int64_t>{3, 257, 1025} : std::vector<int64_t>{1, 77, 1000, 2049, 5000})
    cases.push_back(castOf(tokens, isHost ? 1024 : 4096));
  Harness harness(testDevice(), /*seed=*/3);
  std::set<std::string> variants;
  for (const Case &given : cases)
    variants.insert(harness.variantOf(harness.add(given)));
  EXPECT_TRUE(variants.contains("cooperative"));
  EXPECT_TRUE(variants.contains("contiguous") || variants.contains("few_rows"));
  expectReference(cases);
}

/// Memory that a test gives back.
class Memory {
public:
  Memory(const Device &device, size_t bytes) : device(device), at(device.allocate(bytes)) {}
  ~Memory() { device.free(at); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  const Device &device;
  void *const at;
};

/// Nobody clears it, and launches of other sizes have left it as they do.
TEST(Cooperative, ItsWorkspaceMayHoldAnything) {
  constexpr int64_t hidden = 512, most = 24;
  const Device device = Device::open(testDevice());
  Case given = castOf(most, hidden);
  given.options.target = device.target();
  const Kernel kernel = device.load(compile(given.program, given.options));
  const size_t bytes = static_cast<size_t>(most * hidden);
  const Memory x(device, 2 * bytes), y(device, bytes), scale(device, 4);
  const size_t size = kernel.prepare({{"tokens", most}}).workspace_bytes();
  const Memory workspace(device, size);
  device.upload(x.at, given.inputs[0].data.data(), 2 * bytes);
  const std::vector<TensorArg> tensors = {{x.at}, {y.at}, {scale.at}};
  std::map<int64_t, std::vector<std::byte>> expected;
  constexpr uint32_t halves[] = {3, 1, 0x7fffffff, 131, 0};
  size_t written = 0;
  for (const int byte : {0x5a, 0x00, 0xff, 0x7f}) {
    device.fill(workspace.at, byte, size);
    for (const int64_t tokens : {most, int64_t(1), int64_t(7), most, most, int64_t(7)}) {
      const Call call = kernel.prepare({{"tokens", tokens}});
      ASSERT_EQ(call.variant(), "cooperative");
      device.fill(y.at, 0x11, bytes);
      call.launch({}, tensors, {}, workspace.at);
      device.synchronize();
      std::vector<std::byte> result(bytes + 4);
      device.download(result.data(), y.at, bytes);
      device.download(result.data() + bytes, scale.at, 4);
      const auto [first, isNew] = expected.try_emplace(tokens, result);
      EXPECT_EQ(first->second, result) << byte << ", " << tokens << " rows";
      // Somebody writes to memory that a launch has left: half of its word, and NaNs for parts.
      const uint32_t half = halves[written++ % std::size(halves)];
      auto *memory = static_cast<std::byte *>(workspace.at);
      device.upload(memory + 248, &half, sizeof(half));
      device.fill(memory + 256, 0xff, size - 256);
    }
  }
}

} // namespace
