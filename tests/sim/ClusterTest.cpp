//===- sim/ClusterTest.cpp - Blocks that meet, and those that do not ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/sim/Kernels.h"

#include <gmock/gmock.h>
#include <vector>

namespace eider::host {
namespace {

using testing::HasSubstr;

constexpr unsigned Size = 4, Threads = 64;
constexpr int64_t Blocks = 12;

void clusterBarrier(const EiderHostAbi *abi, EiderHostSite site) {
  abi->cluster_arrive(site);
  abi->cluster_wait(site);
}

/// This block's slots for what each block of its cluster has to say.
float *slots(const EiderHostAbi *abi) {
  static const char key = 0;
  return static_cast<float *>(abi->shared(&key, Size * sizeof(float), sizeof(float)));
}

/// Which barriers a kernel of these tests has.
struct Barriers {
  bool before = true, between = true;
};

/// Three times, each block tells its cluster its number and the turn; all sum what they were told.
template <Barriers barriers> void tellAll(const EiderHostAbi *abi, void **parameters) {
  const EiderHostPosition &at = *abi->position();
  float *mine = slots(abi), sum = 0;
  for (int turn = 1; turn <= 3; ++turn) {
    if (barriers.before)
      clusterBarrier(abi, here());
    if (at.thread < Size)
      *static_cast<float *>(abi->shared_of(at.thread, mine + at.block % Size, here())) =
          static_cast<float>(1000 * turn + at.block);
    if (barriers.between)
      clusterBarrier(abi, here());
    for (unsigned i = 0; i < Size; ++i)
      sum += mine[i];
  }
  clusterBarrier(abi, here()); // no block is gone while another writes
  parameter<float *>(parameters)[at.block * Threads + at.thread] = sum;
}

/// Threads whose sum is wrong.
int wrongThreads(EiderHostKernel kernel, uint64_t seed, unsigned hostThreads = 2) {
  std::vector<float> sums(Blocks * Threads);
  launchOn(sums.data(), kernel, {Blocks, Threads, Size}, {.seed = seed, .threads = hostThreads});
  int wrong = 0;
  for (int64_t block = 0; block < Blocks; ++block) {
    const auto first = static_cast<float>(block / Size * Size); // of the cluster
    for (unsigned thread = 0; thread < Threads; ++thread)
      wrong += sums[block * Threads + thread] != 3 * (4 * first + 6) + 4 * 6000;
  }
  return wrong;
}

std::string errorOf(EiderHostKernel kernel, const LaunchShape &shape = {Blocks, Threads, Size}) {
  try {
    launchOn<float>(nullptr, kernel, shape, {.seed = 5, .threads = 1});
  } catch (const Error &error) {
    return error.what();
  }
  return "the kernel ran to its end";
}

TEST(Cluster, ItsBlocksTellEachOther) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    EXPECT_EQ(wrongThreads(tellAll<Barriers{}>, seed), 0) << seed;
}

TEST(Cluster, WithoutTheBarrierBeforeTheReadSumsAreWrong) {
  EXPECT_GT(wrongThreads(tellAll<Barriers{true, false}>, 3), 0);
}

TEST(Cluster, WithoutTheBarrierBeforeTheFirstWriteIsAnError) {
  EXPECT_THAT(errorOf(tellAll<Barriers{false, true}>),
              HasSubstr("of its cluster before a barrier of the cluster: that block may not have "
                        "begun"));
}

TEST(Cluster, ABarrierThatAThreadLeftByReturning) {
  const std::string message = errorOf([](const EiderHostAbi *abi, void **) {
    if (abi->position()->block == 2 && abi->position()->thread == 37)
      return;
    clusterBarrier(abi, here());
  });
  EXPECT_THAT(message, HasSubstr("ClusterTest.cpp:"));
  EXPECT_THAT(message, HasSubstr("waits at a barrier of the cluster that thread 37 of block 2 left "
                                 "by returning (255 of 256 threads have arrived)"));
}

TEST(Cluster, ABarrierThatABlockLeavesOut) {
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                if (abi->position()->block == 1)
                  abi->barrier(here());
                else
                  clusterBarrier(abi, here());
              }),
              HasSubstr("of block 1 left by returning"));
}

TEST(Cluster, ABlockWhoseThreadsWaitAtTwoKindsOfBarriers) {
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                if (abi->position()->block == 0 && abi->position()->thread == 5)
                  clusterBarrier(abi, here());
                else
                  abi->barrier(here());
              }),
              HasSubstr("waits at a barrier that thread 5 does not come to: it waits at the "
                        "cluster's of "));
}

TEST(Cluster, ABarrierAtTwoPlaces) {
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                if (abi->position()->block == 3)
                  clusterBarrier(abi, here());
                else
                  clusterBarrier(abi, {"elsewhere.cu", 77});
              }),
              testing::AllOf(HasSubstr("arrives at the cluster's barrier here, thread "),
                             HasSubstr(" elsewhere: ")));
}

TEST(Cluster, ArrivalsAndWaitsTakeTurns) {
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                abi->cluster_arrive(here());
                abi->cluster_arrive(here());
              }),
              HasSubstr("arrives at the cluster's barrier again, and has not waited"));
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) { abi->cluster_wait(here()); }),
              HasSubstr("waits at the cluster's barrier, and has not arrived"));
}

TEST(Cluster, SharedMemoryThatIsNotThere) {
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                clusterBarrier(abi, here());
                abi->shared_of(Size, slots(abi), here());
              }),
              HasSubstr("the shared memory of block 4 of its cluster, which has 4"));
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                static float elsewhere;
                clusterBarrier(abi, here());
                abi->shared_of(0, &elsewhere, here());
              }),
              HasSubstr("at an address that is in no array of its own"));
  EXPECT_THAT(errorOf([](const EiderHostAbi *abi, void **) {
                clusterBarrier(abi, here());
                if (abi->position()->block % Size == 1)
                  return;
                for (int turn = 0; turn < 3; ++turn)
                  shuffleXor(abi, 0xffffffff, 1, 1, here());
                abi->shared_of(1, slots(abi), here());
              }),
              HasSubstr("the shared memory of block 1 of its cluster, which has ended"));
}

TEST(Cluster, AGridOfBrokenClustersIsRefused) {
  EXPECT_THAT(errorOf(tellAll<Barriers{}>, {10, Threads, Size}),
              HasSubstr("a grid of 10 blocks in clusters of 4"));
}

} // namespace
} // namespace eider::host
