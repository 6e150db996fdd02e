//===- sim/DivergenceTest.cpp - Kernels that would hang or lie ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/sim/Kernels.h"

#include <atomic>
#include <gmock/gmock.h>

namespace eider::host {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Where a kernel of these tests met its end.
std::atomic<int> line = 0;

EiderHostSite marked(std::source_location where = std::source_location::current()) {
  line = static_cast<int>(where.line());
  return here(where);
}

/// Runs block 2 of `kernel` to its error, checks the place in the message and gives the rest of it.
/// The simulator must be as good as new afterwards.
std::string errorOf(EiderHostKernel kernel, unsigned block) {
  std::string message;
  try {
    launchOn<int>(nullptr, kernel, {3, block}, {.seed = 11, .threads = 1});
    ADD_FAILURE() << "the kernel ran to its end";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    message = error.what();
  }
  const std::string place = std::string(__FILE__) + ":" + std::to_string(line) + ": block 2, ";
  EXPECT_THAT(message, StartsWith(place));
  EXPECT_THAT(message, HasSubstr("seed 11 repeats it"));
  std::atomic<int> runs = 0;
  launchOn(&runs,
           [](const EiderHostAbi *abi, void **parameters) {
             abi->barrier(here());
             shuffleXor(abi, 0xffffffff, 1, 1, here());
             ++*parameter<std::atomic<int> *>(parameters);
           },
           {3, 64});
  EXPECT_EQ(runs, 3 * 64);
  return message.substr(std::min(place.size(), message.size()));
}

TEST(Divergence, ALaneThatReturnsBeforeACollective) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2 && abi->position()->thread == 37)
      return;
    shuffleXor(abi, 0xffffffff, 1, 1, marked());
  };
  EXPECT_THAT(errorOf(kernel, 64), HasSubstr("warp collective with mask 0xffffffff never fills: "
                                             "lane 5, thread 37 has returned"));
}

TEST(Divergence, ALaneThatWaitsAtABarrierInstead) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block != 2)
      return;
    if (abi->position()->thread == 3)
      abi->barrier(here());
    else
      shuffleXor(abi, 0xffffffff, 1, 1, marked());
  };
  EXPECT_THAT(errorOf(kernel, 32), HasSubstr("never fills: lane 3, thread 3 waits at the barrier "
                                             "of " +
                                             std::string(__FILE__)));
}

TEST(Divergence, AMaskWithLanesThatTheBlockLacks) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2)
      shuffleXor(abi, 0xffffffff, 1, 1, marked());
  };
  EXPECT_THAT(errorOf(kernel, 48), HasSubstr("lane 16, thread 48 does not exist in a block of 48"));
}

TEST(Divergence, LanesThatDisagreeAboutTheMask) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2)
      shuffleXor(abi, abi->position()->thread < 16 ? 0xffff : 0xffffffff, 1, 1, marked());
  };
  const std::string message = errorOf(kernel, 32);
  EXPECT_THAT(message, HasSubstr("with mask 0xffffffff"));
  EXPECT_THAT(message, HasSubstr("with mask 0x0000ffff"));
}

TEST(Divergence, LanesOfOneMaskAtTwoCollectives) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block != 2)
      return;
    const EiderHostSite sites[] = {marked(), {"elsewhere.cu", 77}};
    // Thread 9 is alone at its line; whoever of the two sides comes second reports the other.
    shuffleXor(abi, 0xffffffff, 1, 1, abi->position()->thread == 9 ? sites[1] : sites[0]);
  };
  try {
    launchOn<int>(nullptr, kernel, {3, 32});
    FAIL() << "the kernel ran to its end";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("elsewhere.cu:77"));
    EXPECT_THAT(error.what(), HasSubstr(std::string(__FILE__) + ":" + std::to_string(line)));
    EXPECT_THAT(error.what(), HasSubstr("of its warp waits at"));
  }
}

TEST(Divergence, LanesThatDisagreeAboutTheSize) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block != 2)
      return;
    const double mine = 0;
    double all[32];
    abi->exchange(0xffffffff, &mine, all, abi->position()->thread == 0 ? 4 : 8, marked());
  };
  const std::string message = errorOf(kernel, 32);
  EXPECT_THAT(message, HasSubstr("4 bytes a lane"));
  EXPECT_THAT(message, HasSubstr("8 bytes a lane"));
}

TEST(Divergence, ALaneOutsideItsOwnMask) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2 && abi->position()->thread == 20)
      shuffleXor(abi, 0xffff, 1, 1, marked());
  };
  EXPECT_THAT(errorOf(kernel, 32),
              StartsWith("thread 20: lane 20 is not in its own mask 0x0000ffff"));
}

TEST(Divergence, ACollectiveOfMoreBytesThanThereIsRoomFor) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2)
      abi->exchange(0xffffffff, nullptr, nullptr, 65, marked());
  };
  EXPECT_THAT(errorOf(kernel, 32), HasSubstr("of 65 bytes a lane; at most 64 are possible"));
}

TEST(Divergence, ABarrierThatSomeThreadsLeftByReturning) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block != 2 || abi->position()->thread >= 50)
      return;
    abi->barrier(marked());
  };
  EXPECT_THAT(errorOf(kernel, 64), HasSubstr("waits at a barrier that thread 50 left by returning "
                                             "(50 of 64 threads wait)"));
}

TEST(Divergence, TwoBarriersThatWaitAtOnce) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block != 2)
      return;
    if (abi->position()->thread == 5)
      abi->barrier({__FILE__, line});
    else
      abi->barrier({"other.cu", 3});
  };
  try {
    launchOn<int>(nullptr, kernel, {3, 64});
    FAIL() << "the kernel ran to its end";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("block 2, thread "));
    EXPECT_THAT(error.what(), HasSubstr("waits at this barrier while thread "));
    EXPECT_THAT(error.what(), HasSubstr("other.cu:3"));
    EXPECT_THAT(error.what(), HasSubstr(std::string(__FILE__)));
  }
}

TEST(Divergence, ATrap) {
  const auto kernel = [](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2 && abi->position()->thread == 6)
      abi->trap("the index is out of range", marked());
    abi->barrier(here());
  };
  EXPECT_THAT(errorOf(kernel, 64), StartsWith("thread 6: the index is out of range"));
}

TEST(Divergence, OneSharedArrayWithTwoSizes) {
  static const char key = 0;
  try {
    launchOn<int>(nullptr,
                  [](const EiderHostAbi *abi, void **) {
                    abi->shared(&key, abi->position()->thread == 3 ? 64 : 32, 4);
                  },
                  {1, 32});
    FAIL() << "the kernel ran to its end";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("shared memory was asked for with two sizes"));
  }
}

TEST(Divergence, UnwindsTheThreadsThatHaveBegun) {
  static std::atomic<int> begun = 0, ended = 0;
  struct Guard {
    Guard() { ++begun; }
    ~Guard() { ++ended; }
  };
  EXPECT_THROW(launchOn<int>(nullptr,
                             [](const EiderHostAbi *abi, void **) {
                               const Guard guard;
                               abi->barrier(here());
                               shuffleXor(abi, 0xffffffff, 1, 1, here());
                               if (abi->position()->thread == 31)
                                 abi->trap("enough", here());
                               abi->barrier(here());
                             },
                             {1, 256}),
               Error);
  EXPECT_EQ(begun, 256);
  EXPECT_EQ(ended, 256);
}

TEST(Divergence, EndsTheLaunchOnEveryHostThread) {
  std::atomic<int64_t> blocks = 0;
  EXPECT_THROW(launchOn(&blocks,
                        [](const EiderHostAbi *abi, void **parameters) {
                          ++*parameter<std::atomic<int64_t> *>(parameters);
                          abi->barrier(here());
                          if (abi->position()->block == 1)
                            abi->trap("enough", here());
                        },
                        {int64_t{1} << 40, 2}, {.threads = 3}),
               Error);
  EXPECT_LT(blocks, int64_t{1} << 40);
}

} // namespace
} // namespace eider::host
