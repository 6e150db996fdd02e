//===- eider/random.cuh - Random bits by counting ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RANDOM_CUH
#define EIDER_RANDOM_CUH

#include "eider/fragment.cuh"

namespace eider {

/// Philox4x32-7 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011): 128 random bits that are a function of a key and a counter alone, so that any thread has
/// the bits of any element. Seven rounds are the fewest that pass BigCrush.
struct Philox {
  uint32 words[4];

  EIDER_DEVICE Philox(uint64 key, uint64 counter_low, uint64 counter_high)
      : words{low(counter_low), high(counter_low), low(counter_high), high(counter_high)} {
    constexpr int rounds = 7;
    constexpr uint32 golden_ratio = 0x9e3779b9u, root_of_three = 0xbb67ae85u; // their fractions
    uint32 first = low(key), second = high(key);
    EIDER_UNROLL
    for (int i = 0; i < rounds; ++i) {
      mix(first, second);
      first += golden_ratio;
      second += root_of_three;
    }
  }

private:
  static EIDER_DEVICE uint32 low(uint64 x) { return static_cast<uint32>(x); }
  static EIDER_DEVICE uint32 high(uint64 x) { return static_cast<uint32>(x >> 32); }

  EIDER_DEVICE void mix(uint32 first, uint32 second) {
    const uint64 a = arch::multiply_wide(0xd2511f53u, words[0]),
                 b = arch::multiply_wide(0xcd9e8d57u, words[2]);
    words[0] = high(b) ^ words[1] ^ first;
    words[1] = low(b);
    words[2] = high(a) ^ words[3] ^ second;
    words[3] = low(a);
  }
};

/// Numbers that one Philox gives, of 16 bits each.
inline constexpr int draws_of_philox = 8;

/// The largest power of two, at most 8, that divides both: where a row's chunks may begin.
constexpr EIDER_DEVICE int draw_alignment(int64 columns, int64 vector) {
  const int64 bits = draws_of_philox | columns | vector;
  return static_cast<int>(bits & -bits);
}

/// Writes to `draws`, from `first` on, 16 random bits for each of `vector` neighbouring elements of
/// a matrix, the first of which has number `index`, a multiple of `alignment`. Element i has the
/// bits 16 · (i % 8) and up of Philox(seed, i / 8, offset).
template <int vector, int alignment, int count>
EIDER_DEVICE void draw_chunk(uint64 seed, uint64 offset, uint64 index,
                             Fragment<uint16, count> &draws, int first) {
  constexpr int blocks = (draws_of_philox - alignment + vector + draws_of_philox - 1) /
                         draws_of_philox; // that the chunk may touch
  uint32 words[4 * blocks + 1]{};
  EIDER_UNROLL
  for (int b = 0; b < blocks; ++b) {
    const Philox philox(seed, index / draws_of_philox + b, offset);
    EIDER_UNROLL
    for (int w = 0; w < 4; ++w)
      words[4 * b + w] = philox.words[w];
  }
  // The chunk begins at draw index % 8 of the first: moved there in steps of 4, 2 and 1.
  const auto move = [&](int draws_moved) {
    const bool moves = index & draws_moved;
    EIDER_UNROLL
    for (int w = 0; w + 1 < 4 * blocks; ++w) {
      const uint32 next = words[w + 1];
      const uint32 moved = draws_moved == 4   ? words[w + 2]
                           : draws_moved == 2 ? next
                                              : words[w] >> 16 | next << 16;
      words[w] = moves ? moved : words[w];
    }
  };
  if constexpr (alignment <= 4)
    move(4);
  if constexpr (alignment <= 2)
    move(2);
  if constexpr (alignment == 1)
    move(1);
  EIDER_UNROLL
  for (int i = 0; i < vector; ++i)
    draws.words[(first + i) / 2] |= (words[i / 2] >> i % 2 * 16 & 0xffffu) << (first + i) % 2 * 16;
}

} // namespace eider

#endif // EIDER_RANDOM_CUH
