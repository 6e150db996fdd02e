//===- host/Random.h - The order of threads from a seed -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_RANDOM_H
#define EIDER_HOST_RANDOM_H

#include <cstdint>
#include <utility>
#include <vector>

namespace eider::host {

/// SplitMix64 (Steele, Lea, Flood 2014): good enough to shuffle, and the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  template <typename T> void shuffle(std::vector<T> &values) {
    for (uint64_t left = values.size(); left > 1; --left) {
      const uint64_t other = (next() >> 32) * left >> 32; // 0 ≤ other < left < 2^32
      std::swap(values[left - 1], values[other]);
    }
  }

private:
  uint64_t state_;
};

} // namespace eider::host

#endif // EIDER_HOST_RANDOM_H
