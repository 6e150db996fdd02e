//===- HeldOutTest.cpp - A user's own op comes out as good ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/heldout/Programs.h"
#include "tests/matrix/Reference.h"
#include "tests/matrix/Values.h"
#include "tests/text/Purity.h"

#include <gmock/gmock.h>

using namespace eider;
using ::testing::IsEmpty;

namespace {
CompileOptions optionsFor(const std::string &target, int64_t hidden) {
  CompileOptions options;
  options.target = target;
  options.dims = {{"hidden", hidden}};
  return options;
}

/// The program on values that follow from `seed`.
matrix::Case caseOf(const Program &program, const Dims &dims, matrix::Layout layout,
                    uint64_t seed) {
  matrix::Case made{program, optionsFor("", dims.at("hidden")), {}, dims, layout};
  matrix::ValueSource values("normal", seed);
  for (const Signature::Tensor &tensor : program.signature().tensors) {
    if (tensor.role == Signature::Role::Output)
      continue;
    std::vector<int64_t> shape;
    for (const std::string &extent : tensor.shape)
      shape.push_back(extent == "2 * hidden" ? 2 * dims.at("hidden") : dims.at(extent));
    made.inputs.push_back(values.tensor(tensor.name, tensor.dtype, shape));
  }
  return made;
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// The kernel of the variant `contiguous`, which is named for the program.
std::string kernelOf(const Program &program, const std::string &text) {
  size_t begin = text.find("void " + program.name() + "(");
  return begin == text.npos ? "" : text.substr(begin, text.find("\n}\n", begin) - begin);
}
} // namespace

TEST(HeldOut, AgreeWithTheReference) {
  matrix::Harness harness(matrix::testDevice());
  std::vector<matrix::Case> cases;
  std::vector<std::string> variants;
  for (const Program &program : heldout::programs())
    for (int64_t hidden : {192, 131})
      for (const std::string variant : {"few_rows", "contiguous", "aligned", "general"}) {
        if (variant == "aligned" && hidden == 131)
          continue; // rows of odd many begin anywhere
        const matrix::Layout layout = variant == "aligned"   ? matrix::apart[0]
                                      : variant == "general" ? matrix::apart[1]
                                                             : matrix::Layout();
        cases.push_back(
            caseOf(program, {{"tokens", 37}, {"hidden", hidden}}, layout, cases.size()));
        cases.back().forAnyRows = variant == "contiguous";
        variants.push_back(variant);
      }
  for (const matrix::Case &given : cases)
    harness.add(given);
  harness.build();
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(harness.variantOf(i), variants[i]) << cases[i].program.name() << " case " << i;
  for (size_t i = 0; i < cases.size(); ++i)
    for (const Comparison &comparison : compare(cases[i].program, cases[i].inputs, harness.run(i)))
      EXPECT_EQ(comparison.wrong, 0)
          << cases[i].program.name() << " case " << i << ": " << comparison.firstWrong;
}

TEST(HeldOut, TextsArePure) {
  for (const Program &program : heldout::programs())
    for (int64_t hidden : {192, 131, 8192}) {
      std::string text = emit(program, optionsFor("sm_90", hidden), Stage::Cuda);
      EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
      EXPECT_THAT(text::wideLines(text), IsEmpty());
    }
}

/// One kernel a variant, that reads each matrix once and writes each once, as the library's ops do.
TEST(HeldOut, EachMatrixMovesOnce) {
  struct Moves {
    Program program;
    size_t loads, stores;
  };
  for (const Moves &moves :
       {Moves{heldout::blend(bf16), 1, 1}, Moves{heldout::stretch(bf16, {1, whole}), 1, 1},
        Moves{heldout::gatedState(bf16), 3, 2}}) {
    Executable executable = compile(moves.program, optionsFor("sm_90", 3072));
    EXPECT_EQ(countOf(executable.contract, "\"entry\""), countOf(executable.contract, "\"source\""))
        << "launches and variants";
    std::string kernel =
        kernelOf(moves.program, emit(moves.program, optionsFor("sm_90", 3072), Stage::Cuda));
    EXPECT_EQ(countOf(kernel, "row.load("), moves.loads) << kernel;
    EXPECT_EQ(countOf(kernel, "row.store("), moves.stores) << kernel;
  }
}

TEST(HeldOut, NvrtcCompilesThem) {
  CacheOptions noCache;
  noCache.enabled = false;
  for (const char *target : {"sm_75", "sm_90a", "sm_120a"})
    for (const Program &program :
         {heldout::blend(bf16), heldout::stretch(f32, {32, 32}), heldout::gatedState(bf16)})
      try {
        std::string text = emit(program, optionsFor(target, 192), Stage::Cuda);
        EXPECT_FALSE(assemble(text, target, ImageKind::Cubin, noCache).entries.empty());
      } catch (const Error &error) {
        if (error.kind() == ErrorKind::Machine)
          GTEST_SKIP() << error.what();
        ADD_FAILURE() << target << " " << program.name() << ": " << error.what();
      }
}
