//===- EmbeddedTemplatesTest.cpp - What is embedded, and its purity -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "templates/EmbeddedTemplates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

using namespace eider;

namespace {

TEST(EmbeddedTemplates, AreSortedAndNamedAsTextsIncludeThem) {
  const auto templates = embeddedTemplates();
  ASSERT_FALSE(templates.empty());
  for (size_t i = 0; i < templates.size(); ++i) {
    EXPECT_TRUE(std::string(templates[i].name).starts_with("eider/")) << templates[i].name;
    if (i > 0) {
      EXPECT_LT(std::string(templates[i - 1].name), templates[i].name);
    }
  }
  const auto has = [&](const char *name) {
    return std::any_of(templates.begin(), templates.end(),
                       [&](const EmbeddedTemplate &t) { return std::string(t.name) == name; });
  };
  for (const char *name : {"eider/tile/row.cuh", "eider/tile/block.cuh", "eider/formats/e4m3.cuh",
                           "eider/formats/e5m2.cuh", "eider/arch/host_abi.h"})
    EXPECT_TRUE(has(name)) << name;
}

TEST(EmbeddedTemplates, HaveADigest) {
  const std::string digest = templatesDigest();
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_EQ(digest.find_first_not_of("0123456789abcdef"), digest.npos) << digest;
}

/// Hardware is in arch/ alone: elsewhere no assembly, no name with two underscores, no file that is
/// not ours.
TEST(EmbeddedTemplates, KeepHardwareInArch) {
  for (const EmbeddedTemplate &file : embeddedTemplates()) {
    if (std::string(file.name).starts_with("eider/arch/"))
      continue;
    std::istringstream lines(file.text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      const std::string where = std::string(file.name) + ":" + std::to_string(++number);
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_EQ(code.find("__"), code.npos) << where << ": " << line;
      EXPECT_EQ(code.find("asm"), code.npos) << where << ": " << line;
      EXPECT_EQ(code.find("threadIdx"), code.npos) << where << ": " << line;
      if (code.starts_with("#include")) {
        EXPECT_TRUE(code.starts_with("#include \"eider/")) << where << ": " << line;
      }
    }
  }
}

} // namespace
