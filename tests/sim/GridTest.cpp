//===- sim/GridTest.cpp - Blocks of a grid that meet, and those that do not ===//
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

constexpr unsigned Threads = 64;
constexpr unsigned long long Met = 1ull << 32;

/// What the blocks of these tests have in common.
struct Board {
  unsigned long long word = 0;
  std::vector<float> told, sums;
};

/// The first thread of each block says that it has come, and waits for all.
void meet(const EiderHostAbi *abi, Board &board, EiderHostSite site) {
  const EiderHostPosition &at = *abi->position();
  if (at.thread == 0) {
    const unsigned long long others = static_cast<unsigned long long>(at.grid_size) - 1;
    __atomic_fetch_add(&board.word, at.block == 0 ? Met - others : 1, __ATOMIC_RELEASE);
    abi->wait_for_word(&board.word, Met, 0, site);
  }
  abi->barrier(site);
}

template <bool meets> void sumOfAll(const EiderHostAbi *abi, void **parameters) {
  Board &board = *parameter<Board *>(parameters);
  const EiderHostPosition &at = *abi->position();
  if (at.thread == 0)
    board.told[at.block] = static_cast<float>(1 + at.block);
  if (meets)
    meet(abi, board, here());
  float sum = 0;
  for (const float value : board.told)
    sum += value;
  board.sums[at.block * Threads + at.thread] = sum;
}

int wrongThreads(EiderHostKernel kernel, int64_t blocks, uint64_t seed) {
  Board board{0, std::vector<float>(blocks), std::vector<float>(blocks * Threads)};
  launchOn(&board, kernel, {blocks, Threads, static_cast<unsigned>(blocks)}, {.seed = seed});
  int wrong = 0;
  for (const float sum : board.sums)
    wrong += sum != static_cast<float>(blocks * (blocks + 1) / 2);
  return wrong;
}

std::string errorOf(EiderHostKernel kernel, const LaunchShape &shape) {
  Board board{0, std::vector<float>(shape.grid), std::vector<float>(shape.grid * Threads)};
  try {
    launchOn(&board, kernel, shape, {.seed = 5, .threads = 1});
  } catch (const Error &error) {
    return error.what();
  }
  return "the kernel ran to its end";
}

TEST(Grid, ItsBlocksMeet) {
  for (const int64_t blocks : {1, 2, 7, 200})
    for (uint64_t seed = 0; seed < 4; ++seed)
      EXPECT_EQ(wrongThreads(sumOfAll<true>, blocks, seed), 0) << blocks << " blocks, " << seed;
}

TEST(Grid, WhereTheyDoNotMeetSumsAreWrong) { EXPECT_GT(wrongThreads(sumOfAll<false>, 7, 1), 0); }

TEST(Grid, ABlockThatDoesNotComeIsAnError) {
  const std::string message = errorOf(
      [](const EiderHostAbi *abi, void **parameters) {
        if (abi->position()->block != 2)
          meet(abi, *parameter<Board *>(parameters), here());
      },
      {5, Threads, 5});
  EXPECT_THAT(message, HasSubstr("GridTest.cpp:"));
  EXPECT_THAT(message, HasSubstr("waits for all blocks of the grid, which do not come: 4 of 5 "
                                 "blocks that run at once wait, of 5 in the grid"));
}

/// As an ordinary launch of a cooperative kernel, whose blocks begin when others have ended.
TEST(Grid, BlocksThatHaveNotBegunAreAnError) {
  EXPECT_THAT(errorOf(sumOfAll<true>, {6, Threads, 2}),
              HasSubstr("2 of 2 blocks that run at once wait, of 6 in the grid"));
}

TEST(Grid, AGridThatTheHostCannotHoldIsRefused) {
  EXPECT_THAT(errorOf(sumOfAll<true>, {300, Threads, 300}),
              HasSubstr("300 resident blocks of 64 threads"));
}

} // namespace
} // namespace eider::host
