//===- CodecTest.cpp - Every check on a dense part of its domain ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "HostWalk.h"

#include <gtest/gtest.h>

using namespace eider::conformance;

namespace {

class Check : public testing::TestWithParam<HostCheck> {};

/// Domains up to 19 bits whole; larger ones by strides that are prime, so that every low and high
/// bit moves.
TEST_P(Check, HoldsOnADensePart) {
  const HostCheck &check = GetParam();
  const uint64_t stride = check.bits <= 19 ? 1 : 509;
  const Outcome outcome = walk(check, stride);
  EXPECT_EQ(outcome.wrong, 0u) << "first wrong input 0x" << std::hex << outcome.firstWrong
                               << ", largest error " << std::dec << outcome.largest << " of "
                               << check.bound;
}

INSTANTIATE_TEST_SUITE_P(Codecs, Check, testing::ValuesIn(hostChecks().begin(), hostChecks().end()),
                         [](const auto &info) { return std::string(info.param.name); });

/// All bf16 and f16 values as floats: what tensors of these types hold.
TEST(Encode, EveryNarrowValue) {
  for (const HostCheck &check : hostChecks()) {
    if (!std::string(check.name).starts_with("encode_e"))
      continue;
    for (uint32_t code = 0; code < 1u << 16; ++code)
      ASSERT_EQ(check.distance(code << 16), 0u) << check.name << " bf16 0x" << std::hex << code;
  }
}

/// The one significand for which a reciprocal's rest rounded to nearest puts a quotient on a tie.
TEST(Quotient, ByTheSignificandOfOnes) {
  int seen = 0;
  for (const HostCheck &check : hostChecks()) {
    if (!std::string(check.name).starts_with("divide_at_midpoint"))
      continue;
    ++seen;
    for (uint32_t code = 0; code < 1u << 7; ++code)
      EXPECT_EQ(check.distance(code << 23 | 0x7fffffu), 0u) << check.name << " code " << code;
  }
  EXPECT_EQ(seen, 5);
}

} // namespace
