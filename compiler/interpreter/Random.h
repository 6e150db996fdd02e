//===- Random.h - The reference's own random numbers ------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_RANDOM_H
#define EIDER_INTERPRETER_RANDOM_H

#include <array>
#include <cstdint>

namespace eider::interpreter {

/// Philox4x32-7 of a counter and a key, least significant words first.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The 8 or 16 random bits of element `index` of a tensor: its own byte of the sixteen of
/// philox({index / 16, offset}, seed), and below it that of the next of four.
uint16_t randomBits(int64_t seed, int64_t offset, int64_t index, unsigned width);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_RANDOM_H
