//===- tests/unit/runtime/Sha256Test.cpp ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Sha256.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace eider;

namespace {

// FIPS 180-4's examples, and the message of a million letters of its appendix.
TEST(Sha256, Standard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

RC_GTEST_PROP(Sha256, PiecesGiveTheSameDigest, (const std::vector<std::string> &pieces)) {
  Sha256 hash;
  std::string whole;
  for (const std::string &piece : pieces) {
    hash.update(piece);
    whole += piece;
  }
  RC_ASSERT(hash.hex() == sha256(whole));
}

TEST(Sha256, FieldsDoNotRunIntoEachOther) {
  Sha256 a, b;
  a.field("ab"), a.field("c");
  b.field("a"), b.field("bc");
  EXPECT_NE(a.hex(), b.hex());
}

} // namespace
