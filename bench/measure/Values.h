//===- bench/measure/Values.h - What device memory holds --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// For checks in double beside what a kernel gives.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_MEASURE_VALUES_H
#define EIDER_BENCH_MEASURE_VALUES_H

#include "eider/compile.h"
#include "eider/runtime.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace eider::bench {

/// `count` values of device memory. Throws Error.
template <class T> std::vector<T> downloaded(const Device &device, const void *from, size_t count) {
  std::vector<T> values(count);
  device.download(values.data(), from, count * sizeof(T));
  return values;
}

inline double valueOfBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// The value of each code of E4M3, as the reference has it.
inline std::array<double, 256> valuesOfE4m3() {
  HostTensor codes = {"x", DType::e4m3, {1, 256}, std::vector<std::byte>(256)};
  for (size_t code = 0; code < 256; ++code)
    codes.data[code] = static_cast<std::byte>(code);
  const float one = 1;
  HostTensor scale = {"x_scale", DType::f32, {1, 1}, std::vector<std::byte>(sizeof one)};
  std::memcpy(scale.data.data(), &one, sizeof one);
  const HostTensor found =
      interpret(libraryOp("dequantize", {.dtype = "f32", .format = "e4m3", .block = "1x*"}),
                {codes, scale})
          .at(0);
  std::array<double, 256> values = {};
  for (size_t code = 0; code < 256; ++code) {
    float value;
    std::memcpy(&value, &found.data[4 * code], sizeof value);
    values[code] = value;
  }
  return values;
}

} // namespace eider::bench

#endif // EIDER_BENCH_MEASURE_VALUES_H
