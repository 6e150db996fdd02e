//===- tests/unit/autotuner/OfflineTest.cpp -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/Offline.h"

#include "autotuner/store/Store.h"
#include "runtime/contract/Contract.h"
#include "tests/unit/autotuner/Support.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gmock/gmock.h>

using namespace eider;
using namespace eider::tuning;
using testing::HasSubstr;
using testing::Not;

namespace {

class OfflineTest : public testing::Test {
protected:
  void record(const Program &program, const std::string &dims, const std::string &schedule) const {
    ASSERT_TRUE(Store(cache).replace({sampleRecord(program, dims, schedule)}));
  }
  OfflineBuild build(const Program &program) const {
    return buildOffline(program, optionsWith({}), cache);
  }
  static CompileOptions optionsWith(const std::string &schedule) {
    CompileOptions options;
    options.dims = {{"hidden", 8192}};
    options.schedule = schedule;
    return options;
  }
  static size_t count(const std::string &text, const std::string &part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  }

  const Variable on{"EIDER_TUNING", "on"};
  TemporaryDirectory temporary;
  const CacheOptions cache{true, (temporary.path / "cache").string()};
};

TEST_F(OfflineTest, WithoutRecordsItIsWhatTheCompilerMakes) {
  for (const char *op : {"quantize", "rms_norm_quant", "silu_mul_quant"})
    for (const char *block : {"1x128", "1x*", "128x128"}) {
      const Program program = libraryProgram(op, block);
      const OfflineBuild built = build(program);
      EXPECT_EQ(built.text, emit(program, optionsWith({}), Stage::Cuda)) << op << " " << block;
      EXPECT_EQ(contract::write(contract::read(built.executable.contract)),
                contract::write(contract::read(compile(program, optionsWith({})).contract)));
      EXPECT_TRUE(built.tuned.empty());
    }
}

TEST_F(OfflineTest, ATunedScheduleIsAKernelMoreForItsRanges) {
  const Program program = libraryProgram("quantize");
  const size_t heuristics = count(build(program).text, "extern \"C\"");
  constexpr const char *few = "map<threads = 64, vector = 8, loads = 2>",
                       *many = "map<threads = 512, vector = 16, loads = 1>";
  record(program, "hidden=8192 tokens=1", few);
  record(program, "hidden=8192 tokens=5..8", few);
  record(program, "hidden=8192 tokens=17..32", many);
  const OfflineBuild built = build(program);
  EXPECT_EQ(built.tuned.size(), 3u);
  EXPECT_EQ(count(built.text, "extern \"C\""), heuristics + 2);
  EXPECT_EQ(count(built.text, "using namespace eider;"), 1u);
  EXPECT_THAT(built.text, HasSubstr("// schedule map<threads = 64, vector = 8, loads = 2>\n"
                                    "// tuned for tokens=1, tokens=5..8\n"
                                    "extern \"C\" __global__ __launch_bounds__(64) void "
                                    "quantize_tuned("));
  EXPECT_THAT(built.text, HasSubstr(" void quantize_tuned2("));
  const contract::Contract contract = contract::read(built.executable.contract);
  std::vector<std::string> entries;
  for (size_t i = 0; i < 3; ++i)
    entries.push_back(contract.variants[i].launches.front().entry);
  EXPECT_THAT(entries, testing::ElementsAre("quantize_tuned", "quantize_tuned", "quantize_tuned2"));
  EXPECT_EQ(contract.variants[0].launches.front().block, 64);
  EXPECT_EQ(contract.variants.size(), 3 + heuristics);
  EXPECT_EQ(contract.variants.back().name, "general");
  // The text is all that a build needs.
  for (const contract::Variant &variant : contract.variants)
    for (const contract::Launch &launch : variant.launches)
      EXPECT_EQ(count(built.text, " void " + launch.entry + "("), 1u) << launch.entry;
}

TEST_F(OfflineTest, TheHeuristicsScheduleAddsNoKernel) {
  const Program program = libraryProgram("quantize");
  const std::string heuristic = candidates(program, optionsWith({})).front().schedule;
  record(program, "hidden=8192 tokens=5..8", heuristic);
  const OfflineBuild built = build(program);
  EXPECT_EQ(built.text, emit(program, optionsWith({}), Stage::Cuda));
  EXPECT_EQ(built.tuned.size(), 1u);
}

TEST_F(OfflineTest, TwoKernelsOfATunedVariantAreBothRenamed) {
  const Program program = libraryProgram("rms_norm_quant", "128x128");
  record(program, "hidden=8192 tokens=5..8", candidates(program, optionsWith({})).at(1).schedule);
  const OfflineBuild built = build(program);
  const contract::Contract contract = contract::read(built.executable.contract);
  ASSERT_EQ(contract.variants.front().name, "tuned_tokens_5_8");
  ASSERT_GT(contract.variants.front().launches.size(), 1u);
  for (const contract::Launch &launch : contract.variants.front().launches)
    EXPECT_THAT(launch.entry, testing::EndsWith("_tuned"));
}

TEST_F(OfflineTest, AScheduleThatIsGivenStands) {
  const Program program = libraryProgram("quantize");
  record(program, "hidden=8192 tokens=5..8", "map<threads = 64, vector = 8, loads = 2>");
  const CompileOptions options = optionsWith("map<threads = 256, vector = 16>");
  const OfflineBuild built = buildOffline(program, options, cache);
  EXPECT_TRUE(built.tuned.empty());
  EXPECT_EQ(built.text, emit(program, options, Stage::Cuda));
}

TEST_F(OfflineTest, RecordsCountWhereTheyAreAskedFor) {
  const Program program = libraryProgram("quantize");
  record(program, "hidden=8192 tokens=5..8", "map<threads = 64, vector = 8, loads = 2>");
  EXPECT_THAT(build(program).text, HasSubstr("tuned"));
  for (const char *value : {"off", ""}) {
    const Variable other("EIDER_TUNING", value);
    EXPECT_THAT(build(program).text, Not(HasSubstr("tuned"))) << value;
  }
}

} // namespace
