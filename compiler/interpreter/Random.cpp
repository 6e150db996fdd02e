//===- Random.cpp - The reference's own random numbers --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Random.h"

using namespace eider;

std::array<uint32_t, 4> interpreter::philox(std::array<uint32_t, 4> counter,
                                            std::array<uint32_t, 2> key) {
  for (int round = 0; round < 7; ++round) {
    const uint64_t even = uint64_t(counter[0]) * 0xd2511f53,
                   odd = uint64_t(counter[2]) * 0xcd9e8d57;
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(even)};
    key = {key[0] + 0x9e3779b9, key[1] + 0xbb67ae85};
  }
  return counter;
}

uint16_t interpreter::randomBits(int64_t seed, int64_t offset, int64_t index, unsigned width) {
  auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  auto high = [](int64_t value) { return static_cast<uint32_t>(uint64_t(value) >> 32); };
  const int64_t block = index / 16, place = index % 16;
  const auto words =
      philox({low(block), high(block), low(offset), high(offset)}, {low(seed), high(seed)});
  auto byte = [&](int64_t i) { return words[place / 4] >> i % 4 * 8 & 0xff; };
  const uint32_t own = byte(place);
  return static_cast<uint16_t>(width == 8 ? own : own << 8 | byte(place + 1));
}
