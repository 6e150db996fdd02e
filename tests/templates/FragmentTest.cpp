//===- FragmentTest.cpp - The simulator's products of matrices ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Which lane has what of each operand, as the PTX ISA says it of mma.m16n8k16, mma.m16n8k32,
// ldmatrix and wgmma; and that products are exact, and rounded once, where they are to be.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Simulator.h"

#include "eider/formats/e4m3.cuh"
#include "eider/formats/e5m2.cuh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

using namespace eider;

namespace {

/// A kernel as the simulator wants it, in one block of one warp, or of a warpgroup.
template <auto kernel> void entry(const EiderHostAbi *abi, void **parameters) {
  arch::enter(abi, kernel, parameters);
}
template <auto kernel, unsigned threads, class... Parameters> void run(Parameters... parameters) {
  void *addresses[] = {static_cast<void *>(&parameters)...};
  host::launch(entry<kernel>, {.grid = 1, .block = threads}, addresses, {.seed = 7});
}

//===-- Operands ----------------------------------------------------------===//

/// Elements of 16 bits, of which two are a word, and of 8 bits, of which four are.
struct OfF16 {
  static constexpr int bits = 16, depth = 16;
  static uint32 code(float x) { return arch::f16x2_from(x, 0.0f) & 0xffffu; }
  static void multiply(float *c, const uint32 *a, const uint32 *b) {
    arch::multiply_add_f16(c, a, b, arch::Site::current());
  }
};
struct OfBf16 {
  static constexpr int bits = 16, depth = 16;
  static uint32 code(float x) { return arch::as_bits(x) >> 16; } // of what bf16 has
  static void multiply(float *c, const uint32 *a, const uint32 *b) {
    arch::multiply_add_bf16(c, a, b, arch::Site::current());
  }
};
template <class A, class B, uint32 (*codes)(float, float, float, float)> struct OfCodes {
  static constexpr int bits = 8, depth = 32;
  static uint32 code(float x) { return codes(x, 0, 0, 0) & 0xffu; }
  static void multiply(float *c, const uint32 *a, const uint32 *b) {
    arch::multiply_add_codes<A, B>(c, a, b, arch::Site::current());
  }
};
using OfE4m3 = OfCodes<e4m3, e4m3, arch::e4m3x4_from>;
using OfE5m2 = OfCodes<e5m2, e5m2, arch::e5m2x4_from>;

/// a is 16 × depth, b depth × 8 and c 16 × 8, each by rows. Lane 4 g + t has of register r of a row
/// g + 8 (r mod 2) and of b column g, of both the elements from (t + 4 (r / 2)) · of_word of the
/// depth on (of b r for r / 2); of c rows g and g + 8, columns 2 t and 2 t + 1.
template <class Of> void multiply(const float *a, const float *b, float *c) {
  constexpr int of_word = 32 / Of::bits;
  const int g = arch::thread_index() / 4, t = arch::thread_index() % 4;
  uint32 of_a[4] = {}, of_b[2] = {};
  float sums[4];
  for (int r = 0; r < 4; ++r)
    for (int e = 0; e < of_word; ++e)
      of_a[r] |= Of::code(a[(g + r % 2 * 8) * Of::depth + (r / 2 * 4 + t) * of_word + e])
                 << e * Of::bits;
  for (int r = 0; r < 2; ++r)
    for (int e = 0; e < of_word; ++e)
      of_b[r] |= Of::code(b[((r * 4 + t) * of_word + e) * 8 + g]) << e * Of::bits;
  for (int i = 0; i < 4; ++i)
    sums[i] = c[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
  Of::multiply(sums, of_a, of_b);
  for (int i = 0; i < 4; ++i)
    c[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i];
}

template <class Of>
std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b,
                           std::vector<float> c = std::vector<float>(16 * 8)) {
  run<multiply<Of>, 32>(a.data(), b.data(), c.data());
  return c;
}

template <class Of> class Fragments : public testing::Test {};
using Operands = testing::Types<OfF16, OfBf16, OfE4m3, OfE5m2>;
TYPED_TEST_SUITE(Fragments, Operands);

/// 1 at one place of a leaves of b one row, and each element of that is another.
TYPED_TEST(Fragments, EachElementIsWhereTheInstructionHasIt) {
  constexpr int depth = TypeParam::depth;
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < depth; ++k) {
      std::vector<float> a(16 * depth), b(depth * 8), expected(16 * 8);
      a[row * depth + k] = 1;
      for (int other = 0; other < depth; ++other) // all differ in their column, the row from others
        for (int column = 0; column < 8; ++column)
          b[other * 8 + column] = std::ldexp(other == k ? 1.0f : 1.5f, column - 4);
      for (int column = 0; column < 8; ++column)
        expected[row * 8 + column] = std::ldexp(1.0f, column - 4);
      EXPECT_EQ(product<TypeParam>(a, b), expected) << row << " " << k;
    }
}

/// What was there is added.
TYPED_TEST(Fragments, SumsGoOn) {
  std::vector<float> a(16 * TypeParam::depth, 1), b(TypeParam::depth * 8, 1), c(16 * 8);
  for (size_t i = 0; i < c.size(); ++i)
    c[i] = static_cast<float>(i);
  const std::vector<float> sums = product<TypeParam>(a, b, c);
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(sums[i], static_cast<float>(TypeParam::depth) + c[i]);
}

//===-- Products ----------------------------------------------------------===//

/// 2^24 + 1 - 2^24, of which a sum in f32 would lose the 1, in every order of the three.
template <class Of> void expectOneRounding() {
  for (const auto &[large, one, minus] : {std::array{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}) {
    std::vector<float> a(16 * Of::depth), b(Of::depth * 8);
    for (int row = 0; row < 16; ++row) {
      a[row * Of::depth + large] = 4096;
      a[row * Of::depth + one] = 1;
      a[row * Of::depth + minus] = -4096;
    }
    for (int column = 0; column < 8; ++column) {
      b[large * 8 + column] = b[minus * 8 + column] = 4096;
      b[one * 8 + column] = 1;
    }
    EXPECT_EQ(product<Of>(a, b), std::vector<float>(16 * 8, 1));
  }
}
TEST(Products, OfHalvesAreExactAndRoundedOnce) {
  expectOneRounding<OfF16>();
  expectOneRounding<OfBf16>();
}

/// Of codes 13 bits below the largest term's first are kept, and no more: 2^8 + 2^-5 is, 2^8 + 2^-6
/// is not.
TEST(Products, OfCodesKeepSomeBitsOfTheLargest) {
  for (const auto &[small, expected] :
       {std::pair{0x1p-5f, 256 + 0x1p-5f}, {0x1p-6f, 256.0f}, {-0x1p-6f, 256.0f}}) {
    std::vector<float> a(16 * 32), b(32 * 8, 1);
    for (int row = 0; row < 16; ++row) {
      a[row * 32 + 3] = 256;
      a[row * 32 + 20] = small;
    }
    EXPECT_EQ(product<OfE4m3>(a, b), std::vector<float>(16 * 8, expected)) << small;
    EXPECT_EQ(product<OfE5m2>(a, b), std::vector<float>(16 * 8, expected)) << small;
  }
}

TEST(Products, NanAndInfinitiesStay) {
  std::vector<float> a(16 * 16, 1), b(16 * 8, 1);
  a[2 * 16 + 5] = INFINITY;
  a[3 * 16 + 7] = NAN;
  const std::vector<float> sums = product<OfF16>(a, b);
  for (int i = 0; i < 16 * 8; ++i)
    if (i / 8 == 3)
      EXPECT_TRUE(std::isnan(sums[i])) << i;
    else
      EXPECT_EQ(sums[i], i / 8 == 2 ? INFINITY : 16) << i;
}

//===-- Matrices from shared memory ---------------------------------------===//

alignas(16) unsigned short shared[4 * 8 * 8];

/// Row i of matrix m is what lane 8 m + i says; lane 4 g + t has of each row g columns 2 t and
/// 2 t + 1, or of the transposed one.
template <bool transposed> void load(uint32 *loaded) {
  const int lane = arch::thread_index();
  uint32 matrices[4];
  if constexpr (transposed)
    arch::load_matrices_transposed(shared + lane * 8, matrices, arch::Site::current());
  else
    arch::load_matrices(shared + lane * 8, matrices, arch::Site::current());
  for (int m = 0; m < 4; ++m)
    loaded[lane * 4 + m] = matrices[m];
}
template <bool transposed> void expectMatrices() {
  for (int i = 0; i < 256; ++i)
    shared[i] = static_cast<unsigned short>(i);
  std::vector<uint32> loaded(32 * 4);
  run<load<transposed>, 32>(loaded.data());
  for (int lane = 0; lane < 32; ++lane)
    for (int m = 0; m < 4; ++m)
      for (int half = 0; half < 2; ++half) {
        const int row = lane / 4, column = lane % 4 * 2 + half;
        EXPECT_EQ(loaded[lane * 4 + m] >> half * 16 & 0xffffu,
                  static_cast<uint32>(m * 64 + (transposed ? column * 8 + row : row * 8 + column)));
      }
}
TEST(Matrices, AreLoadedByRowsOrColumns) {
  expectMatrices<false>();
  expectMatrices<true>();
}

//===-- Of a warpgroup ----------------------------------------------------===//

alignas(1024) unsigned short columns[64 * 64]; // n × k, of bf16, 128 bytes a row

/// c, 64 × 64, of a and the 64 columns: warp w has rows 16 w to 16 w + 15 as a warp has its 16.
void multiplyByWarpgroup(const float *a, float *c) {
  const int warp = arch::thread_index() / 32, g = arch::thread_index() % 32 / 4,
            t = arch::thread_index() % 4;
  uint32 of_a[4] = {};
  for (int r = 0; r < 4; ++r)
    for (int e = 0; e < 2; ++e)
      of_a[r] |= OfBf16::code(a[(warp * 16 + g + r % 2 * 8) * 16 + (r / 2 * 4 + t) * 2 + e])
                 << e * 16;
  float sums[8][4] = {};
  arch::begin_product_of_halves<bf16>(sums, of_a, arch::Swizzled<128>(columns, 64 * 128),
                                      /*adds=*/false, arch::Site::current());
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j)
      c[(warp * 16 + g + j / 2 * 8) * 64 + i * 8 + 2 * t + j % 2] = sums[i][j];
}

/// Of 128-byte rows each 16 bytes lie where their number is xored with the row's, modulo 8.
TEST(Warpgroups, HaveRowsOfWarpsAndSwizzledColumns) {
  std::vector<float> a(64 * 16), c(64 * 64);
  for (int row = 0; row < 64; ++row)
    for (int k = 0; k < 16; ++k)
      a[row * 16 + k] = static_cast<float>((row * 7 + k * 3) % 32 - 16);
  auto ofColumn = [](int n, int k) { return static_cast<float>((n * 5 + k * 11) % 64 - 32); };
  for (int n = 0; n < 64; ++n)
    for (int k = 0; k < 64; ++k)
      columns[n * 64 + (k / 8 ^ n % 8) * 8 + k % 8] =
          static_cast<unsigned short>(OfBf16::code(ofColumn(n, k)));
  run<multiplyByWarpgroup, 128>(a.data(), c.data());
  for (int row = 0; row < 64; ++row)
    for (int n = 0; n < 64; ++n) {
      float expected = 0;
      for (int k = 0; k < 16; ++k)
        expected += a[row * 16 + k] * ofColumn(n, k);
      ASSERT_EQ(c[row * 64 + n], expected) << row << " " << n;
    }
}

} // namespace
