//===- tests/unit/runtime/ArgumentsTest.cpp -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Arguments.h"
#include "tests/unit/runtime/Complaint.h"
#include "tests/unit/runtime/Samples.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

using namespace eider;
using detail::ArgumentChecker;
using detail::TensorFacts;

namespace {

const void *at(uint64_t address) { return reinterpret_cast<const void *>(address); }

/// The checker of the sample kernel `scale`: x, y [tokens, hidden], which [tokens].
struct Checked {
  Checked(int64_t tokens, int64_t hidden)
      : checker(contract, {{tokens, hidden}, {tokens, hidden}, {tokens}}) {}

  /// The error's text; empty if all is well.
  std::string check(std::vector<TensorArg> tensors, uint64_t workspace = 0, size_t bytes = 0) {
    try {
      checker.check(tensors, at(workspace), bytes, facts);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request);
      return error.what();
    }
    return "";
  }

  contract::Contract contract = scaleContract();
  ArgumentChecker checker;
  TensorFacts facts;
};

TEST(Arguments, SoundTensors) {
  Checked checked(4, 8);
  EXPECT_EQ(checked.check({{at(0x1000)}, {at(0x2000)}, {at(0x3000)}}), "");
  EXPECT_TRUE(checked.facts[0].contiguous);
  EXPECT_EQ(checked.facts[0].alignment & 31, 0u); // rows of 32 bytes
  EXPECT_NE(checked.facts[0].alignment & 63, 0u);
  EXPECT_EQ(checked.facts[0].end - checked.facts[0].begin, 4 * 8 * 4u);
}

TEST(Arguments, Strides) {
  Checked checked(4, 8);
  const int64_t padded[] = {10, 1}, transposed[] = {1, 4}, same[] = {8, 1};
  EXPECT_EQ(checked.check({{at(0x1000), padded}, {at(0x2000)}, {at(0x3000)}}), "");
  EXPECT_FALSE(checked.facts[0].contiguous);
  EXPECT_TRUE(checked.facts[0].unitStride);
  EXPECT_EQ(checked.facts[0].strides[0], 10);
  EXPECT_EQ(checked.facts[0].alignment & 7, 0u); // 10 floats are 40 bytes
  EXPECT_NE(checked.facts[0].alignment & 15, 0u);
  EXPECT_EQ(checked.facts[0].end - checked.facts[0].begin, (3 * 10 + 8) * 4u);
  EXPECT_EQ(checked.check({{at(0x1000), transposed}, {at(0x2000)}, {at(0x3000)}}), "");
  EXPECT_FALSE(checked.facts[0].unitStride);
  EXPECT_EQ(checked.check({{at(0x1000), same}, {at(0x2000)}, {at(0x3000)}}), "");
  EXPECT_TRUE(checked.facts[0].contiguous);
}

TEST(Arguments, ADimOfOneMayHaveAnyStride) {
  Checked checked(1, 8);
  const int64_t odd[] = {-77, 1};
  EXPECT_EQ(checked.check({{at(0x1000), odd}, {at(0x2000)}, {at(0x3000)}}), "");
  EXPECT_TRUE(checked.facts[0].contiguous);
  EXPECT_EQ(checked.facts[0].alignment & 15, 0u);
}

TEST(Arguments, BadTensorsAreNamed) {
  Checked checked(4, 8);
  const int64_t negative[] = {-8, 1}, one[] = {1}, narrow[] = {7, 1}, zero[] = {0, 1},
                far[] = {INT64_MAX, 1};
  const TensorArg x{at(0x1000)}, y{at(0x2000)}, which{at(0x3000)};
  expectComplaint(checked.check({x, y}), "2 tensors are given, 3 are needed");
  expectComplaint(checked.check({{nullptr}, y, which}), "scale: tensor 'x' is a null pointer");
  expectComplaint(checked.check({{at(0x1002)}, y, which}),
                  "tensor 'x' is not aligned to its elements of 4 bytes");
  expectComplaint(checked.check({{at(0x1000), negative}, y, which}), "negative stride -8");
  expectComplaint(checked.check({{at(0x1000), one}, y, which}), "has 1 strides but 2 dimensions");
  expectComplaint(checked.check({{at(0x1000), far}, y, which}), "63 bits");
  expectComplaint(checked.check({x, {at(0x2000), narrow}, which}),
                  "tensor 'y' is written and overlaps itself");
  expectComplaint(checked.check({x, {at(0x2000), zero}, which}), "overlaps itself");
  EXPECT_EQ(checked.check({{at(0x1000), zero}, y, which}), ""); // a broadcast input is only read
  expectComplaint(checked.check({{at(UINT64_MAX - 15)}, y, which}), "address space");
}

TEST(Arguments, OverlapIsRefused) {
  Checked checked(4, 8); // 128 bytes each
  const TensorArg which{at(0x3000)};
  expectComplaint(checked.check({{at(0x1000)}, {at(0x1000)}, which}),
                  "tensor 'y' overlaps tensor 'x'");
  expectComplaint(checked.check({{at(0x1000)}, {at(0x107c)}, which}), "overlaps");
  expectComplaint(checked.check({{at(0x107c)}, {at(0x1000)}, which}), "overlaps");
  EXPECT_EQ(checked.check({{at(0x1000)}, {at(0x1080)}, which}), "");
  expectComplaint(checked.check({{at(0x1000)}, {at(0x2000)}, which}, 0x1040, 16),
                  "'x' overlaps the workspace");
  EXPECT_EQ(checked.check({{at(0x1000)}, {at(0x2000)}, which}, 0x1080, 16), "");
}

TEST(Arguments, DeclaredAliasesMustBeIdentical) {
  Checked checked(4, 8);
  checked.contract.mayAlias = {{1, 0}};
  const int64_t padded[] = {9, 1};
  const TensorArg which{at(0x3000)};
  EXPECT_EQ(checked.check({{at(0x1000)}, {at(0x1000)}, which}), "");
  expectComplaint(checked.check({{at(0x1000)}, {at(0x1004)}, which}), "overlaps");
  expectComplaint(checked.check({{at(0x1000), padded}, {at(0x1000)}, which}), "overlaps");
  EXPECT_EQ(checked.check({{at(0x1000), padded}, {at(0x1000), padded}, which}), "");
}

TEST(Arguments, ColumnsOfOneMatrixDoNotOverlap) {
  Checked checked(4, 8);
  const int64_t pitch[] = {16, 1};
  const TensorArg which{at(0x3000)};
  EXPECT_EQ(checked.check({{at(0x1000), pitch}, {at(0x1020), pitch}, which}), "");
  EXPECT_EQ(checked.check({{at(0x1020), pitch}, {at(0x1000), pitch}, which}), "");
  expectComplaint(checked.check({{at(0x1000), pitch}, {at(0x101c), pitch}, which}), "overlaps");
}

TEST(Arguments, NothingIsTouchedWithoutElements) {
  Checked checked(0, 8);
  EXPECT_EQ(checked.check({{nullptr}, {nullptr}, {nullptr}}), "");
}

TEST(Arguments, TooManyBytes) {
  EXPECT_THROW(Checked(INT64_MAX, 2), Error);
  EXPECT_THROW(Checked(INT64_MAX / 2, 1), Error);
}

/// Byte addresses of all elements of a matrix.
std::set<uint64_t> bytesOf(uint64_t base, int64_t rows, int64_t columns, int64_t pitch) {
  std::set<uint64_t> bytes;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns * 4; ++j)
      bytes.insert(base + i * pitch * 4 + j);
  return bytes;
}

RC_GTEST_PROP(Arguments, OverlapIsNeverMissed, ()) {
  const int64_t rows = *rc::gen::inRange(1, 5), columns = *rc::gen::inRange(1, 6);
  const int64_t pitchX = *rc::gen::inRange<int64_t>(columns, 14),
                pitchY = *rc::gen::inRange<int64_t>(columns, 14);
  const uint64_t x = 0x1000, y = x - 200 + 4 * *rc::gen::inRange(0, 100);
  Checked checked(rows, columns);
  const int64_t strideX[] = {pitchX, 1}, strideY[] = {pitchY, 1};
  const bool accepted = checked.check({{at(x), strideX}, {at(y), strideY}, {at(0x9000)}}).empty();
  const auto bytesX = bytesOf(x, rows, columns, pitchX), bytesY = bytesOf(y, rows, columns, pitchY);
  bool overlap = false;
  for (uint64_t byte : bytesX)
    overlap |= bytesY.count(byte) != 0;
  RC_ASSERT(!(accepted && overlap));
  // Decided exactly, but where a row of one lies across two of the other.
  const int64_t distance = static_cast<int64_t>(y > x ? y - x : x - y) / 4;
  if (pitchX == pitchY && rows > 1)
    RC_ASSERT(accepted || overlap || distance % pitchX + columns > pitchX);
}

} // namespace
