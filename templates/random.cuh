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

/// Elements that share a Philox, each with a byte of its own.
inline constexpr int draws_of_philox = 16;

/// The largest power of two, at most 16, that divides both: where a row's chunks may begin.
constexpr EIDER_DEVICE int draw_alignment(int64 columns, int64 vector) {
  const int64 bits = draws_of_philox | columns | vector;
  return static_cast<int>(bits & -bits);
}

/// The random numbers of four elements from a word of a Philox. A byte is the element's own; of 16
/// bits those are the upper ones, and the lower ones those of the next of the four, after the last
/// the first.
EIDER_DEVICE void take_draws(uint32 word, uint8, uint32 *draws) { draws[0] = word; }
EIDER_DEVICE void take_draws(uint32 word, uint16, uint32 *draws) {
  draws[0] = arch::byte_permute(word, 0, 0x1201);
  draws[1] = arch::byte_permute(word, 0, 0x3023);
}

/// The random numbers of `count` neighbouring elements of a matrix, at most 16, the first of which
/// has number `index`, a multiple of `alignment`. Element i's own byte is byte i % 16 of
/// Philox(seed, i / 16, offset).
template <class T, int count, int alignment>
EIDER_DEVICE Fragment<T, count> draw(uint64 seed, uint64 offset, uint64 index) {
  constexpr int blocks = count <= alignment ? 1 : 2; // that the elements may touch
  constexpr int size = sizeof(T), per_word = 4 / size, all = 4 * size * blocks;
  uint32 words[all];
  EIDER_UNROLL
  for (int b = 0; b < blocks; ++b) {
    const Philox philox(seed, index / draws_of_philox + b, offset);
    EIDER_UNROLL
    for (int w = 0; w < 4; ++w)
      take_draws(philox.words[w], T{}, &words[size * (4 * b + w)]);
  }
  // The first is at place index % 16: it is moved down in steps of 8, 4, 2 and 1.
  EIDER_UNROLL
  for (int step = draws_of_philox / 2; step >= alignment; step /= 2) {
    const bool moves = index & step;
    const int by_words = step / per_word, by_bits = step % per_word * 8 * size;
    EIDER_UNROLL
    for (int w = 0; w < all; ++w) {
      const auto word = [&](int i) { return i < all ? words[i] : 0u; };
      const uint32 moved =
          by_bits == 0 ? word(w + by_words) : words[w] >> by_bits | word(w + 1) << (32 - by_bits);
      words[w] = moves ? moved : words[w];
    }
  }
  Fragment<T, count> draws;
  EIDER_UNROLL
  for (int w = 0; w * per_word < count; ++w)
    draws.words[w] = words[w];
  return draws;
}

/// The random numbers of a thread's elements, which come in chunks of `vector` that begin at
/// multiples of `alignment`; index(i) is the number of element i. They are drawn where they are
/// asked for, as many at a time as are needed, since held they would take many registers.
template <int vector, int alignment, class Index> struct Draws {
  uint64 seed, offset;
  Index index;

  /// Those of elements first … first + size - 1, as T, or as bytes where that is a word for each
  /// four of one of a Philox: these hold numbers of 16 bits, too.
  template <class T, int size> EIDER_DEVICE auto of(int first) const {
    constexpr int unit = vector < draws_of_philox ? vector : draws_of_philox;
    constexpr int begins = alignment < unit ? alignment : unit;
    using Number = choose<begins % 4 == 0 && size % 4 == 0, uint8, T>;
    constexpr int bits = 8 * sizeof(Number), per_word = 32 / bits;
    Fragment<Number, size> numbers{};
    EIDER_UNROLL
    for (int i = first / unit * unit; i < first + size; i += unit) {
      const auto draws = draw<Number, unit, begins>(seed, offset, index(i));
      EIDER_UNROLL
      for (int j = 0; j < unit; ++j)
        if (const int to = i + j - first; to >= 0 && to < size)
          numbers.words[to / per_word] |=
              (draws.words[j / per_word] >> j % per_word * bits & ((1u << bits) - 1))
              << to % per_word * bits;
    }
    return numbers;
  }
};

} // namespace eider

#endif // EIDER_RANDOM_CUH
