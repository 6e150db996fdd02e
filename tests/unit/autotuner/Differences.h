//===- tests/unit/autotuner/Differences.h -----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_AUTOTUNER_DIFFERENCES_H
#define EIDER_TESTS_UNIT_AUTOTUNER_DIFFERENCES_H

#include "autotuner/measure/Check.h"

#include <gtest/gtest.h>

#include <limits>

namespace eider::tuning {

/// Whether `result` differs from `golden` by more than is allowed, both given as their bits.
template <class Bits>
bool differ(const Device &device, DType type, std::vector<Bits> result, std::vector<Bits> golden,
            const Allowed &allowed) {
  Tensors::Tensor tensor;
  tensor.name = "y";
  tensor.dtype = type;
  tensor.bytes = result.size() * sizeof(Bits);
  tensor.checked = device.allocate(tensor.bytes);
  tensor.golden = device.allocate(tensor.bytes);
  device.upload(tensor.checked, result.data(), tensor.bytes);
  device.upload(tensor.golden, golden.data(), tensor.bytes);
  const bool found = Differences(device).any(tensor, allowed);
  device.free(tensor.checked);
  device.free(tensor.golden);
  return found;
}

/// What every device must say of pairs that are near in steps, near in distance, or neither.
inline void testDifferences(const Device &device) {
  using H = std::vector<uint16_t>;
  using W = std::vector<uint32_t>;
  const Allowed none{}, steps{2, 0}, distance{2, 0x1p-6f};
  constexpr uint16_t zero = 0, one = 0x3f80, small = 0x3a80, // bf16: 2^-10
      negative = 0xba80, nan = 0x7fc0;
  EXPECT_FALSE(differ(device, DType::bf16, H{one, nan}, H{one, nan}, none));
  EXPECT_TRUE(differ(device, DType::bf16, H{one, one + 1}, H{one, one}, none));
  EXPECT_FALSE(differ(device, DType::bf16, H{one, one + 2}, H{one, one}, steps));
  EXPECT_TRUE(differ(device, DType::bf16, H{one, one + 3}, H{one, one}, steps));
  EXPECT_TRUE(differ(device, DType::bf16, H{zero, small}, H{zero, negative}, steps));
  EXPECT_FALSE(differ(device, DType::bf16, H{zero, small}, H{zero, negative}, distance));
  EXPECT_TRUE(differ(device, DType::bf16, H{one, one + 3}, H{one, one}, distance)) << "3 * 2^-7";
  EXPECT_TRUE(differ(device, DType::bf16, H{small}, H{zero}, distance)) << "0 is exact";
  EXPECT_TRUE(differ(device, DType::bf16, H{nan}, H{small}, distance));
  EXPECT_TRUE(differ(device, DType::bf16, H{small}, H{nan}, distance));
  // f16: 2^-10 and its negative; 1 and 1 + 2^-7.
  EXPECT_FALSE(differ(device, DType::f16, H{0x1400}, H{0x9400}, distance));
  EXPECT_FALSE(differ(device, DType::f16, H{0x3c08}, H{0x3c00}, distance));
  EXPECT_TRUE(differ(device, DType::f16, H{0x3c20}, H{0x3c00}, distance)) << "2^-5";
  EXPECT_FALSE(differ(device, DType::f32, W{0x3a800000}, W{0xba800000}, distance));
  EXPECT_TRUE(differ(device, DType::f32, W{0x3f850000}, W{0x3f800000}, distance));
  Comparison loose;
  loose.exact = false;
  loose.leastBound = 1;
  EXPECT_EQ(allowedOf(DType::bf16, loose).distance, 2);
  EXPECT_EQ(allowedOf(DType::i32, loose).distance, 0);
  EXPECT_EQ(allowedOf(DType::e4m3, loose).distance, 0);
  loose.mostBound = 4;
  EXPECT_EQ(allowedOf(DType::bf16, loose, Bound::Least).distance, 2);
  EXPECT_EQ(allowedOf(DType::bf16, loose, Bound::Most).distance, 8);
  loose.leastBound = 1e300;
  EXPECT_EQ(allowedOf(DType::f32, loose).distance, std::numeric_limits<float>::max());
  loose.exact = true;
  EXPECT_EQ(allowedOf(DType::f32, loose).steps, 0);
  using C = std::vector<uint8_t>;
  EXPECT_FALSE(differ(device, DType::e4m3, C{0x38}, C{0x39}, Allowed{1, 0}));
  EXPECT_TRUE(differ(device, DType::e4m3, C{0x38}, C{0x3a}, Allowed{1, 0}));
}

} // namespace eider::tuning

#endif // EIDER_TESTS_UNIT_AUTOTUNER_DIFFERENCES_H
