//===- tests/unit/tools/BenchCellsTest.cpp --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/BenchCells.h"
#include "bench/measure/Meter.h"
#include "tools/eider/ProgramSource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace {

using namespace eider;
using namespace eider::cli;

/// One that throws would end a run of the benchmark where it stands.
TEST(BenchCells, AreProgramsOfTheirDims) {
  const std::vector<BenchCell> cells = cellsFor(BenchRequest());
  ASSERT_GT(cells.size(), 300u);
  for (const BenchCell &cell : cells)
    EXPECT_NO_THROW({
      const ProgramSource source = makeProgram(cell.program);
      EXPECT_TRUE(source.scalars.empty()) << nameOf(cell);
      optionsFor(cell.program, source.program, "sm_90a");
    }) << nameOf(cell);
}

TEST(BenchCells, AreMeasuredOnce) {
  std::set<std::string> seen;
  for (const int64_t padding : {0, 8}) {
    BenchRequest request;
    request.padding = padding;
    seen.clear();
    for (const BenchCell &cell : cellsFor(request))
      EXPECT_TRUE(seen.insert(nameOf(cell)).second) << nameOf(cell);
  }
}

/// What is asked of a cast is asked of contiguous rows; of formats that this GPU does not encode,
/// and so of random bits, a little less.
TEST(BenchCells, SayWhatIsAsked) {
  const auto targetOf = [](BenchRequest request) {
    request.sources = {"quantize"};
    request.params.parameters = {.dtype = "bf16", .format = "e4m3", .block = "1x128"};
    request.params.dims = {{"tokens", 16384}, {"hidden", 8192}};
    return cellsFor(request).front().target;
  };
  BenchRequest stochastic, apart;
  stochastic.params.settings = {{"rounding", "stochastic"}};
  apart.padding = 8;
  EXPECT_EQ(targetOf({}), 1.0);
  EXPECT_EQ(targetOf(stochastic), 1.05);
  EXPECT_EQ(targetOf(apart), 0.0);
}

/// A scale of all that a GPU holds is asked of one read, too; a given one, or of few rows, is not.
TEST(BenchCells, SayWhatIsAskedOfAScaleOfAll) {
  const auto targetOf = [](int64_t tokens, int64_t hidden, const std::string &source) {
    BenchRequest request;
    request.sources = {"quantize"};
    request.params.parameters.block = "*x*";
    request.params.parameters.scaleSource = source;
    request.params.dims = {{"tokens", tokens}, {"hidden", hidden}};
    return cellsFor(request).front().target;
  };
  EXPECT_EQ(targetOf(16384, 8192, "dynamic"), 1.03);
  EXPECT_EQ(targetOf(2048, 4096, "dynamic"), 1.03);
  EXPECT_EQ(targetOf(2048, 4096, "static"), 0.0);
  EXPECT_EQ(targetOf(16, 4096, "dynamic"), 0.0);
}

/// Each op that encodes or decodes by both codecs, so that one is held against the other.
TEST(BenchCells, AreOfEitherCodec) {
  BenchRequest request;
  request.only = "/hardware/16384x8192|/software/16384x8192";
  std::set<std::string> hardware, software;
  for (BenchCell &cell : cellsFor(request)) {
    std::set<std::string> &of = cell.program.codec == "hardware" ? hardware : software;
    cell.program.codec = "";
    of.insert(nameOf(cell));
  }
  EXPECT_EQ(hardware, software);
  EXPECT_GE(hardware.size(), 20u);
}

/// A memcpy of a few bytes more than whole pieces takes longer than one of a piece more, and would
/// flatter what stands beside it.
TEST(BenchCells, StandBesideAMemcpyOfWholePieces) {
  EXPECT_EQ(bench::bytesToCopy(0), 0u);
  EXPECT_EQ(bench::bytesToCopy(2 * 513), 1024u);
  EXPECT_EQ(bench::bytesToCopy(2 << 20), 1u << 20);
  EXPECT_EQ(bench::bytesToCopy((2 << 20) + 2), (1u << 20) + 4096u);
}

} // namespace
