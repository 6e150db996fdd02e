//===- tests/gpu/runtime/GpuRuntimeTest.cpp - The runtime on a GPU --------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Exit status 77, with the reason, on a machine without a GPU.
//
//===----------------------------------------------------------------------===//
#include "tests/gpu/runtime/Graph.h"
#include "tests/unit/runtime/Complaint.h"
#include "tests/unit/runtime/Samples.h"
#include "tests/unit/runtime/ScaleLaunch.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <thread>

using namespace eider;

namespace {

DeviceOptions optionsWith(const std::filesystem::path &cache, bool checked = false) {
  DeviceOptions options;
  options.cache.directory = cache.string();
  options.checked = checked;
  return options;
}

class Gpu : public testing::Test {
protected:
  Kernel load(contract::Contract contract) const {
    contract.target = device.target();
    return device.load({contract.name, contract::write(contract)});
  }
  /// Texts of its own, so that nothing of them is loaded yet.
  Kernel fresh(const std::string &mark) const {
    contract::Contract contract = scaleContract();
    for (contract::Variant &variant : contract.variants)
      variant.source += "// " + mark + "\n";
    return load(contract);
  }

  TemporaryDirectory temporary;
  Device device = Device::open("cuda", optionsWith(temporary.path / "cache"));
};

TEST_F(Gpu, Info) {
  const DeviceInfo &info = device.info();
  EXPECT_EQ(info.id, "cuda:0");
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(10 * info.major + info.minor, 75);
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.memory, 0);
  EXPECT_GT(info.l2, 0);
  EXPECT_GT(info.memoryBus, 0);
  EXPECT_GE(info.sharedPerBlock, 48 << 10);
  EXPECT_GE(info.driver, 12000);
  EXPECT_EQ(Device::enumerate().at(1).name, info.name);
}

TEST_F(Gpu, VariantsByAlignmentAndStride) {
  const Kernel kernel = load(scaleContract());
  const struct {
    int64_t hidden;
    ScaleShape shape;
    int variant;
  } cases[] = {{8, {}, 1}, {7, {}, 2}, {8, {.offset = 1}, 2}, {8, {.pitch = 11}, 3}};
  for (const auto &[hidden, shape, variant] : cases) {
    ScaleLaunch launch(device, 1000, hidden, shape);
    launch.run(kernel);
    EXPECT_EQ(launch.variant(), variant);
    launch.expectScaled(2.0f);
    launch.expectPaddingUntouched();
  }
}

TEST_F(Gpu, TheSecondProcessWouldFindItsCubin) {
  const std::string source = scaleSource("1.0") + "// of two processes\n";
  EXPECT_FALSE(
      assemble(source, device.target(), ImageKind::Cubin, device.cacheOptions()).fromCache);
  EXPECT_TRUE(assemble(source, device.target(), ImageKind::Cubin, device.cacheOptions()).fromCache);
}

TEST_F(Gpu, ZeroRowsLaunchNothing) {
  const Kernel kernel = fresh("zero");
  const TensorArg nothing[3] = {};
  kernel.prepare({{"tokens", 0}, {"hidden", 8}}).launch({}, nothing);
  for (const VariantReport &report : kernel.variants())
    EXPECT_FALSE(report.loaded);
}

TEST_F(Gpu, APreparedCallIsCapturedInAGraph) {
  const Kernel kernel = fresh("captured");
  const Call call = kernel.prepare({{"tokens", 64}, {"hidden", 8}});
  ScaleLaunch launch(device, 64, 8);
  OwnStream stream;
  const ScalarArg factor[] = {4.0f};
  Graph graph(stream, [&] { call.launch(stream.handle(), launch.tensors(), factor); });
  launch.expectUntouched(); // captured, not run
  graph.launch(stream);
  launch.expectScaled(4.0f);
  EXPECT_EQ(launch.variant(), 1);
}

/// The largest of x in every element of y: one block of 32 threads for as many elements.
contract::Contract meetingContract() {
  using namespace contract;
  Contract contract = scaleContract();
  contract.name = "meet";
  contract.dims = {{"count", std::nullopt}};
  contract.tensors = {{"x", Role::Input, DType::f32, {"count"}},
                      {"y", Role::Output, DType::f32, {"count"}}};
  contract.scalars = {};
  contract.workspace = "256 + count";
  Launch launch;
  launch.entry = "meet";
  launch.block = 32;
  launch.grid = "count / 32";
  launch.cooperative = 16;
  using Of = Parameter::Kind;
  launch.parameters = {
      {Of::Tensor, 0, 0, "", ""}, {Of::Tensor, 1, 0, "", ""}, {Of::Workspace, 0, 0, "0", ""}};
  const std::string source = R"(#include "eider/reduce/grid.cuh"
using namespace eider;
extern "C" __global__ __launch_bounds__(32, 16) void meet(const float *x, float *y, int64 *state) {
  const GridBarrier grid(state);
  const int64 i = arch::block_index() * 32 + arch::thread_index();
  y[i] = grid.reduce<Maximum, 32>(x[i], arch::Site::current());
}
)";
  Predicate unit;
  unit.kind = Predicate::Kind::UnitStride;
  contract.variants = {{"meeting", {}, source, {launch}}};
  launch.cooperative = 0;
  launch.grid = "0";
  contract.variants.push_back({"general", {unit}, source, {launch}});
  return contract;
}

/// As many blocks as run at once, replayed: each replay finds what the one before left.
TEST_F(Gpu, ACooperativeLaunchIsCapturedInAGraph) {
  const int64_t count = 32 * 16 * device.info().multiprocessors;
  const Kernel kernel = load(meetingContract());
  const Call call = kernel.prepare({{"count", count}});
  ASSERT_EQ(call.variant(), "meeting");
  EXPECT_EQ(kernel.prepare({{"count", count + 32}}).variant(), "general");
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i);
  const size_t bytes = values.size() * sizeof(float);
  void *x = device.allocate(bytes), *y = device.allocate(bytes);
  void *workspace = device.allocate(call.workspace_bytes());
  device.upload(x, values.data(), bytes);
  device.fill(workspace, 0x3f, call.workspace_bytes());
  OwnStream stream;
  const std::vector<TensorArg> tensors = {{x}, {y}};
  const Graph graph(stream, [&] { call.launch(stream.handle(), tensors, {}, workspace); });
  for (int turn = 0; turn < 100; ++turn) {
    device.fill(y, 0, bytes);
    graph.launch(stream);
    device.download(values.data(), y, bytes);
    EXPECT_EQ(std::ranges::count(values, static_cast<float>(count - 1)), count) << turn;
  }
  for (void *memory : {x, y, workspace})
    device.free(memory);
}

TEST_F(Gpu, AnUnloadedVariantIsRefusedDuringACapture) {
  const Kernel kernel = fresh("unloaded");
  const Call call = kernel.prepare({{"tokens", 64}, {"hidden", 8}});
  ScaleLaunch strided(device, 64, 8, {.pitch = 9});
  OwnStream stream;
  std::string said;
  Graph graph(stream,
              [&] { said = complaint([&] { call.launch(stream.handle(), strided.tensors()); }); });
  expectComplaint(said, "variant 'general', which cannot be loaded while the stream is captured");
  // Once prepared with such tensors it is fine.
  const Call prepared = kernel.prepare({{"tokens", 64}, {"hidden", 8}}, strided.tensors());
  Graph second(stream, [&] { prepared.launch(stream.handle(), strided.tensors()); });
  second.launch(stream);
  EXPECT_EQ(strided.variant(), 3);
}

TEST_F(Gpu, SixteenThreadsLoadOnceAndLaunchOnTheirStreams) {
  contract::Contract contract = scaleContract(device.target());
  contract.variants[0].source += "// sixteen\n";
  const std::string json = contract::write(contract);
  std::vector<Kernel> kernels(16, load(scaleContract()));
  std::barrier start(16);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait(); // no context is current in this thread
      kernels[t] =
          Device::open("cuda", optionsWith(temporary.path / "cache")).load({"scale", json});
      OwnStream stream;
      ScaleLaunch launch(device, 512, 128);
      const ScalarArg factor[] = {t + 1.0f};
      launch.run(kernels[t], factor, stream.handle());
      wrong += launch.variant() != 1;
      launch.expectScaled(t + 1.0f);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  for (const Kernel &each : kernels)
    EXPECT_EQ(each.variants()[0].compileMilliseconds, kernels[0].variants()[0].compileMilliseconds);
}

TEST_F(Gpu, CheckedModeRefusesAStreamOfAnotherContext) {
  const Device checked = Device::open("cuda", optionsWith(temporary.path / "cache", true));
  const Kernel kernel = checked.load(scaleExecutable(checked.target()));
  ScaleLaunch launch(checked, 4, 8);
  launch.run(kernel);
  launch.expectScaled(2.0f);
  OtherContext other;
  expectComplaint(complaint([&] { launch.run(kernel, {}, other.stream()); }),
                  "the stream belongs to another device or context");
}

TEST_F(Gpu, DynamicSharedMemoryBeyond48KiB) {
  contract::Contract contract = scaleContract();
  contract.variants.erase(contract.variants.begin(), contract.variants.begin() + 2);
  contract.variants[0].launches[0].shared = "hidden * 4";
  contract.variants[0].source = R"(#include "eider/types.cuh"
using namespace eider;
extern __shared__ float row_copy[];
extern "C" __global__ void scale(const float *x, float *y, float *which, float factor, int64 x_stride,
                                 int64 y_stride, int64 hidden) {
  for (int64 i = threadIdx.x; i < hidden; i += 32)
    row_copy[i] = x[blockIdx.x * x_stride + i];
  __syncthreads();
  for (int64 i = threadIdx.x; i < hidden; i += 32) // each element by another thread than read it
    y[blockIdx.x * y_stride + hidden - 1 - i] = factor * row_copy[hidden - 1 - i];
  which[blockIdx.x] = 1.0f;
})";
  const int64_t hidden = device.info().sharedPerBlock / 4;
  const Kernel kernel = load(contract);
  ScaleLaunch launch(device, 300, hidden);
  launch.run(kernel);
  launch.expectScaled(2.0f);
  expectComplaint(complaint([&] {
                    kernel.prepare({{"tokens", 1}, {"hidden", hidden + 1}});
                  }),
                  "bytes of shared memory, the device has");
}

TEST_F(Gpu, Clusters) {
  if (!device.info().clusters)
    GTEST_SKIP() << device.info().name << " has no clusters";
  contract::Contract contract = scaleContract();
  contract.variants.erase(contract.variants.begin(), contract.variants.begin() + 2);
  contract.variants[0].launches[0].cluster = 4;
  contract.variants[0].source = R"(#include "eider/types.cuh"
using namespace eider;
extern "C" __global__ void scale(const float *x, float *y, float *which, float factor, int64 x_stride,
                                 int64 y_stride, int64 hidden) {
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  for (int64 i = threadIdx.x; i < hidden; i += 32)
    y[blockIdx.x * y_stride + i] = factor * x[blockIdx.x * x_stride + i];
  which[blockIdx.x] = size;
})";
  ScaleLaunch launch(device, 64, 8);
  launch.run(load(contract));
  EXPECT_EQ(launch.variant(), 4);
  launch.expectScaled(2.0f);
}

TEST_F(Gpu, AnotherGenerationIsRefused) {
  const std::string other = device.info().major == 7 ? "sm_80" : "sm_90a";
  const std::string said = complaint([&] { device.load(scaleExecutable(other)); });
  if (device.info().major == 9)
    EXPECT_EQ(said, "");
  else
    expectComplaint(said, "made for '" + other + "'");
  expectComplaint(complaint([&] { device.load(scaleExecutable("host")); }), "made for 'host'");
}

TEST_F(Gpu, OlderGenerationsRunFromPtx) {
  if (device.info().major < 8)
    GTEST_SKIP() << "there is no older target";
  contract::Contract contract = scaleContract("sm_75");
  const Kernel kernel = device.load({"scale", contract::write(contract)});
  ScaleLaunch launch(device, 16, 8);
  launch.run(kernel);
  launch.expectScaled(2.0f);
}

TEST_F(Gpu, MemoryAndTime) {
  constexpr size_t bytes = 64 << 20;
  void *a = device.allocate(bytes), *b = device.allocate(bytes);
  device.fill(a, 0x5a, bytes);
  OwnStream stream;
  const double time =
      device.microseconds(stream.handle(), [&] { device.copy(b, a, bytes, stream.handle()); });
  EXPECT_GT(time, 1.0); // 128 MiB moved: no GPU does it faster
  std::vector<unsigned char> back(bytes);
  device.download(back.data(), b, bytes);
  EXPECT_EQ(std::count(back.begin(), back.end(), 0x5a), static_cast<ptrdiff_t>(bytes));
  device.free(a);
  device.free(b);
  expectComplaint(complaint([&] { device.allocate(size_t(1) << 50); }), "free memory on the GPU");
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const std::string why = Device::whyNoGpu(); !why.empty()) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
