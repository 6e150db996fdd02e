//===- tests/unit/runtime/CacheEntryTest.cpp ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Entry.h"
#include "runtime/cache/Sha256.h"

#include <gtest/gtest.h>

#include <set>

using namespace eider;

namespace {

std::string keyOfFields(const KeyFields &fields) { return keyOf(EntryKind::Kernel, fields); }

TEST(CacheEntry, FieldsDoNotRunIntoEachOther) {
  const std::set<std::string> keys = {
      keyOfFields({}),
      keyOfFields({{"a", ""}}),
      keyOfFields({{"", "a"}}),
      keyOfFields({{"a", "b"}}),
      keyOfFields({{"ab", ""}}),
      keyOfFields({{"a", "b"}, {"c", "d"}}),
      keyOfFields({{"a", "d"}, {"c", "b"}}),
      keyOfFields({{"a", std::string("b\0c", 3)}}),
      keyOf(EntryKind::Request, {{"a", "b"}}),
  };
  EXPECT_EQ(keys.size(), 9u);
  for (const std::string &key : keys)
    EXPECT_TRUE(isKey(key)) << key;
}

TEST(CacheEntry, TheOrderOfFieldsDoesNotMatter) {
  KeyFields forwards, backwards;
  for (int i = 0; i < 20; ++i) {
    forwards[std::to_string(i)] = std::to_string(i * i);
    backwards[std::to_string(19 - i)] = std::to_string((19 - i) * (19 - i));
  }
  EXPECT_EQ(keyOfFields(forwards), keyOfFields(backwards));
}

CacheEntry sample() {
  CacheEntry entry;
  entry.files = {{"kernel.cu", "text"}, {"kernel.cubin", std::string("\0\xff", 2)}};
  entry.info = R"({"log":"fine"})";
  entry.fields = {{"source", "x"}, {"target", "sm_90"}};
  return entry;
}

TEST(CacheEntry, MetaIsReadAsItWasWritten) {
  const std::string key = keyOfFields(sample().fields), text = metaText(key, sample());
  std::string problem;
  const auto meta = parseMeta(text, problem);
  ASSERT_TRUE(meta) << problem;
  EXPECT_EQ(problem, "");
  EXPECT_EQ(meta->key, key);
  EXPECT_EQ(meta->fields, sample().fields);
  EXPECT_EQ(meta->info, sample().info);
  ASSERT_EQ(meta->files.size(), 2u);
  EXPECT_EQ(meta->files.at("kernel.cu").sha256, sha256("text"));
  EXPECT_EQ(metaText(key, sample()), text);
}

TEST(CacheEntry, ALogThatIsNoUtf8IsWrittenAllTheSame) {
  CacheEntry entry = sample();
  entry.fields["note"] = "\xff\xfe";
  std::string problem;
  EXPECT_TRUE(parseMeta(metaText(keyOfFields(entry.fields), entry), problem)) << problem;
}

/// A text with its digest made right.
std::string sealed(const std::string &rest) {
  return "{\"sha256\": \"" + sha256(rest) + "\",\n" + rest;
}

TEST(CacheEntry, WhatIsSoundButNoEntryIsRefused) {
  const std::string key(64, 'a');
  const auto meta = [&](const std::string &files, const std::string &more = "") {
    return sealed(" \"schema\": 2, \"key\": \"" + key + "\", \"fields\": {}, \"info\": {}" + more +
                  ", \"files\": " + files + "}\n");
  };
  std::string problem;
  EXPECT_TRUE(parseMeta(meta("{}"), problem)) << problem;
  for (const char *name : {"../x", "/x", "..", ".x", "", "meta.json", "A"})
    EXPECT_FALSE(parseMeta(
        meta("{\"" + std::string(name) + "\": {\"bytes\": 1, \"sha256\": \"\"}}"), problem))
        << name;
  EXPECT_EQ(problem, "meta.json names what no entry has");
  EXPECT_FALSE(parseMeta(meta("[]"), problem));
  EXPECT_FALSE(parseMeta(meta("{\"x\": {\"bytes\": \"1\", \"sha256\": \"\"}}"), problem));
  EXPECT_FALSE(parseMeta(sealed(" \"schema\": 3}\n"), problem));
  EXPECT_EQ(problem, "meta.json is of another schema");
  EXPECT_FALSE(parseMeta(sealed(" \"key\": 1}\n"), problem));
  EXPECT_FALSE(parseMeta(meta("{}", ", \"deep\": " + std::string(100000, '[')), problem));
  EXPECT_FALSE(parseMeta("", problem));
  EXPECT_FALSE(parseMeta(meta("{}").substr(1), problem));
  EXPECT_EQ(problem, "meta.json is not as it was written");
}

} // namespace
