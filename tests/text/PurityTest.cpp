//===- PurityTest.cpp - Every emitted text is pure ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/text/Purity.h"
#include "tests/Share.h"
#include "tests/text/Product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>

using namespace eider;
using namespace eider::text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

//===-- The check itself --------------------------------------------------===//

static const char *pureText = R"(#include "eider/formats/e4m3.cuh"
#include "eider/tile/row.cuh"

using namespace eider;

// quantize: reads x bf16 [tokens, hidden] · a header
extern "C" __global__ __launch_bounds__(64) void quantize(
    const bf16 *x, float eps, e4m3 *y, float *y_scale, int64 tokens) {
  using Row = RowTile</*threads=*/64, /*vector=*/16, /*columns=*/1024>;
  using E4m3 = Codec<e4m3, hardware>;
  for (const Row row : Row::over(tokens)) {
    const auto x_row = row.load<8>(x);
    const float total = row.sum(eider::to<float>(x_row)) / 1024.0f + 9.99999997e-7f + 1e+20f;
    row.store(y, E4m3::encode_quotient(x_row, total - -eps));
    row.store_groups<128>(y_scale, eider::select(total == 0.0f, 1.0f, total));
  }
}
)";

/// The complaints about the sample with `from` replaced.
static std::vector<std::string> complaintsWith(const std::string &from, const std::string &to) {
  std::string text = pureText;
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return impurities(text.replace(at, from.size(), to));
}

TEST(Purity, TakesAPureText) { EXPECT_THAT(impurities(pureText), IsEmpty()); }

TEST(Purity, RefusesAssembly) {
  EXPECT_THAT(complaintsWith("row.store(", "asm(\"trap;\"); row.store("),
              ElementsAre("line 14: a call of 'asm'", "line 14: a string"));
}

TEST(Purity, RefusesIntrinsics) {
  EXPECT_THAT(complaintsWith("row.sum(", "__shfl_xor_sync("),
              ElementsAre(HasSubstr("'__shfl_xor_sync' is the compiler's")));
  EXPECT_THAT(complaintsWith("total -", "threadIdx.x -"),
              ElementsAre(HasSubstr("unknown name 'threadIdx'"), HasSubstr("'threadIdx.x'")));
}

TEST(Purity, RefusesNamesBeyondTheVocabulary) {
  EXPECT_THAT(complaintsWith("eider::select", "eider::shuffle"),
              ElementsAre(HasSubstr("'eider::shuffle' is not in the vocabulary")));
  EXPECT_THAT(complaintsWith("row.sum", "row.product"),
              ElementsAre(HasSubstr("'row.product' is not in the vocabulary")));
  // A call's result has members only where it is a tile.
  EXPECT_THAT(complaintsWith("row.sum(", "row.next().sum("), IsEmpty());
  EXPECT_THAT(complaintsWith("row.sum(", "row.next().shuffle("), testing::SizeIs(1));
  EXPECT_THAT(complaintsWith("row.sum(", "row.over().sum("), testing::Not(IsEmpty()));
  EXPECT_THAT(complaintsWith("E4m3::encode_quotient", "E4m3::encode_fast"),
              ElementsAre(HasSubstr("'E4m3::encode_fast' is not in the vocabulary")));
  EXPECT_THAT(complaintsWith("eider::select", "std::select"), testing::Not(IsEmpty()));
  EXPECT_THAT(complaintsWith("eider::select", "fminf"),
              ElementsAre(HasSubstr("a call of 'fminf'")));
  EXPECT_THAT(complaintsWith("total - -eps", "totel - -eps"),
              ElementsAre(HasSubstr("unknown name 'totel'")));
}

TEST(Purity, RefusesNumbersThatAreNoPlainDecimals) {
  for (const char *number : {"0x3c", "010", "1024.0", "1024u", "0b1"})
    EXPECT_THAT(complaintsWith("1024.0f", number), ElementsAre(HasSubstr("is no plain decimal")))
        << number;
}

TEST(Purity, RefusesOtherDirectivesAndFiles) {
  EXPECT_THAT(complaintsWith("eider/tile/row.cuh", "cuda_fp8.h"),
              ElementsAre(HasSubstr("no include of the library")));
  EXPECT_THAT(complaintsWith("eider/tile/row.cuh", "eider/tile/../../x.cuh"),
              ElementsAre(HasSubstr("no include of the library")));
  EXPECT_THAT(complaintsWith("eider/tile/row.cuh", "eider/tile/none.cuh"),
              ElementsAre(HasSubstr("has no file")));
  EXPECT_THAT(complaintsWith("using namespace eider;", "#pragma unroll"),
              ElementsAre(HasSubstr("a directive")));
}

TEST(Purity, RefusesCommentsThatCouldEndElsewhere) {
  EXPECT_THAT(complaintsWith("a header", "a header \\"), ElementsAre(HasSubstr("a backslash")));
  EXPECT_THAT(complaintsWith("/*vector=*/", "/* eight */"), testing::Not(IsEmpty()));
}

TEST(Purity, FindsWideLines) {
  std::string line(109, 'x');
  EXPECT_THAT(wideLines("// " + line + "\n" + line + "·"), ElementsAre("// " + line));
}

TEST(Purity, KnowsWhatAPartOfAReductionCanDo) {
  OpParameters parameters;
  parameters.block = "*x*";
  CompileOptions options;
  options.dims = {{"hidden", 4096}};
  std::string text = emit(libraryOp("quantize", parameters), options, Stage::Cuda);
  EXPECT_THAT(impurities(text), IsEmpty());
  text.replace(text.find("amax.add("), 9, "amax.sum(");
  EXPECT_THAT(impurities(text), ElementsAre(HasSubstr("'amax.sum' is not in the vocabulary")));
}

/// No cell of the product is so wide.
TEST(Purity, TakesTheTextOfARowThatABlockDoesNotHold) {
  OpParameters parameters;
  parameters.block = "1x*";
  CompileOptions options;
  options.dims = {{"hidden", 100000}};
  const std::string text = emit(libraryOp("quantize", parameters), options, Stage::Cuda);
  EXPECT_THAT(text, HasSubstr("__cluster_dims__(8, 1, 1)"));
  EXPECT_THAT(impurities(text), IsEmpty());
  EXPECT_THAT(wideLines(text), IsEmpty());
}

//===-- The design --------------------------------------------------------===//

TEST(Purity, TheDesignSaysEveryWord) {
  std::ifstream file(EIDER_TEXT_DESIGN);
  std::stringstream design;
  design << file.rdbuf();
  ASSERT_THAT(design.str(), HasSubstr("# The emitted text"));
  const Vocabulary &names = vocabulary();
  for (const auto *set :
       {&names.functions, &names.members, &names.statics, &names.partials, &names.codec})
    for (const std::string &name : *set)
      EXPECT_TRUE(std::regex_search(design.str(), std::regex("\\b" + name + "\\b"))) << name;
}

/// A tensor of a word's name has another one in the text, if a program may have it at all: it would
/// hide what the text means.
TEST(Purity, NoTensorHidesAWord) {
  size_t renamed = 0;
  for (const std::string &word : vocabulary().words) {
    std::optional<Program> program;
    try {
      Builder b("copy_of");
      const Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
      b.output("y", b.input(word, bf16, {tokens, hidden}));
      program = b.build();
    } catch (const Error &) {
      continue;
    }
    CompileOptions options;
    options.target = "sm_90";
    options.dims = {{"hidden", 64}};
    EXPECT_THAT(emit(*program, options, Stage::Cuda), HasSubstr("const bf16 *" + word + "_,"));
    ++renamed;
  }
  EXPECT_GT(renamed, 20u);
}

//===-- The product -------------------------------------------------------===//

TEST(Product, EveryTextIsPureAndItsLinesFit) {
  constexpr int shown = 5;
  size_t bad = 0, texts = 0, next = 0;
  for (const matrix::Cell &cell : productOfTexts()) {
    if (!isInShare(next++))
      continue;
    const std::string text = textOf(cell, "sm_90");
    ASSERT_THAT(text, HasSubstr("__global__")) << cell.name();
    ++texts;
    std::vector<std::string> found = impurities(text);
    std::ranges::copy(wideLines(text), std::back_inserter(found));
    if (!found.empty() && ++bad <= shown)
      ADD_FAILURE() << cell.name() << "\n" << ::testing::PrintToString(found);
  }
  EXPECT_EQ(bad, 0u) << "of " << texts << " texts";
  EXPECT_GT(texts, 5000u / testShare());
}
