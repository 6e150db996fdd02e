//===- bench/measure/Data.cpp - Data that is worth timing on --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/measure/Data.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace eider::bench {
namespace {

/// After so many elements the data repeat: drawing more would take longer than the measurement.
constexpr int64_t period = 1 << 20;

/// The bits of a normally distributed value, rounded towards zero.
uint32_t drawBits(DType type, std::mt19937_64 &generator, std::normal_distribution<float> &normal) {
  if (sizeOf(type) == 1) // 0x08 clear, 0x01 set: no NaN in any FP8 format, nor in E8M0
    return (static_cast<uint32_t>(generator()) & 0xf7) | 0x01;
  const float value = normal(generator);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (type == DType::bf16)
    return bits >> 16;
  if (type == DType::f16) { // the exponent rebiased, the mantissa cut
    const int exponent = std::clamp<int>(static_cast<int>(bits >> 23 & 0xff) - 112, 1, 30);
    return (bits >> 16 & 0x8000u) | static_cast<uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ffu);
  }
  return bits;
}

} // namespace

void fillWithData(const Device &device, void *pointer, DType type, int64_t elements,
                  uint64_t seed) {
  if (type == DType::i32 || type == DType::i64)
    throw Error(ErrorKind::Request, "no data can be made up for an integer input", "",
                "measure an op whose inputs are floats or FP8 codes");
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<std::byte> data(sizeOf(type) * std::min(elements, period));
  for (size_t at = 0; at < data.size(); at += sizeOf(type)) {
    const uint32_t bits = drawBits(type, generator, normal);
    std::memcpy(&data[at], &bits, sizeOf(type));
  }
  device.upload(pointer, data.data(), data.size());
  const size_t bytes = sizeOf(type) * static_cast<size_t>(elements);
  auto *base = static_cast<std::byte *>(pointer);
  for (size_t filled = data.size(); filled && filled < bytes; filled *= 2)
    device.copy(base + filled, base, std::min(filled, bytes - filled));
  device.synchronize();
}

} // namespace eider::bench
