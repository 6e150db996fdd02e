//===- ScaledMatmulTest.cpp - Codes times codes ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using ::testing::HasSubstr;

namespace {
Point scaledMatmul(OpParameters parameters, int64_t m, int64_t n, int64_t k,
                   const std::string &schedule = "") {
  return {.op = "scaled_matmul",
          .parameters = std::move(parameters),
          .dims = {{"m", m}, {"n", n}, {"k", k}},
          .schedule = schedule};
}

/// Blocks of both, formats of both, scales' types; rows that end and begin anywhere.
std::vector<Point> points() {
  std::vector<Point> points;
  auto add = [&](OpParameters parameters, int64_t m, int64_t n, int64_t k,
                 const char *codec = "auto", const char *values = "normal") {
    points.push_back(scaledMatmul(std::move(parameters), m, n, k));
    points.back().codec = codec;
    points.back().values = values;
  };
  for (const char *block : {"1x128", "128x128", "1x*", "*x*", "1x32"})
    for (const char *fromBlock : {"1x128", "1x*", "*x*", "1x32", "*x64"})
      add({.block = block, .fromBlock = fromBlock}, 21, 37, 656);
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *fromFormat : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
      for (const char *values : {"normal", "specials"})
        add({.format = format, .fromFormat = fromFormat}, 9, 24, 272, "auto", values);
  for (const char *codec : {"hardware", "software"})
    add({.dtype = "f32", .fromFormat = "e5m2"}, 3, 33, 272, codec, "specials");
  add({.format = "e2m1",
       .block = "1x32",
       .fromBlock = "1x32",
       .fromScale = "e8m0",
       .scale = "e8m0"},
      8, 40, 650);
  for (const int64_t m : {0, 1, 33, 70})
    add({.block = "128x128"}, m, 48, 384);
  for (const Point &one : inEachVariant(scaledMatmul({}, 5, 37, 656)))
    points.push_back(one);
  for (const Point &one : inEachVariant(scaledMatmul({.fromBlock = "1x*"}, 18, 20, 129)))
    points.push_back(one);
  points.push_back(scaledMatmul({.block = "1x64", .fromBlock = "1x128"}, 43, 77, 1360,
                                "contract<threads = 128, vector = 4, rows = 16, columns = 64, "
                                "prefetch = 2, loads = 2, split = 2>"));
  return points;
}
/// As codes, by warps: stages of each length, parts of 64 and of 128, rows that end in the middle
/// of one and begin anywhere; and the same as f16, where the codec is none of instructions.
std::vector<Point> codePoints() {
  std::vector<Point> points;
  auto add = [&](OpParameters parameters, int64_t m, int64_t n, int64_t k, int rows, int loads,
                 int split, const char *values = "normal") {
    points.push_back(
        scaledMatmul(std::move(parameters), m, n, k,
                     "contract<threads = " + std::to_string(32 * split) +
                         ", vector = 1, rows = " + std::to_string(rows) +
                         ", columns = 16, prefetch = 2, loads = " + std::to_string(loads) +
                         ", split = " + std::to_string(split) + ">"));
    points.back().values = values;
  };
  for (const char *block : {"1x128", "1x*"})
    for (const char *fromBlock : {"1x128", "*x*"})
      for (const int loads : {1, 2, 4})
        add({.block = block, .fromBlock = fromBlock}, 13, 40, 1040, 8 * loads, loads, 4 / loads);
  add({.block = "*x*", .fromBlock = "1x*"}, 9, 24, 832, 8, 3, 2); // stages of 192
  for (const char *format : {"e4m3", "e5m2"})
    for (const char *fromFormat : {"e4m3", "e5m2"})
      add({.format = format, .fromFormat = fromFormat}, 19, 30, 400, 16, 2, 1, "specials");
  for (const Point &one : inEachVariant(scaledMatmul({.block = "128x128"}, 11, 37, 529)))
    points.push_back(one);
  for (const char *block : {"1x128", "1x*"})
    points.push_back(scaledMatmul({.block = block, .fromBlock = block}, 21, 37, 656));
  for (size_t last = points.size() - 2; last < points.size(); ++last)
    points[last].codec = "software";
  return points;
}

/// As codes, by warpgroups (sm_90a): stages that blocks of a cluster have not as many of, rows that
/// end in the middle of one, scales that come one by one or several together.
std::vector<Point> warpgroupPoints() {
  std::vector<Point> points;
  auto add = [&](OpParameters parameters, int64_t m, int64_t n, int64_t k, int threads, int rows,
                 int cluster, int ahead, const char *values = "normal", int split = 1) {
    points.push_back(scaledMatmul(
        std::move(parameters), m, n, k,
        "contract<threads = " + std::to_string(threads) + ", vector = 4, rows = " +
            std::to_string(rows) + ", loads = 2, columns = " + std::to_string(threads / 2) +
            ", prefetch = " + std::to_string(ahead) + ", cluster = " + std::to_string(cluster) +
            ", split = " + std::to_string(split) + ", warpgroups = 1>"));
    points.back().values = values;
  };
  for (const char *block : {"1x128", "128x128", "1x*", "*x*"})
    for (const char *fromBlock : {"1x128", "1x*", "*x*", "*x128"})
      add({.block = block, .fromBlock = fromBlock}, 33, 150, 1040, 256, 64, 2, 3);
  for (const char *format : {"e4m3", "e5m2"})
    for (const char *fromFormat : {"e4m3", "e5m2"})
      for (const char *values : {"normal", "specials"})
        add({.format = format, .fromFormat = fromFormat}, 19, 80, 400, 128, 32, 1, 2, values);
  add({.fromScale = "e8m0", .scale = "bf16"}, 7, 64, 1024, 128, 8, 2, 4);
  add({}, 100, 256, 2048, 512, 64, 4, 4);
  add({}, 64, 257, 384, 512, 64, 8, 2); // of three stages, five blocks have none
  add({.block = "1x*", .fromBlock = "1x*"}, 16, 128, 16, 256, 16, 1, 4);
  add({}, 1, 64, 128 * 9, 128, 16, 8, 5);
  for (const int64_t m : {0, 31, 64, 65})
    add({.block = "128x128"}, m, 192, 512, 128, 64, 1, 3);
  add({}, 100, 256, 2048, 256, 64, 1, 4, "normal", 4); // parts of the length, by memory
  add({.block = "1x*", .fromBlock = "1x*"}, 33, 150, 1040, 256, 64, 2, 3, "specials", 3);
  return points;
}
} // namespace

TEST(ScaledMatmul, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

TEST(ScaledMatmul, AsCodesAgreesWithTheReferenceOnTheDevice) { expectReference(codePoints()); }

TEST(ScaledMatmul, ByWarpgroupsAgreesWithTheReferenceOnTheDevice) {
  expectReference(warpgroupPoints());
}

TEST(ScaledMatmul, NvrtcCompilesTheTextsOfWarpgroups) {
  expectNvrtc(warpgroupPoints(), "sm_90a", /*every=*/7); // all would be slow
}

/// Where a target multiplies codes, blocks are such, and nobody asks for software.
TEST(ScaledMatmul, MeetsCodesWhereTheTargetDoes) {
  auto meets = [](const char *target, OpParameters parameters = {}, const char *codec = "auto") {
    CompileOptions options;
    options.target = target;
    options.codec = codec;
    options.dims = {{"m", 8}, {"n", 256}, {"k", 512}};
    const Program program = libraryOp("scaled_matmul", std::move(parameters));
    return emit(program, options, Stage::Cuda).find("/*meets_codes=*/true") != std::string::npos;
  };
  for (const char *target : {"sm_89", "sm_90", "sm_100", "sm_110", "sm_120", "sm_121a", "host"})
    EXPECT_TRUE(meets(target)) << target;
  for (const char *target : {"sm_75", "sm_80", "sm_86"})
    EXPECT_FALSE(meets(target)) << target;
  EXPECT_TRUE(meets("sm_89", {.format = "e5m2", .block = "1x*", .fromBlock = "*x*"}));
  EXPECT_FALSE(meets("sm_89", {}, "software"));
  EXPECT_FALSE(meets("sm_89", {.format = "e4m3fnuz"}));
  EXPECT_FALSE(meets("sm_89", {.block = "1x64"}));
  EXPECT_FALSE(meets("sm_89", {.fromBlock = "1x256"}));
}

/// One product so large that others of its 32, of which 13 bits below it are left, are lost beside
/// it; those of the next 128 are not.
TEST(ScaledMatmul, SumsOfCodesAreAddedUpInFloat) {
  constexpr int64_t k = 1024, largest = 448 * 448;
  for (const char *block : {"1x128", "1x*"}) {
    matrix::Case made = at_points::caseOf(
        scaledMatmul({.dtype = "f32", .block = block, .fromBlock = block}, 1, 16, k,
                     "contract<threads = 32, vector = 1, rows = 8, columns = 16, prefetch = 2, "
                     "loads = 2>")); // a warp has all of the length
    for (auto [codes, scales] : {std::pair(0, 1), std::pair(2, 3)}) {
      std::memset(made.inputs[codes].data.data(), 0x38, made.inputs[codes].data.size()); // 1
      for (size_t row = 0; row < made.inputs[codes].data.size(); row += k)
        made.inputs[codes].data[row] = std::byte{0x7e};
      std::vector<float> ones(made.inputs[scales].data.size() / sizeof(float), 1);
      std::memcpy(made.inputs[scales].data.data(), ones.data(), made.inputs[scales].data.size());
    }
    const std::vector<HostTensor> outputs = runOnHost(made);
    for (const float sum : floatsOf(outputs.at(0))) {
      EXPECT_GE(sum, largest + k - 128) << block;
      EXPECT_LT(sum, largest + k - 31) << block << ": products of codes are not so exact";
    }
    EXPECT_EQ(wrongOf(made, outputs), 0) << block;
  }
}

TEST(ScaledMatmul, TextsArePure) {
  expectPure(points());
  expectPure(codePoints());
}
/// By targets that multiply codes, and by those of which the compiler makes f16 of them.
TEST(ScaledMatmul, NvrtcCompilesTheTextsOfCodes) {
  for (const char *target : {"sm_89", "sm_90", "sm_100", "sm_120"})
    expectNvrtc(codePoints(), target, /*every=*/4); // all would be slow
}

TEST(ScaledMatmul, NvrtcCompilesTheTexts) {
  std::vector<Point> some = points();
  std::erase_if(some, [](const Point &point) { return point.codec == "hardware"; });
  std::erase_if(some, [count = 0](const Point &) mutable { return count++ % 11 != 0; }); // slow
  expectNvrtc(some);
}

/// The bound is so tight that many elements show what is dropped, of either matrix; fewer where
/// products may be of codes, which keep less.
TEST(ScaledMatmul, BoundsCatchMutations) {
  constexpr int64_t m = 9, n = 64, k = 1024 + 5, groups = 9;
  for (const auto &[format, share] : {std::pair("e4m3fnuz", 5), std::pair("e4m3", 10)}) {
    const matrix::Case made = at_points::caseOf(
        scaledMatmul({.dtype = "f32", .format = format, .fromFormat = format}, m, n, k));
    ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
    EXPECT_GE(wrongWithout(made, 0, k, k - 5, 5), m * n / share) << "the tail of w left out";
    EXPECT_GE(wrongWithout(made, 1, 4 * groups, 4 * 3, 4), m * n / share) << "a scale of w dropped";
    EXPECT_GE(wrongWithout(made, 2, k, 500, 16), m * n / share) << "a chunk of x left out";
    EXPECT_GE(wrongWithout(made, 3, 4 * groups, 4 * 8, 4), m * n / share) << "x's last scale";
  }
}

TEST(ScaledMatmul, RefusesWhatItCannot) {
  EXPECT_THAT(errorOf(scaledMatmul({.fromBlock = "1x8"}, 4, 16, 256)),
              HasSubstr("a power of two from 16 on"));
  EXPECT_THAT(errorOf(scaledMatmul({.fromBlock = "128x128"}, 4, 16, 256)),
              HasSubstr("in blocks of several rows"));
  EXPECT_THAT(errorOf(scaledMatmul({.fromFormat = "e2m1", .fromBlock = "1x32"}, 4, 16, 256)),
              HasSubstr("give it as e4m3 or e5m2"));
}
