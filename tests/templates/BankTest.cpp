//===- BankTest.cpp - Shared memory of a transpose, bank by bank ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/formats/e4m3.cuh"
#include "eider/memory/transposition.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

using namespace eider;

namespace {

/// How many words of one bank the lanes of a warp want at once, at most; 0 if they want none. An
/// access of `bytes` goes in phases of as many lanes as 128 bytes have. -1: an inactive lane.
size_t worstBank(const std::vector<int> &offsets, int bytes) {
  const size_t lanes = 128 / std::max(bytes, 4);
  size_t worst = 0;
  for (size_t first = 0; first < offsets.size(); first += lanes) {
    std::array<std::set<int>, 32> banks;
    for (size_t lane = first; lane < std::min(offsets.size(), first + lanes); ++lane)
      for (int byte = offsets[lane]; offsets[lane] >= 0 && byte < offsets[lane] + bytes; byte += 4)
        banks[byte / 4 % 32].insert(byte / 4);
    for (const std::set<int> &words : banks)
      worst = std::max(worst, words.size());
  }
  return worst;
}

/// A layout, and what stands in its type.
template <class T_, int threads_, int vector_, int rows, int columns, int run_, int passes = 1>
struct Block {
  using Layout = TranspositionLayout<T_, threads_, vector_, rows, columns, run_, passes>;
  static constexpr int threads = threads_, vector = vector_, run = run_;
  static constexpr int size = static_cast<int>(sizeof(T_));
};

/// The worst over the warps of a block of what `offset(thread)` gives.
template <class Offset> size_t worstOfWarps(int threads, int bytes, Offset offset) {
  size_t worst = 0;
  for (int warp = 0; warp < threads; warp += 32) {
    std::vector<int> offsets;
    for (int thread = warp; thread < std::min(warp + 32, threads); ++thread)
      offsets.push_back(offset(thread));
    worst = std::max(worst, worstBank(offsets, bytes));
  }
  return worst;
}

template <class B> size_t worstWrite() {
  using Layout = typename B::Layout;
  size_t worst = 0;
  for (int first = 0; first < Layout::passes * Layout::lines; first += Layout::lines)
    for (int c = 0; c < Layout::chunks; c += B::run)
      for (int column = 0; column < B::vector; ++column)
        worst = std::max(worst, worstOfWarps(B::threads, B::run * B::size, [&](int thread) {
                           const int writer = Layout::writer(thread, first);
                           const bool writes = writer >= 0 && writer < Layout::lines / B::vector;
                           return writes ? Layout::byte_written(thread, c, writer, column) : -1;
                         }));
  return worst;
}

template <class B> size_t worstRead() {
  using Layout = typename B::Layout;
  size_t worst = 0;
  for (int first = 0; first < Layout::passes * Layout::lines; first += Layout::lines)
    for (int c = 0; c < Layout::chunks; ++c)
      for (int i = 0; i < Layout::pieces_of_chunk; ++i)
        worst = std::max(worst, worstOfWarps(B::threads, Layout::piece, [&](int thread) {
                           const int line = Layout::line_read(thread, c, first);
                           const bool reads = line >= 0 && line < Layout::lines;
                           return reads ? Layout::byte_read(thread, line, i) : -1;
                         }));
  return worst;
}

TEST(Banks, AreCounted) {
  std::vector<int> apart, together;
  for (int lane = 0; lane < 32; ++lane) {
    apart.push_back(lane * 4);
    together.push_back(lane * 128);
  }
  EXPECT_EQ(worstBank(apart, 4), 1u);
  EXPECT_EQ(worstBank(together, 4), 32u);
  EXPECT_EQ(worstBank(together, 16), 8u);
}

template <class B> class Banks : public testing::Test {};
using Blocks = testing::Types<
    // What the heuristic takes, of codes, bf16 and f32.
    Block<e4m3, 512, 16, 128, 128, 2>, Block<bf16, 512, 16, 128, 128, 2>,
    Block<float, 512, 16, 128, 128, 2>, Block<float, 512, 16, 128, 128, 2, 2>,
    Block<float, 512, 8, 128, 128, 4>, Block<float, 512, 8, 128, 128, 4, 2>,
    Block<float, 512, 4, 128, 128, 4, 2>,
    // What the tuner tries.
    Block<bf16, 256, 16, 128, 128, 4>, Block<bf16, 1024, 8, 128, 128, 2>,
    Block<e4m3, 512, 8, 128, 128, 4>, Block<bf16, 512, 8, 128, 128, 4>,
    Block<bf16, 512, 4, 128, 128, 4>, Block<bf16, 256, 16, 64, 128, 2>,
    Block<bf16, 256, 8, 64, 128, 4>, Block<float, 256, 8, 64, 128, 4>,
    Block<e4m3, 128, 8, 64, 64, 4>, Block<bf16, 256, 8, 128, 64, 4>,
    Block<bf16, 1024, 16, 128, 256, 2, 2>, Block<bf16, 1024, 16, 256, 128, 2, 2>>;
TYPED_TEST_SUITE(Banks, Blocks);

TYPED_TEST(Banks, NoAccessMeetsItself) {
  EXPECT_EQ(worstWrite<TypeParam>(), 1u);
  EXPECT_EQ(worstRead<TypeParam>(), 1u);
}

TYPED_TEST(Banks, APieceIsReadOnce) {
  using Layout = typename TypeParam::Layout;
  std::set<int> read;
  size_t pieces = 0;
  for (int first = 0; first < Layout::passes * Layout::lines; first += Layout::lines)
    for (int c = 0; c < Layout::chunks; ++c)
      for (int thread = 0; thread < TypeParam::threads; ++thread)
        for (int i = 0; i < Layout::pieces_of_chunk; ++i) {
          const int line = Layout::line_read(thread, c, first);
          if (line < 0 || line >= Layout::lines)
            continue;
          read.insert(first * Layout::line_bytes + Layout::byte_read(thread, line, i));
          ++pieces;
        }
  EXPECT_EQ(read.size(), pieces);
  EXPECT_EQ(static_cast<int>(pieces) * Layout::piece,
            Layout::passes * Layout::lines * Layout::line_bytes);
}

} // namespace
