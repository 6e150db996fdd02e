//===- tests/unit/autotuner/SpaceTest.cpp ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/autotuner/Support.h"

#include <gmock/gmock.h>

#include <optional>
#include <regex>
#include <set>

using namespace eider;

namespace {

std::vector<ScheduleCandidate> spaceOf(const std::string &op, const std::string &block,
                                       int64_t tokens, int64_t hidden) {
  CompileOptions options;
  options.dims = {{"hidden", hidden}};
  return candidates(libraryProgram(op, block), options,
                    {132, {{"tokens", tokens}, {"hidden", hidden}}});
}

size_t worthwhile(const std::vector<ScheduleCandidate> &space) {
  return static_cast<size_t>(std::ranges::count(space, "", &ScheduleCandidate::pruned));
}

TEST(Space, TheHeuristicIsFirstAndAlone) {
  for (const char *block : {"1x128", "1x*", "128x128"}) {
    const auto space = spaceOf("quantize", block, 16384, 8192);
    ASSERT_FALSE(space.empty());
    EXPECT_TRUE(space.front().heuristic);
    EXPECT_EQ(std::ranges::count(space, true, &ScheduleCandidate::heuristic), 1);
    CompileOptions options;
    options.dims = {{"hidden", 8192}};
    EXPECT_THAT(explain(libraryProgram("quantize", block), options),
                testing::HasSubstr(space.front().schedule));
  }
}

/// What the heuristic chooses is legal, whatever the width: nobody asked for a schedule who is told
/// that it is none. Targets take turns.
TEST(Space, TheHeuristicHasAScheduleForEveryWidth) {
  const std::string targets[] = {"sm_90a", "sm_80", "sm_120", "sm_75"};
  const OpParameters castings[] = {{},
                                   {.block = "1x*"},
                                   {.block = "*x*"},
                                   {.block = "1x32", .mode = "mx"},
                                   {.block = "*x*", .scaleSource = "static"},
                                   {.block = "1x*", .amax = "yes"},
                                   {.copy = "bf16"},
                                   {.dtype = "f32"}};
  size_t compiled = 0;
  for (const char *op :
       {"quantize", "silu_mul_quant", "gelu_bias_quant", "rms_norm_quant", "layer_norm_quant",
        "add_rms_norm_quant", "softmax_quant", "rms_norm", "add_layer_norm", "softmax"})
    for (const OpParameters &casting : castings) {
      std::optional<Program> program;
      try {
        program = libraryOp(op, casting);
      } catch (const Error &) {
        continue; // what the op does not take
      }
      for (const int64_t hidden :
           {96,   256,  384,  512,  768,  1024,  1280,  1536,  2048,  2560,
            3072, 4096, 5120, 7168, 8192, 10240, 12288, 16384, 20480, 32768}) {
        CompileOptions options;
        options.dims = {{"hidden", hidden}};
        options.target = targets[compiled++ % std::size(targets)];
        EXPECT_NO_THROW(explain(*program, options))
            << op << " " << casting.block << " " << casting.copy << " of " << hidden << " for "
            << options.target;
      }
    }
  EXPECT_GT(compiled, 1000u);
}

TEST(Space, TheHeuristicAsksForNoMoreThreadsThanAMultiprocessorHolds) {
  const auto knob = [](const std::string &schedule, const std::string &name, int least) {
    const size_t at = schedule.find(name + " = ");
    return at == std::string::npos ? least : std::stoi(schedule.substr(at + name.size() + 3));
  };
  for (const auto &[target, threads] : {std::pair("sm_75", 1024), std::pair("sm_90a", 2048)})
    for (const char *op : {"layer_norm", "rms_norm_quant", "quantize", "silu_mul_quant"})
      for (int64_t hidden : {512, 2048, 4096, 7168, 8192}) {
        CompileOptions options;
        options.target = target;
        options.dims = {{"hidden", hidden}};
        OpParameters parameters;
        parameters.dtype = "bf16";
        const std::string text = explain(libraryOp(op, parameters), options);
        const std::string schedule = text.substr(text.find("  schedule "), 120);
        const int resident = knob(schedule, "resident", 0);
        EXPECT_LE(resident * knob(schedule, "threads", 0) * knob(schedule, "rows", 1), threads)
            << op << " of " << hidden << " for " << target << schedule;
      }
  // Rows that share their threads are no more threads.
  CompileOptions options;
  options.target = "sm_89";
  options.dims = {{"k", 4096}};
  EXPECT_THAT(explain(libraryProgram("gemv"), options),
              testing::HasSubstr("row<threads = 128, vector = 16, rows = 2, resident = 8>"));
}

/// Which is faster from how many rows on differs by GPU: each is tried where the other is chosen.
TEST(Space, TriesWhatOtherRowsHaveNext) {
  const char *some = "row<threads = 256, vector = 16, lanes = 4, tiles = 2, resident = 4>";
  const auto many = spaceOf("layer_norm_quant", "1x128", 16384, 8192);
  const auto fewer = spaceOf("layer_norm_quant", "1x128", 4096, 8192);
  EXPECT_EQ(many[1].schedule, some);
  EXPECT_EQ(many[1].pruned, "");
  EXPECT_EQ(fewer[0].schedule, some);
  EXPECT_EQ(fewer[1].schedule, many[0].schedule);
  EXPECT_NE(spaceOf("layer_norm_quant", "1x128", 8, 8192)[1].schedule, some);
}

TEST(Space, EachScheduleOnceAndThePrunedLast) {
  const auto space = spaceOf("rms_norm_quant", "1x128", 16384, 8192);
  std::set<std::string> seen;
  bool pruned = false;
  for (const ScheduleCandidate &candidate : space) {
    EXPECT_TRUE(seen.insert(candidate.schedule).second) << candidate.schedule;
    EXPECT_FALSE(pruned && candidate.pruned.empty()) << candidate.schedule;
    pruned |= !candidate.pruned.empty();
  }
  EXPECT_TRUE(pruned);
}

/// Warpgroups where the target has them, in clusters that it can hold, and warps beside them.
TEST(Space, OfProductsHasWarpsAndWarpgroups) {
  auto firstOf = [](const char *target, int64_t n) {
    CompileOptions options;
    options.target = target;
    options.dims = {{"n", n}, {"k", 14336}};
    return candidates(libraryOp("matmul_skinny", {}), options,
                      {132, {{"m", 64}, {"n", n}, {"k", 14336}}});
  };
  auto areByWarpgroups = [](const std::vector<ScheduleCandidate> &space) {
    return std::ranges::count_if(
        space.begin(), space.begin() + 16, [](const ScheduleCandidate &candidate) {
          return candidate.schedule.find("warpgroups") != std::string::npos;
        });
  };
  EXPECT_EQ(areByWarpgroups(firstOf("sm_90", 4096)), 0);
  const auto space = firstOf("sm_90a", 4096);
  EXPECT_GE(areByWarpgroups(space), 4);
  EXPECT_LE(areByWarpgroups(space), 12);
  // Of clusters of four and eight the GPU holds fewer blocks at once than of parts in memory.
  EXPECT_THAT(space.front().schedule, testing::HasSubstr("split = 4"));
  EXPECT_THAT(firstOf("sm_90a", 1024).front().schedule, testing::HasSubstr("split = 8"));
  for (const char *part : {"cluster = 4, warpgroups", "columns = 128, split = 4, prefetch"})
    EXPECT_TRUE(std::ranges::any_of(space, [&](const ScheduleCandidate &candidate) {
      return candidate.schedule.find(part) != std::string::npos;
    })) << part;
}

/// Of codes by codes: blocks of 64 and of 128 columns, more stages on their way than where codes
/// are decoded.
TEST(Space, OfProductsOfCodesIsOfWarpgroups) {
  CompileOptions options;
  options.target = "sm_90a";
  options.dims = {{"m", 64}, {"n", 16384}, {"k", 16384}};
  const auto space = candidates(libraryOp("scaled_matmul", {}), options, {132, options.dims});
  EXPECT_THAT(space.front().schedule,
              testing::HasSubstr("columns = 128, prefetch = 6, warpgroups = 1"));
  auto has = [&](const char *part) {
    return std::any_of(space.begin(), space.begin() + 16, [&](const ScheduleCandidate &one) {
      return one.schedule.find(part) != std::string::npos;
    });
  };
  for (const char *part : {"columns = 64", "columns = 128", "resident = 2", "prefetch = 4"})
    EXPECT_TRUE(has(part)) << part;
}

TEST(Space, HasEnoughToMeasureForEveryFamily) {
  EXPECT_GE(worthwhile(spaceOf("quantize", "1x128", 16384, 8192)), 10u);
  EXPECT_GE(worthwhile(spaceOf("rms_norm_quant", "1x128", 16384, 8192)), 10u);
  EXPECT_GE(worthwhile(spaceOf("add_rms_norm_quant", "1x128", 16384, 7168)), 10u);
  EXPECT_GE(worthwhile(spaceOf("quantize", "128x128", 16384, 8192)), 4u);
  EXPECT_GE(worthwhile(spaceOf("quantize", "1x128", 1, 8192)), 2u);
}

TEST(Space, TransposesInBlocksOfManyShapes) {
  const auto space = spaceOf("cast_transpose", "1x64", 16384, 8192);
  std::set<std::string> threads, shapes;
  for (size_t i = 0; i < 16 && i < space.size() && space[i].pruned.empty(); ++i) {
    const std::string &schedule = space[i].schedule;
    threads.insert(schedule.substr(0, schedule.find(',')));
    shapes.insert(schedule.substr(schedule.find("rows"), schedule.find("columns") - 3));
    CompileOptions options;
    options.dims = {{"hidden", 8192}};
    options.schedule = schedule;
    EXPECT_NO_THROW(compile(libraryProgram("cast_transpose", "1x64"), options)) << schedule;
  }
  EXPECT_GE(threads.size(), 3u);
  EXPECT_GE(shapes.size(), 3u);
  // Squares of 128 are the least that groups of 128 of both divide, and are dealt in several ways.
  EXPECT_GE(worthwhile(spaceOf("cast_transpose", "1x128", 16384, 8192)), 4u);
  EXPECT_GE(worthwhile(spaceOf("cast_transpose", "128x128", 16384, 8192)), 4u);
}

/// What a launch of few rows takes is first, and the others are such tiles, which compile.
TEST(Space, FewRowsAreTransposedInTilesOfTheirOwn) {
  for (const char *block : {"1x128", "128x128"}) {
    const Program program = libraryOp("cast_transpose", {.block = block});
    CompileOptions options;
    options.dims = {{"hidden", 1024}};
    const auto all = candidates(program, options, {132, {{"tokens", 3}, {"hidden", 1024}}});
    ASSERT_FALSE(all.empty());
    EXPECT_TRUE(all[0].heuristic);
    for (size_t i = 0; i < all.size() && all[i].pruned.empty(); i += 5) {
      EXPECT_NE(all[i].schedule.find("rows = 16,"), std::string::npos);
      options.schedule = all[i].schedule;
      EXPECT_NE(compile(program, options).contract.find("rows_16"), std::string::npos);
    }
    options.schedule = "";
  }
}

/// Where the transpose of many rows begins anywhere: the schedule that a launch takes there.
TEST(Space, ManyUnevenRowsBeginWithTallTiles) {
  const std::string tall = "tile<threads = 1024, vector = 16, rows = 256, columns = 128>";
  EXPECT_EQ(spaceOf("cast_transpose", "1x128", 16385, 8192)[0].schedule, tall);
  EXPECT_NE(spaceOf("cast_transpose", "1x128", 16384, 8192)[0].schedule, tall);
  EXPECT_NE(spaceOf("cast_transpose", "1x128", 3001, 8192)[0].schedule, tall);
}

/// The last block may combine what is only given, or all of them.
TEST(Space, TurnsWhoCombines) {
  CompileOptions options;
  options.dims = {{"hidden", 4096}};
  for (const char *amax : {"yes", "no"}) {
    const auto space = candidates(libraryOp("quantize", {.amax = amax}), options,
                                  {132, {{"tokens", 4096}, {"hidden", 4096}}});
    EXPECT_EQ(std::ranges::any_of(space,
                                  [](const auto &option) {
                                    return option.schedule.find("combine = 1") != std::string::npos;
                                  }),
              amax == std::string("yes"));
  }
}

TEST(Space, TheFirstSixteenDifferInThreads) {
  const auto space = spaceOf("rms_norm_quant", "1x128", 16384, 8192);
  std::set<std::string> threads;
  for (size_t i = 0; i < 16 && i < space.size(); ++i)
    threads.insert(space[i].schedule.substr(0, space[i].schedule.find(',')));
  EXPECT_GE(threads.size(), 3u);
}

TEST(Space, TurnsTheSecondaryKnobs) {
  std::set<std::string> turned;
  for (const char *op : {"rms_norm_quant", "add_rms_norm_quant"}) {
    const auto space = spaceOf(op, "1x128", 16384, 7168);
    for (size_t i = 0; i < 24; ++i)
      for (const char *knob : {"blocks", "hoist", "streaming", "bulk", "lanes", "software"})
        if (space[i].schedule.find(knob) != std::string::npos)
          turned.insert(knob);
  }
  EXPECT_THAT(turned, testing::UnorderedElementsAre("blocks", "hoist", "streaming", "bulk", "lanes",
                                                    "software"));
}

/// A schedule that stores in bulk has one beside it that does not.
TEST(Space, TurnsBulkBack) {
  const auto space = spaceOf("add_rms_norm_quant", "1x128", 16384, 8192);
  ASSERT_NE(space[0].schedule.find(", bulk = 1"), std::string::npos);
  const std::string without = std::regex_replace(space[0].schedule, std::regex(", bulk = 1"), "");
  EXPECT_TRUE(
      std::ranges::any_of(space, [&](const auto &option) { return option.schedule == without; }));
}

/// One that stores nothing in bulk has one beside it that does, by a warp's chunks as one copy.
TEST(Space, StoresAWarpsChunksAtOnce) {
  const auto space = spaceOf("add_rms_norm_quant", "1x128", 16384, 6144);
  ASSERT_EQ(space[0].schedule, "row<threads = 192, vector = 16>");
  const std::string atOnce = "row<threads = 192, vector = 16, lanes = 32, bulk = 1>";
  EXPECT_TRUE(
      std::ranges::any_of(space, [&](const auto &option) { return option.schedule == atOnce; }));
}

TEST(Space, BeginsWithTheScheduleOfSoManyRows) {
  EXPECT_EQ(spaceOf("rms_norm_quant", "1x128", 128, 4096)[0].schedule,
            "row<threads = 512, vector = 8>");
  EXPECT_NE(spaceOf("rms_norm_quant", "1x128", 257, 4096)[0].schedule,
            "row<threads = 512, vector = 8>");
}

TEST(Space, EveryWorthwhileScheduleCompiles) {
  for (const char *op : {"quantize", "add_rms_norm_quant"}) {
    const auto space = spaceOf(op, "1x128", 4096, 7168);
    for (size_t i = 0; i < 12 && i < space.size() && space[i].pruned.empty(); ++i) {
      CompileOptions options;
      options.dims = {{"hidden", 7168}};
      options.schedule = space[i].schedule;
      EXPECT_NO_THROW(compile(libraryProgram(op), options)) << space[i].schedule;
    }
  }
}

/// Whether some schedule with a cluster of blocks is worth measuring.
bool triesClusters(const std::vector<ScheduleCandidate> &space) {
  return std::ranges::any_of(space, [](const ScheduleCandidate &candidate) {
    return candidate.pruned.empty() && !candidate.heuristic &&
           candidate.schedule.find("cluster = ") != std::string::npos;
  });
}

TEST(Space, ClustersAreForFewRowsAndWideOnes) {
  EXPECT_TRUE(triesClusters(spaceOf("rms_norm_quant", "1x*", 16, 16384)));
  EXPECT_FALSE(triesClusters(spaceOf("rms_norm_quant", "1x*", 16384, 16384)));
  EXPECT_TRUE(triesClusters(spaceOf("rms_norm_quant", "1x*", 16384, 65536)));
  EXPECT_TRUE(triesClusters(spaceOf("quantize", "1x*", 16384, 131072)));
  EXPECT_FALSE(triesClusters(spaceOf("quantize", "1x128", 16, 16384))) << "nothing to combine";
}

/// How many schedules worth measuring multiply by tensor cores, and how many do not.
std::pair<int64_t, int64_t> byTensorCores(const std::string &block, const char *codec) {
  CompileOptions options;
  options.dims = {{"k", 16384}};
  options.codec = codec;
  std::pair<int64_t, int64_t> counts;
  for (const ScheduleCandidate &candidate :
       candidates(libraryProgram("gemv", block), options, {132, {{"n", 16384}, {"k", 16384}}}))
    if (candidate.pruned.empty())
      ++(candidate.schedule.find("mma = 1") != std::string::npos ? counts.first : counts.second);
  return counts;
}

TEST(Space, CodesThatArithmeticDecodesMeetAVectorOnTensorCores) {
  const auto [cores, others] = byTensorCores("1x128", "software");
  EXPECT_GT(cores, others);
  EXPECT_GT(others, 0);
  const auto [tried, usual] = byTensorCores("1x128", "hardware");
  EXPECT_GT(tried, 0);
  EXPECT_GT(usual, tried);
  EXPECT_GT(byTensorCores("1x32", "software").first, 0) << "of short chunks";
  EXPECT_EQ(byTensorCores("1x8", "software").first, 0) << "four lanes have several scales";
}

TEST(Space, RowsOfBf16MeetWarpgroupsAsF16AndAsTheyAre) {
  CompileOptions options;
  options.target = "sm_90a";
  options.dims = {{"m", 64}, {"n", 4096}, {"k", 14336}};
  int64_t asF16 = 0, asTheyAre = 0;
  for (const ScheduleCandidate &candidate :
       candidates(libraryProgram("matmul_skinny", "1x128"), options, {132, options.dims}))
    if (candidate.schedule.find("warpgroups = 1") != std::string::npos)
      ++(candidate.schedule.find("f16 = 1") != std::string::npos ? asF16 : asTheyAre);
  EXPECT_GT(asF16, 4); // more than the heuristic has of this and other numbers of rows
  EXPECT_GT(asTheyAre, 0);
}

TEST(Space, RowsOfCodesComeTwoByTwo) {
  CompileOptions options;
  options.codec = "software";
  options.dims = {{"k", 4352}}; // of which the heuristic lets none come
  auto coming = [&](const char *block) {
    return std::ranges::count_if(
        candidates(libraryProgram("gemv", block), options, {132, {{"n", 14336}, {"k", 4352}}}),
        [](const ScheduleCandidate &candidate) {
          return candidate.pruned.empty() && !candidate.heuristic &&
                 candidate.schedule.find("prefetch = 3") != std::string::npos;
        });
  };
  EXPECT_GT(coming("1x128"), 0);
  EXPECT_GT(coming("1x*"), 0);
  EXPECT_EQ(coming("1x8"), 0) << "four lanes have several scales";
}

/// Attention over a cache of so many sequences.
std::vector<ScheduleCandidate> spaceOfDecoding(int64_t sequences, CompileOptions &options) {
  options.dims = {{"h", 32}, {"d", 64}, {"kv_heads", 8}, {"page", 16}, {"scales", 1}};
  return candidates(libraryProgram("attention_decode", ""), options,
                    {132,
                     {{"b", sequences},
                      {"h", 32},
                      {"d", 64},
                      {"kv_heads", 8},
                      {"page", 16},
                      {"pages", sequences * 4},
                      {"max_pages", 4},
                      {"scales", 1}}});
}

TEST(Space, AttentionHasOneOfItsOwn) {
  for (const int64_t sequences : {1, 8, 64}) { // which are three variants
    CompileOptions options;
    const auto space = spaceOfDecoding(sequences, options);
    EXPECT_GE(worthwhile(space), 16u);
    EXPECT_TRUE(space.front().heuristic);
    EXPECT_EQ(space.front().schedule.find("combine = 1") == std::string::npos, sequences == 1);
    for (size_t i = 0; i < space.size() && i < 40; i += 8) {
      EXPECT_THAT(space[i].schedule, testing::StartsWith("attention<"));
      options.schedule = space[i].schedule;
      EXPECT_NO_THROW(compile(libraryProgram("attention_decode", ""), options))
          << space[i].schedule;
    }
  }
  CompileOptions options;
  options.dims = {{"h", 32}, {"d", 128}, {"kv_heads", 8}, {"scales", 1}};
  const auto space =
      candidates(libraryProgram("attention_prefill", ""), options,
                 {132, {{"s", 8192}, {"h", 32}, {"d", 128}, {"kv_heads", 8}, {"scales", 1}}});
  EXPECT_GE(worthwhile(space), 16u);
  for (size_t i = 0; i < space.size() && i < 40; i += 8) {
    options.schedule = space[i].schedule;
    EXPECT_NO_THROW(compile(libraryProgram("attention_prefill", ""), options)) << space[i].schedule;
  }
}

TEST(Space, WhatStandsAfterAttentionIsTunedAsTheLastKernelIs) {
  for (const char *block : {"1x*", "*x*"})
    for (const int64_t sequences : {1, 64}) {
      CompileOptions options;
      options.dims = {{"h", 32}, {"d", 64}, {"kv_heads", 8}, {"page", 16}, {"scales", 1}};
      const Program program = libraryProgram("attention_decode_quant", block);
      const auto space =
          candidates(program, options, {132, {{"b", sequences}, {"pages", 256}, {"max_pages", 4}}});
      ASSERT_FALSE(space.empty());
      for (const ScheduleCandidate &candidate : space)
        EXPECT_THAT(candidate.schedule, testing::Not(testing::StartsWith("attention<")));
      options.schedule =
          "attention<threads = 128, vector = 1, blocks = 256, resident = 4, prefetch = 2>";
      EXPECT_THAT(explain(program, options),
                  testing::HasSubstr("resident = 4, prefetch = 2> (given)"));
    }
}

/// How many cooperative schedules are worth measuring.
int64_t cooperativeOnes(const std::vector<ScheduleCandidate> &space) {
  return std::ranges::count_if(space, [](const ScheduleCandidate &candidate) {
    return candidate.pruned.empty() &&
           candidate.schedule.find("cooperative = 1") != std::string::npos;
  });
}

TEST(Space, CooperativeKernelsAreForWhatTheGpuHolds) {
  const auto small = spaceOf("quantize", "*x*", 1024, 4096);
  EXPECT_GE(cooperativeOnes(small), 3);
  EXPECT_THAT(small[0].schedule, testing::HasSubstr("cooperative = 1"));
  EXPECT_TRUE(small[0].heuristic);
  EXPECT_THAT(small[1].schedule, testing::Not(testing::HasSubstr("cooperative")));
  const std::set<std::string> seen = [&] {
    std::set<std::string> schedules;
    for (const ScheduleCandidate &candidate : small)
      schedules.insert(candidate.schedule);
    return schedules;
  }();
  EXPECT_EQ(seen.size(), small.size());
  EXPECT_EQ(cooperativeOnes(spaceOf("quantize", "*x*", 16384, 8192)), 0) << "too large";
  EXPECT_EQ(cooperativeOnes(spaceOf("quantize", "1x128", 1024, 4096)), 0) << "nothing to meet for";
}

TEST(Space, HasNoClustersWhereTheTargetHasNone) {
  CompileOptions options;
  options.target = "sm_89";
  options.dims = {{"hidden", 16384}};
  for (const ScheduleCandidate &candidate :
       candidates(libraryProgram("rms_norm_quant", "1x*"), options, {132, {{"tokens", 16}}}))
    EXPECT_EQ(candidate.schedule.find("cluster"), std::string::npos) << candidate.schedule;
}

TEST(Space, AFewRowsAreNotSpreadOverSeveralTiles) {
  for (const ScheduleCandidate &candidate : spaceOf("quantize", "1x*", 128, 4096)) {
    if (candidate.schedule.find("tiles") != std::string::npos && !candidate.heuristic) {
      EXPECT_NE(candidate.pruned, "") << candidate.schedule;
    }
  }
}

} // namespace
