//===- sim/SchedulerTest.cpp - Blocks, barriers, exchanges, order ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/sim/Kernels.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace eider::host {
namespace {

long long globalThread(const EiderHostPosition &at) { return at.block * at.block_size + at.thread; }

TEST(Launch, RunsEveryThreadOnce) {
  std::vector<int> runs(7 * 33);
  launchOn(runs.data(),
           [](const EiderHostAbi *abi, void **parameters) {
             const EiderHostPosition &at = *abi->position();
             parameter<int *>(parameters)[globalThread(at)] +=
                 at.grid_size == 7 && at.block_size == 33;
           },
           {7, 33});
  EXPECT_EQ(runs, std::vector<int>(7 * 33, 1));
}

TEST(Launch, OfZeroBlocksRunsNothing) {
  int runs = 0;
  launchOn(&runs, [](const EiderHostAbi *, void **parameters) { ++*parameter<int *>(parameters); },
           {0, 32});
  EXPECT_EQ(runs, 0);
}

TEST(Launch, RefusesShapesThatNoDeviceHas) {
  const EiderHostKernel nothing = [](const EiderHostAbi *, void **) {};
  for (const LaunchShape &shape : {LaunchShape{-1, 32}, LaunchShape{1, 0}, LaunchShape{1, 1025},
                                   LaunchShape{1, 32, 0}, LaunchShape{1, 1024, 17}})
    try {
      launch(nothing, shape, nullptr);
      ADD_FAILURE() << "grid " << shape.grid << ", block " << shape.block << " was launched";
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request) << error.what();
    }
}

TEST(Launch, FromSeveralHostThreadsAtOnce) {
  std::vector<std::vector<int>> runs(4, std::vector<int>(50 * 64));
  std::vector<std::thread> callers;
  for (std::vector<int> &mine : runs)
    callers.emplace_back([&mine] {
      for (int repeat = 0; repeat < 5; ++repeat)
        launchOn(mine.data(),
                 [](const EiderHostAbi *abi, void **parameters) {
                   abi->barrier(here());
                   ++parameter<int *>(parameters)[globalThread(*abi->position())];
                 },
                 {50, 64}, {.threads = 2});
    });
  for (std::thread &caller : callers)
    caller.join();
  for (const std::vector<int> &mine : runs)
    EXPECT_EQ(mine, std::vector<int>(50 * 64, 5));
}

/// Sums its block's 96 numbers, warp by warp, then over shared memory.
template <bool withBarrier> void sumBlock(const EiderHostAbi *abi, void **parameters) {
  static const char key = 0;
  const EiderHostPosition &at = *abi->position();
  float value = parameter<const float *>(parameters, 0)[globalThread(at)];
  for (unsigned distance = 16; distance > 0; distance /= 2)
    value += shuffleXor(abi, 0xffffffff, value, distance, here());
  auto *partial = static_cast<float *>(abi->shared(&key, 3 * sizeof(float), sizeof(float)));
  if (at.thread % 32 == 0)
    partial[at.thread / 32] = value;
  if (withBarrier)
    abi->barrier(here());
  parameter<float *>(parameters, 1)[globalThread(at)] = partial[0] + partial[1] + partial[2];
}

/// Blocks of which some thread has a wrong sum.
int wrongBlocks(EiderHostKernel kernel, const SimulatorOptions &options) {
  constexpr int blocks = 40, size = 96;
  std::vector<float> x(blocks * size), y(blocks * size);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 251);
  const float *in = x.data();
  float *out = y.data();
  void *parameters[] = {&in, &out};
  launch(kernel, {blocks, size}, parameters, options);
  int wrong = 0;
  for (int block = 0; block < blocks; ++block) {
    float sum = 0; // whole numbers: exact in any order
    for (int i = 0; i < size; ++i)
      sum += x[block * size + i];
    wrong += std::any_of(&y[block * size], &y[block * size] + size,
                         [sum](float other) { return other != sum; });
  }
  return wrong;
}

TEST(Barrier, MakesABlockSumRightInEveryOrder) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (unsigned threads : {1u, 2u, 5u})
      EXPECT_EQ(wrongBlocks(sumBlock<true>, {seed, threads}), 0) << "seed " << seed;
}

TEST(Barrier, ThatIsMissingShowsInTheResult) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_GT(wrongBlocks(sumBlock<false>, {seed, 1}), 20) << "seed " << seed;
}

TEST(Barrier, KeepsAllThreadsInStep) {
  struct Steps {
    int steps[64] = {}, together[64] = {};
  } data;
  launchOn(&data,
           [](const EiderHostAbi *abi, void **parameters) {
             auto *data = parameter<Steps *>(parameters);
             const unsigned thread = abi->position()->thread;
             for (int step = 1; step <= 20; ++step) {
               data->steps[thread] = step;
               abi->barrier(here());
               data->together[thread] += data->steps[(thread + 1) % 64] == step;
               abi->barrier(here());
             }
           },
           {1, 64});
  for (int together : data.together)
    EXPECT_EQ(together, 20);
}

TEST(Exchange, GivesEachLaneTheValuesOfItsMaskAndPoisonElsewhere) {
  std::vector<uint32_t> seen(64 * 32);
  launchOn(seen.data(),
           [](const EiderHostAbi *abi, void **parameters) {
             const unsigned thread = abi->position()->thread, lane = thread % 32;
             // Two masks of one warp wait at the same time, on two lines.
             const uint32_t mine = thread + 100;
             uint32_t all[32];
             if (lane < 8)
               abi->exchange(0x000000ff, &mine, all, sizeof mine, here());
             else
               abi->exchange(0xffffff00, &mine, all, sizeof mine, here());
             std::memcpy(parameter<uint32_t *>(parameters) + thread * 32, all, sizeof all);
           },
           {1, 64});
  for (unsigned thread = 0; thread < 64; ++thread)
    for (unsigned lane = 0; lane < 32; ++lane) {
      const bool together = (thread % 32 < 8) == (lane < 8);
      const uint32_t expected = together ? thread / 32 * 32 + lane + 100 : 0xffffffff;
      ASSERT_EQ(seen[thread * 32 + lane], expected) << "thread " << thread << ", lane " << lane;
    }
}

TEST(Exchange, OfOneWarpNeedsNoOther) {
  float sums[96] = {};
  launchOn(sums,
           [](const EiderHostAbi *abi, void **parameters) {
             const unsigned thread = abi->position()->thread;
             float value = static_cast<float>(thread);
             if (thread / 32 == 1)
               for (unsigned distance = 16; distance > 0; distance /= 2)
                 value += shuffleXor(abi, 0xffffffff, value, distance, here());
             parameter<float *>(parameters)[thread] = value;
           },
           {1, 96});
  for (unsigned thread = 0; thread < 96; ++thread)
    EXPECT_EQ(sums[thread], thread / 32 == 1 ? 32 * 47.5f : static_cast<float>(thread));
}

TEST(Exchange, OfAPartOfAWarpInASmallBlock) {
  float values[8] = {};
  launchOn(values,
           [](const EiderHostAbi *abi, void **parameters) {
             const unsigned thread = abi->position()->thread;
             parameter<float *>(parameters)[thread] =
                 shuffleXor(abi, 0xff, static_cast<float>(thread), 7, here());
           },
           {1, 8});
  for (unsigned thread = 0; thread < 8; ++thread)
    EXPECT_EQ(values[thread], static_cast<float>(7 - thread));
}

TEST(SharedMemory, IsFreshAndPoisonedInEveryBlock) {
  std::vector<unsigned char> first(30 * 64);
  launchOn(first.data(),
           [](const EiderHostAbi *abi, void **parameters) {
             static const char key = 0;
             const EiderHostPosition &at = *abi->position();
             auto *bytes = static_cast<unsigned char *>(abi->shared(&key, 64, 16));
             parameter<unsigned char *>(parameters)[globalThread(at)] = bytes[at.thread];
             bytes[at.thread] = 1;
           },
           {30, 64}, {.threads = 2});
  EXPECT_EQ(first, std::vector<unsigned char>(30 * 64, 0xff));
}

TEST(SharedMemory, OfTwoKeysIsTwoRegionsWithTheirAlignment) {
  launchOn<int>(nullptr,
                [](const EiderHostAbi *abi, void **) {
                  static const char one = 0, two = 0;
                  auto *a = static_cast<char *>(abi->shared(&one, 3, 1));
                  auto *b = static_cast<char *>(abi->shared(&two, 128, 128));
                  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 128, 0u);
                  EXPECT_TRUE(a + 3 <= b || b + 128 <= a);
                  EXPECT_EQ(abi->shared(&one, 3, 1), a);
                },
                {2, 4});
}

//===-- Order -------------------------------------------------------------===//

/// For each block the order in which its threads ran up to a barrier, and after it.
struct Orders {
  static constexpr unsigned blocks = 6, size = 64;
  std::atomic<unsigned> next[blocks] = {};
  unsigned threads[blocks][2 * size] = {};

  std::vector<unsigned> of(unsigned block) const {
    return {threads[block], threads[block] + 2 * size};
  }
};

void recordOrder(const EiderHostAbi *abi, void **parameters) {
  auto *orders = parameter<Orders *>(parameters);
  const EiderHostPosition &at = *abi->position();
  orders->threads[at.block][orders->next[at.block]++] = at.thread;
  abi->barrier(here());
  orders->threads[at.block][orders->next[at.block]++] = at.thread;
}

TEST(Order, IsThatOfTheSeedOnAnyNumberOfHostThreads) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Orders one, many;
    launchOn(&one, recordOrder, {Orders::blocks, Orders::size}, {seed, 1});
    launchOn(&many, recordOrder, {Orders::blocks, Orders::size}, {seed, 3});
    for (unsigned block = 0; block < Orders::blocks; ++block)
      EXPECT_EQ(one.of(block), many.of(block)) << "seed " << seed << ", block " << block;
  }
}

TEST(Order, DiffersFromSeedToSeedBlockToBlockAndRoundToRound) {
  std::set<std::vector<unsigned>> seen;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Orders orders;
    launchOn(&orders, recordOrder, {Orders::blocks, Orders::size}, {seed, 1});
    for (unsigned block = 0; block < Orders::blocks; ++block) {
      const std::vector<unsigned> both = orders.of(block);
      seen.insert({both.begin(), both.begin() + Orders::size});
      seen.insert({both.begin() + Orders::size, both.end()});
    }
  }
  EXPECT_EQ(seen.size(), 3 * Orders::blocks * 2u);
}

TEST(Order, OfResidentBlocksIsMixed) {
  // Each block waits for the other: only co-resident blocks come to an end.
  struct Meeting {
    std::atomic<int> arrived = 0;
    bool met[2] = {};
  } meeting;
  launchOn(&meeting,
           [](const EiderHostAbi *abi, void **parameters) {
             auto *meeting = parameter<Meeting *>(parameters);
             const EiderHostPosition &at = *abi->position();
             if (at.thread == 0)
               ++meeting->arrived;
             for (int turn = 0; turn < 3; ++turn)
               abi->barrier(here());
             if (at.thread == 0)
               meeting->met[at.block] = meeting->arrived == 2;
           },
           {2, 32, 2}, {.threads = 1});
  EXPECT_TRUE(meeting.met[0]);
  EXPECT_TRUE(meeting.met[1]);
}

} // namespace
} // namespace eider::host
