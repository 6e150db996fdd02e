//===- tests/unit/runtime/driver/CudaBackendTest.cpp ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// What the runtime asks of a driver. NVRTC compiles; nothing runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Contract.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Nvrtc.h"
#include "tests/unit/runtime/Complaint.h"
#include "tests/unit/runtime/Samples.h"
#include "tests/unit/runtime/TemporaryDirectory.h"
#include "tests/unit/runtime/driver/LoadedFakeDriver.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <thread>

using namespace eider;

namespace {

class CudaBackend : public testing::Test {
protected:
  void SetUp() override {
    try {
      cuda::Nvrtc::find(INT_MAX);
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
    FakeDriver &driver = fakeDriver();
    driver.major = 9, driver.minor = 0;
    driver.launchResult = driver.allocateResult = driver.loadResult = 0;
    driver.readableParameters = 0;
    driver.capturing = false;
    driver.streamContext = nullptr;
    driver.librariesLoaded = driver.launches = 0;
    driver.maxDynamicShared = -1;
    driver.multiprocessors = 1, driver.threadsPerMultiprocessor = 2048;
    driver.blocksPerMultiprocessor = 32, driver.cooperates = true;
  }

  /// A kernel whose texts no other test has loaded.
  Kernel load(contract::Contract contract, DeviceOptions options = {}) const {
    static int number = 0;
    options.cache.directory = (temporary.path / "cache").string();
    const Device device = Device::open("cuda", options);
    contract.target = device.target();
    for (contract::Variant &variant : contract.variants)
      variant.source += "// " + std::to_string(++number) + "\n";
    return device.load({contract.name, contract::write(contract)});
  }

  TemporaryDirectory temporary;
  alignas(256) float x[64] = {}, y[64] = {}, which[8] = {};
  const std::vector<TensorArg> tensors = {{x}, {y}, {which}};
  const Dims dims = {{"tokens", 8}, {"hidden", 8}};
};

TEST_F(CudaBackend, ALaunchIsWhatTheContractSays) {
  const Call call = load(scaleContract()).prepare(dims);
  EXPECT_EQ(fakeDriver().librariesLoaded, 1);
  EXPECT_EQ(fakeDriver().lastImage.substr(1, 3), "ELF");
  fakeDriver().readableParameters = 7;
  const ScalarArg factor[] = {0.5f};
  int stream = 0;
  call.launch(&stream, tensors, factor);
  const FakeLaunch &last = fakeDriver().last;
  EXPECT_EQ(last.function, "scale");
  EXPECT_EQ(last.grid, 8u);
  EXPECT_EQ(last.block, 32u);
  EXPECT_EQ(last.shared, 0u);
  EXPECT_EQ(last.cluster, 0u);
  EXPECT_EQ(last.stream, &stream);
  EXPECT_EQ(last.parameters[0], reinterpret_cast<uint64_t>(x));
  EXPECT_EQ(last.parameters[1], reinterpret_cast<uint64_t>(y));
  EXPECT_EQ(last.parameters[2], reinterpret_cast<uint64_t>(which));
  float passed;
  std::memcpy(&passed, &last.parameters[3], sizeof(passed));
  EXPECT_EQ(passed, 0.5f);
  EXPECT_EQ(last.parameters[4], 8u); // strides
  EXPECT_EQ(last.parameters[5], 8u);
  EXPECT_EQ(last.parameters[6], 8u); // hidden
  EXPECT_EQ(fakeDriver().contextPushes, fakeDriver().contextPops);
}

TEST_F(CudaBackend, ClustersAndSharedMemory) {
  contract::Contract contract = scaleContract();
  for (contract::Variant &variant : contract.variants) {
    variant.launches[0].cluster = 4;
    variant.launches[0].shared = "hidden * 4";
  }
  load(contract).prepare(dims).launch({}, tensors);
  EXPECT_EQ(fakeDriver().last.cluster, 4u);
  EXPECT_EQ(fakeDriver().last.shared, 32u);
  EXPECT_EQ(fakeDriver().maxDynamicShared, 232448 - 1024); // what static shared memory leaves
  expectComplaint(complaint([&] {
                    load(contract).prepare({{"tokens", 1}, {"hidden", 60000}});
                  }),
                  "needs 240000 bytes of shared memory, the device has 232448");
}

TEST_F(CudaBackend, ALaunchInClustersOverlapsTheOneBefore) {
  contract::Contract contract = scaleContract();
  for (contract::Variant &variant : contract.variants) {
    variant.launches.push_back(variant.launches[0]);
    variant.launches[1].overlaps = true;
    variant.launches[1].cluster = 4;
  }
  load(contract).prepare(dims).launch({}, tensors);
  EXPECT_TRUE(fakeDriver().last.overlaps);
  EXPECT_FALSE(fakeDriver().last.cooperative);
  EXPECT_EQ(fakeDriver().last.cluster, 4u);
  // The first of a call has none before.
  contract.variants[0].launches.erase(contract.variants[0].launches.begin());
  load(contract).prepare(dims).launch({}, tensors);
  EXPECT_FALSE(fakeDriver().last.overlaps);
  EXPECT_EQ(fakeDriver().last.cluster, 4u);
}

/// The first variant's blocks run at once, four of 32 threads a multiprocessor: 8 rows.
contract::Contract cooperativeContract() {
  contract::Contract contract = scaleContract();
  contract.variants.front().launches[0].cooperative = 4;
  return contract;
}

TEST_F(CudaBackend, ACooperativeLaunchIsAskedForWhereItsBlocksFit) {
  fakeDriver().multiprocessors = 2;
  const Kernel kernel = load(cooperativeContract());
  const Call call = kernel.prepare(dims);
  EXPECT_EQ(call.variant(), "vector");
  call.launch({}, tensors);
  EXPECT_TRUE(fakeDriver().last.cooperative);
  EXPECT_EQ(fakeDriver().last.cluster, 0u);
  EXPECT_EQ(fakeDriver().last.grid, 8u);
  fakeDriver().capturing = true; // a graph takes it, too
  call.launch({}, tensors);
  EXPECT_TRUE(fakeDriver().last.cooperative);
  fakeDriver().capturing = false;
  const Call larger = kernel.prepare({{"tokens", 9}, {"hidden", 4}});
  EXPECT_EQ(larger.variant(), "contiguous");
  larger.launch({}, tensors);
  EXPECT_FALSE(fakeDriver().last.cooperative);
}

TEST_F(CudaBackend, BlocksRunAtOnceAsFarAsThereIsRoomForThem) {
  fakeDriver().multiprocessors = 2, fakeDriver().threadsPerMultiprocessor = 127;
  EXPECT_EQ(load(cooperativeContract()).prepare(dims).variant(), "contiguous");
  fakeDriver().threadsPerMultiprocessor = 128;
  EXPECT_EQ(load(cooperativeContract()).prepare(dims).variant(), "vector");
  fakeDriver().blocksPerMultiprocessor = 3;
  EXPECT_EQ(load(cooperativeContract()).prepare(dims).variant(), "contiguous");
  fakeDriver().blocksPerMultiprocessor = 4, fakeDriver().cooperates = false;
  EXPECT_EQ(load(cooperativeContract()).prepare(dims).variant(), "contiguous");
}

/// No more blocks than the multiprocessors are to hold, and no more than there are.
TEST_F(CudaBackend, BlocksThatStayAreAsManyAsTheMultiprocessorsHold) {
  contract::Contract contract = scaleContract();
  contract.variants.front().launches[0].stays = 3;
  for (auto [multiprocessors, grid] : {std::pair{2, 6u}, {132, 8u}}) {
    fakeDriver().multiprocessors = multiprocessors;
    load(contract).prepare(dims).launch({}, tensors);
    EXPECT_EQ(fakeDriver().last.grid, grid);
    EXPECT_FALSE(fakeDriver().last.cooperative);
  }
}

/// As where other processes have a part of the GPU.
TEST_F(CudaBackend, ARefusedCooperativeLaunchIsAnError) {
  fakeDriver().multiprocessors = 2;
  const Call call = load(cooperativeContract()).prepare(dims);
  fakeDriver().launchResult = 720;
  expectComplaint(complaint([&] { call.launch({}, tensors); }), "launching");
}

TEST_F(CudaBackend, NothingIsLoadedDuringACapture) {
  const Kernel kernel = load(scaleContract());
  const Call call = kernel.prepare(dims);
  fakeDriver().capturing = true;
  call.launch({}, tensors); // loaded: fine
  const int64_t strides[] = {16, 1};
  const std::vector<TensorArg> strided = {{x, strides}, {y}, {which}};
  const Dims few = {{"tokens", 4}, {"hidden", 8}};
  expectComplaint(complaint([&] { kernel.prepare(few).launch({}, strided); }),
                  "variant 'general', which cannot be loaded while the stream is captured");
  EXPECT_EQ(fakeDriver().librariesLoaded, 1);
  EXPECT_EQ(kernel.prepare(few, strided).variant(), "general");
  kernel.prepare(few).launch({}, strided);
  EXPECT_EQ(fakeDriver().librariesLoaded, 2);
}

TEST_F(CudaBackend, TheNamedLaunchLoadsNothingDuringACaptureEither) {
  const Kernel kernel = load(scaleContract());
  fakeDriver().capturing = true;
  expectComplaint(
      complaint([&] {
        kernel.launch({}, {{"x", x}, {"y", y}, {"which", which}}, {{"tokens", 8}, {"hidden", 8}});
      }),
      "cannot be loaded while the stream is captured");
  EXPECT_EQ(fakeDriver().librariesLoaded, 0);
}

TEST_F(CudaBackend, PreparingDuringACaptureSaysWhatToDo) {
  const Kernel kernel = load(scaleContract());
  for (int result : {900, 901, 905, 906, 908}) { // as a driver answers that captures strictly
    fakeDriver().loadResult = result;
    try {
      kernel.prepare(dims);
      FAIL() << result;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request) << result;
      expectComplaint(error.what(), "loading a kernel for sm_90a: CUDA_ERROR_FAKE, this cannot be "
                                    "done while a stream is captured; prepare() every call before");
    }
  }
  fakeDriver().loadResult = 0;
  kernel.prepare(dims); // the failure is not remembered
}

TEST_F(CudaBackend, SixteenThreadsLoadOnce) {
  const Kernel kernel = load(scaleContract());
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] { kernel.prepare(dims).workspace_bytes(); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fakeDriver().librariesLoaded, 1);
}

TEST_F(CudaBackend, AFailedLaunchSaysWhy) {
  const Call call = load(scaleContract()).prepare(dims);
  fakeDriver().launchResult = 719;
  expectComplaint(complaint([&] { call.launch({}, tensors); }),
                  "CUDA driver: launching: CUDA_ERROR_FAKE, as told");
  fakeDriver().launchResult = cuda::deinitialized; // the process is exiting
  EXPECT_EQ(complaint([&] { call.launch({}, tensors); }), "");
}

TEST_F(CudaBackend, NoMemory) {
  fakeDriver().allocateResult = cuda::outOfMemory;
  try {
    Device::open("cuda").allocate(4096);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Machine);
    expectComplaint(error.what(), "allocating 4096 bytes on cuda:0: CUDA_ERROR_OUT_OF_MEMORY");
  }
}

TEST_F(CudaBackend, CheckedModeRefusesStreamsOfOtherContexts) {
  DeviceOptions options;
  options.checked = true;
  const Call call = load(scaleContract(), options).prepare(dims);
  call.launch({}, tensors);
  fakeDriver().streamContext = &fakeDriver();
  expectComplaint(complaint([&] { call.launch({}, tensors); }),
                  "cuda:0: the stream belongs to another device or context");
  EXPECT_EQ(fakeDriver().launches, 1);
}

TEST_F(CudaBackend, AnUnknownMajorVersionTakesPtx) {
  fakeDriver().major = 13;
  EXPECT_EQ(Device::open("cuda").target(), "sm_121");
  load(scaleContract()).prepare(dims);
  EXPECT_EQ(fakeDriver().lastImage.substr(0, 2), "//"); // PTX begins with a comment
}

TEST_F(CudaBackend, AnUnknownMinorVersionTakesTheCubinBelow) {
  fakeDriver().major = 12, fakeDriver().minor = 7;
  EXPECT_EQ(Device::open("cuda").target(), "sm_121");
  load(scaleContract()).prepare(dims);
  EXPECT_EQ(fakeDriver().lastImage.substr(1, 3), "ELF");
}

/// EIDER_TARGET while it lives.
struct TargetVariable {
  explicit TargetVariable(const char *value) { ::setenv("EIDER_TARGET", value, 1); }
  ~TargetVariable() { ::unsetenv("EIDER_TARGET"); }
};

TEST_F(CudaBackend, AnOlderTargetTakesPtx) {
  const TargetVariable target("sm_80");
  EXPECT_EQ(Device::open("cuda").target(), "sm_80");
  EXPECT_FALSE(Device::open("cuda").info().hardwareFp8);
  load(scaleContract()).prepare(dims);
  EXPECT_EQ(fakeDriver().lastImage.substr(0, 2), "//");
}

TEST_F(CudaBackend, ATargetThatTheGpuDoesNotRunIsRefused) {
  for (const char *name : {"sm_100", "sm_90b", "host"}) {
    const TargetVariable target(name);
    expectComplaint(complaint([] { Device::open("cuda"); }),
                    std::string("EIDER_TARGET: '") + name +
                        "' does not run on a GPU of sm_90; unset it, or set it to an older target");
  }
}

TEST_F(CudaBackend, AGpuOlderThanAllTargetsIsRefused) {
  fakeDriver().major = 7, fakeDriver().minor = 0;
  expectComplaint(
      complaint([] { Device::open("cuda"); }),
      "cuda:0: Fake GPU is of compute capability 7.0, older than all that Eider serves");
}

TEST_F(CudaBackend, AMissingGpuIsNamed) {
  expectComplaint(complaint([] { Device::open("cuda:1"); }),
                  "cuda:1: there is no such GPU: the machine has 1");
}

TEST_F(CudaBackend, TimesAreInMicroseconds) {
  EXPECT_EQ(Device::open("cuda").microseconds({}, [] {}), 1500.0);
}

TEST_F(CudaBackend, ADriverOlderThanTheNvrtcIsNamed) {
  if (complaint([] { cuda::Nvrtc::find(11); }).find("NVRTC 13") == std::string::npos)
    GTEST_SKIP() << "the NVRTC here is older";
  EXPECT_EXIT(
      {
        fakeDriver().version = 11080;
        ::setenv("EIDER_CUDA_DRIVER", fakeDriverPath().c_str(), 1);
        const std::string said = complaint([] {
          const Device device = Device::open("cuda");
          device.load(scaleExecutable("sm_90")).prepare({{"tokens", 8}, {"hidden", 8}});
        });
        std::fprintf(stderr, "%s\n", said.c_str());
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "NVRTC 1[23] is newer than the driver, which is for CUDA 11; install a newer driver, or "
      "NVRTC 11");
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  // A death test must not inherit a driver that is open.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ::setenv("EIDER_CUDA_DRIVER", fakeDriverPath().c_str(), 1);
  return RUN_ALL_TESTS();
}
