//===- sim/MemoryLimitTest.cpp - No memory for one more stack -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/sim/Kernels.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>

namespace eider::host {
namespace {

/// Lets this process map only `more` bytes beyond what it has.
class AddressSpaceLimit {
public:
  explicit AddressSpaceLimit(rlim_t more) {
    getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit = {pages * 4096 + more, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }

private:
  rlimit before_;
};

TEST(MemoryLimit, IsAnErrorAndLeavesTheSimulatorWhole) {
  const LaunchShape shape = {8, 1024, 8}; // 8192 stacks: 2 GiB of addresses
  const EiderHostKernel kernel = [](const EiderHostAbi *abi, void **parameters) {
    abi->barrier(here());
    ++*parameter<std::atomic<int> *>(parameters);
  };
  std::atomic<int> runs = 0;
  {
    const AddressSpaceLimit limit(rlim_t{256} << 20);
    try {
      launchOn(&runs, kernel, shape, {.threads = 1});
      ADD_FAILURE() << "the launch found its memory";
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Machine);
      EXPECT_THAT(error.what(), testing::HasSubstr("no memory for the stacks"));
    }
  }
  EXPECT_EQ(runs, 0);
  launchOn(&runs, kernel, shape, {.threads = 1});
  EXPECT_EQ(runs, 8 * 1024);
}

} // namespace
} // namespace eider::host
