//===- MatmulTest.cpp - Weights times a matrix of few rows ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"
#include "tests/matrix/Reference.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <regex>

using namespace eider;
using namespace eider::at_points;
using ::testing::HasSubstr;

namespace {
Dims extents(int64_t m, int64_t n, int64_t k) { return {{"m", m}, {"n", n}, {"k", k}}; }

Point matmul(OpParameters parameters, Dims dims) {
  return {.op = "matmul_skinny", .parameters = std::move(parameters), .dims = std::move(dims)};
}

/// Formats, blocks, scales and types; rows and columns that end in the middle of what a warp
/// multiplies, rows that begin anywhere.
std::vector<Point> points() {
  std::vector<Point> points;
  auto add = [&](const Point &point) {
    for (const Point &one : inEachVariant(point))
      points.push_back(one);
  };
  for (const char *block : {"1x128", "128x128", "1x*", "*x*", "1x32", "1x16", "32x64", "*x128"}) {
    add(matmul({.block = block}, extents(5, 37, 656)));
    points.back().codec = "hardware";
  }
  for (const char *format : {"e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *dtype : {"bf16", "f16", "f32"})
      for (const char *values : {"normal", "specials"}) {
        points.push_back(matmul({.dtype = dtype, .format = format}, extents(9, 24, 320)));
        points.back().values = values;
      }
  for (const char *dtype : {"bf16", "f16", "f32"})
    for (const char *codec : {"hardware", "software"}) {
      points.push_back(matmul({.dtype = dtype}, extents(3, 33, 272)));
      points.back().codec = codec;
      points.back().values = "specials";
    }
  add(matmul({.dtype = "f16", .block = "1x64", .scale = "e8m0"}, extents(17, 50, 333)));
  add(matmul({.dtype = "f32", .block = "1x*", .scale = "bf16"}, extents(2, 20, 1)));
  add(matmul({.format = "e2m1", .block = "1x32", .scale = "e8m0"}, extents(8, 40, 650)));
  add(matmul({.dtype = "f16", .format = "e2m1", .block = "1x16", .scale = "e4m3"},
             extents(3, 20, 96)));
  // Codes of four bits, whose scales are met before products: rows that end in the middle of a
  // block, of a stage, of what is copied together.
  for (auto [block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}, {"32x64", "e8m0"}}) {
    for (const char *dtype : {"bf16", "f32"})
      for (const int64_t k : {1040, 906, 64})
        add(matmul({.dtype = dtype, .format = "e2m1", .block = block, .scale = scale},
                   extents(k == 64 ? 1 : 5, 37, k)));
    for (const int64_t m : {8, 9, 33, 64})
      points.push_back(
          matmul({.format = "e2m1", .block = block, .scale = scale}, extents(m, 72, 1024)));
    for (const char *schedule :
         {"contract<threads = 64, vector = 1, rows = 8, columns = 32, prefetch = 3, loads = 1, "
          "split = 2>",
          "contract<threads = 64, vector = 4, rows = 16, columns = 64, prefetch = 2, loads = 4>"}) {
      points.push_back(
          matmul({.format = "e2m1", .block = block, .scale = scale}, extents(11, 72, 2080)));
      points.back().schedule = schedule;
      points.back().values = "specials";
    }
    for (const char *loads : {"3", "5", "6"}) { // of which no power of two scales are a stage's
      points.push_back(
          matmul({.format = "e2m1", .block = block, .scale = scale}, extents(11, 40, 3840)));
      points.back().schedule =
          "contract<threads = 64, vector = 4, rows = 16, columns = 32, prefetch = 2, loads = " +
          std::string(loads) + ">";
    }
  }
  for (const int64_t m : {0, 1, 33, 64, 70})
    points.push_back(matmul({}, extents(m, 48, 256)));
  for (const char *schedule :
       {"contract<threads = 32, vector = 4, rows = 8, columns = 16, prefetch = 3, loads = 1>",
        "contract<threads = 64, vector = 1, rows = 8, columns = 16, prefetch = 3, loads = 2, split "
        "= 2>",
        "contract<threads = 128, vector = 4, rows = 16, columns = 64, prefetch = 2, loads = 2, "
        "split = 2>",
        "contract<threads = 128, vector = 1, rows = 32, columns = 16, prefetch = 2, loads = 1, "
        "split = 4, tiles "
        "= "
        "2>",
        "contract<threads = 64, vector = 8, rows = 64, columns = 64, prefetch = 3, loads = 1, "
        "blocks = 3>"})
    for (const char *block : {"1x64", "1x*"}) {
      points.push_back(matmul({.block = block}, extents(43, 77, 1360)));
      points.back().schedule = schedule;
    }
  return points;
}

std::string byWarpgroups(int threads, int rows, int cluster, int ahead, int vector = 4,
                         int split = 1) {
  std::string schedule =
      "contract<threads = " + std::to_string(threads) + ", vector = " + std::to_string(vector) +
      ", rows = " + std::to_string(rows) + ", loads = 2, columns = " + std::to_string(threads / 2) +
      ", prefetch = " + std::to_string(ahead);
  if (cluster > 1)
    schedule += ", cluster = " + std::to_string(cluster);
  if (split > 1)
    schedule += ", split = " + std::to_string(split);
  return schedule + ", warpgroups = 1>";
}

/// The schedule, whose rows of bf16 a kernel before makes f16.
std::string asF16(std::string schedule) {
  return schedule.insert(schedule.size() - 1, ", f16 = 1");
}

/// By warpgroups (sm_90a): rows that end in the middle of a stage, stages that blocks of a cluster
/// have not as many of, and some of them none; scales that come one by one, or several together.
std::vector<Point> warpgroupPoints() {
  std::vector<Point> points;
  auto add = [&](OpParameters parameters, Dims dims, const std::string &schedule,
                 const char *values = "normal") {
    points.push_back(matmul(std::move(parameters), std::move(dims)));
    points.back().schedule = schedule;
    points.back().values = values;
  };
  for (const char *block : {"1x128", "128x128", "1x*", "*x*", "*x128"})
    add({.block = block}, extents(33, 150, 1040), byWarpgroups(256, 64, 2, 3));
  for (const char *format : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"})
    for (const char *dtype : {"bf16", "f16"})
      for (const char *values : {"normal", "specials"})
        add({.dtype = dtype, .format = format}, extents(19, 80, 400), byWarpgroups(128, 32, 1, 2),
            values);
  for (const char *scale : {"bf16", "e8m0"})
    add({.block = "1x128", .scale = scale}, extents(7, 64, 1024), byWarpgroups(128, 8, 2, 4));
  add({}, extents(100, 256, 2048), byWarpgroups(512, 64, 4, 4));
  add({}, extents(64, 257, 384), byWarpgroups(512, 64, 8, 2)); // of three stages, five have none
  add({.block = "1x*"}, extents(16, 128, 16), byWarpgroups(256, 16, 1, 4));
  add({}, extents(1, 64, 128 * 9), byWarpgroups(128, 16, 8, 5));
  add({}, extents(9, 64, 2048), byWarpgroups(128, 8, 1, 8)); // most of scales on their way
  for (const int64_t m : {0, 31, 64, 65})
    add({}, extents(m, 192, 512), byWarpgroups(128, 64, 1, 3));
  // Codes of four bits, whose scales are met before products; of an odd number of stages, one by
  // one, too.
  for (auto [block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}, {"32x64", "e8m0"}}) {
    const OpParameters ofFour = {.format = "e2m1", .block = block, .scale = scale};
    for (const char *values : {"normal", "specials"})
      add(ofFour, extents(33, 150, 1152), byWarpgroups(256, 64, 2, 3), values);
    add(ofFour, extents(9, 64, 2048), byWarpgroups(128, 16, 1, 8)); // most of scales on their way
    add(ofFour, extents(64, 257, 384), byWarpgroups(512, 64, 8, 2));
    add(ofFour, extents(20, 128, 128), byWarpgroups(128, 32, 1, 4));
  }
  // Parts of the length by memory: as many stages each, or not; tiles of two heights, and a row.
  add({}, extents(64, 256, 2048), byWarpgroups(256, 64, 1, 4, 4, 4));
  add({.block = "1x*"}, extents(100, 257, 2048), byWarpgroups(512, 64, 2, 4, 4, 2));
  add({}, extents(33, 150, 1040), byWarpgroups(256, 64, 2, 3, 4, 3)); // nine stages, of six blocks
  add({.dtype = "f16"}, extents(19, 80, 640), byWarpgroups(128, 32, 1, 2, 4, 4), "specials");
  add({.block = "128x128"}, extents(1, 64, 2048), byWarpgroups(128, 8, 1, 4, 4, 16));
  add({}, extents(0, 64, 256), byWarpgroups(128, 16, 1, 4, 4, 2));
  add({.format = "e2m1", .block = "1x32", .scale = "e8m0"}, extents(21, 150, 1152),
      byWarpgroups(256, 32, 2, 3, 4, 2));
  // Rows of bf16 that become f16 before, of any range; in clusters, and by parts of the length.
  for (const char *values : {"normal", "specials", "tiny", "huge"})
    for (const char *format : {"e4m3", "e5m2"})
      add({.format = format}, extents(19, 80, 384), asF16(byWarpgroups(128, 32, 1, 2)), values);
  for (const char *block : {"128x128", "1x*", "*x*"}) // nine stages, of two blocks
    add({.block = block}, extents(33, 150, 1152), asF16(byWarpgroups(256, 64, 2, 3)));
  add({}, extents(64, 256, 2048), asF16(byWarpgroups(256, 64, 1, 4, 4, 4)), "specials");
  add({}, extents(64, 257, 384), asF16(byWarpgroups(512, 64, 2, 2)), "specials");
  // Eleven stages of four blocks; three tiles, of which the last is cut; rows so short and so long
  // that those which leave them have less than a warp, and more than four blocks.
  add({}, extents(61, 150, 128 * 11), asF16(byWarpgroups(512, 64, 2, 3, 4, 2)));
  add({}, extents(21, 70, 128 * 17), asF16(byWarpgroups(128, 8, 1, 4)));
  add({}, extents(5, 64, 128), asF16(byWarpgroups(128, 8, 1, 2)));
  add({}, extents(2, 64, 65536 + 512), asF16(byWarpgroups(128, 8, 1, 4)));
  for (const matrix::Layout &layout : matrix::apart) { // which have no warpgroups
    add({}, extents(11, 70, 384), asF16(byWarpgroups(128, 16, 1, 3)));
    points.back().layout = layout;
  }
  for (const int64_t m : {0, 1, 65})
    add({}, extents(m, 192, 512), asF16(byWarpgroups(128, 64, 1, 3)));
  for (size_t i = 0; i < points.size(); i += 3)
    points[i].codec = "software";
  return points;
}

/// A gated layer: what stands around two products of one x, and a quantisation after them.
Program gated() {
  Builder b("gated");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled gate = b.scaled_input("gate", e4m3, {n, k}, {1, 128}, f32);
  Scaled up = b.scaled_input("up", e5m2, {n, k}, {1, 64}, f32);
  Value x = b.input("x", bf16, {m, k}), bias = b.input("bias", bf16, {n});
  Value h = silu(matmul(x, gate) + bias) * matmul(x, up);
  b.output("y", quantize(h, e4m3, {.block = {1, 32}}));
  return b.build();
}

/// A residual is added to the product.
Program residual() {
  Builder b("projection");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {128, 128}, bf16);
  Value x = b.input("x", f16, {m, k}), residual = b.inout("residual", bf16, {m, n});
  b.store(residual, matmul(x, w) + residual);
  return b.build();
}

/// What is stored before the product, an in-out among it.
Program storedBefore() {
  Builder b("stored_before");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Value sums = b.inout("sums", f32, {m, n}), more = b.input("more", f32, {m, n});
  Value all = sums + more;
  b.store(sums, all);
  b.output("all", all, bf16);
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  b.output("y", eider::matmul(b.input("x", bf16, {m, k}), w) + all, bf16);
  return b.build();
}

/// Two kernels that multiply, the second more columns.
Program two() {
  Builder b("two");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k"), f = b.dim("f");
  Scaled up = b.scaled_input("up", e4m3, {f, k}, {1, 128}, f32),
         down = b.scaled_input("down", e4m3, {n, f}, {1, 128}, f32);
  Value hidden = eider::matmul(b.input("x", bf16, {m, k}), up);
  b.output("y", eider::matmul(cast(hidden, bf16), down), bf16);
  return b.build();
}

/// Codes of two formats on their way, of rows of two lengths, one in blocks.
Program mixed(DType first, DType second) {
  Builder b("mixed");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k"), k2 = b.dim("k2");
  auto product = [&](const std::string &name, DType format, const Dim &length, int64_t block) {
    Scaled w = b.scaled_input(name, format, {n, length}, {1, block}, f32);
    return eider::matmul(b.input(name + "_rows", bf16, {m, length}), w);
  };
  Value h = product("a", first, k, 64) + product("b", second, k2, eider::whole);
  b.output("y", quantize(h, e4m3, {.block = {1, 32}}));
  return b.build();
}

/// The product in blocks: groups of 256, which are whole vectors of each of a warp's lanes, or all
/// of it, whose amax is a kernel of its own.
Program inBlocks(const Block &block) {
  Builder b("in_blocks");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  Value y = eider::matmul(b.input("x", bf16, {m, k}), w);
  b.output("y", quantize(y, e4m3, {.block = block}));
  return b.build();
}

/// Weights of one dim, and rows that are multiplied and added.
Program square() {
  Builder b("square");
  Dim m = b.dim("m"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {k, k}, {1, 128}, f32);
  Value x = b.input("x", bf16, {m, k});
  b.output("y", x + eider::matmul(x, w), bf16);
  return b.build();
}
} // namespace

TEST(Matmul, AgreesWithTheReferenceOnTheDevice) { expectReference(points()); }

TEST(Matmul, ByWarpgroupsAgreesWithTheReferenceOnTheDevice) { expectReference(warpgroupPoints()); }

TEST(Matmul, WhatStandsAroundAgreesOnTheDevice) {
  const Program scaledAtOnce = inBlocks({whole, whole}), grouped = inBlocks({1, 256});
  std::vector<matrix::Case> cases;
  for (const int64_t m : {1, 19})
    for (const Program &program : {gated(), residual(), scaledAtOnce})
      cases.push_back(caseOf(program, extents(m, 96, 384), "m"));
  cases.push_back(caseOf(square(), {{"m", 5}, {"k", 272}}, "m"));
  cases.push_back(caseOf(grouped, extents(5, 300, 272), "m"));
  for (const Program &program : {mixed(e4m3, e2m1), mixed(e2m1, e5m2)})
    cases.push_back(caseOf(program, {{"m", 11}, {"n", 48}, {"k", 384}, {"k2", 130}}, "m"));
  cases.push_back(caseOf(scaledAtOnce, extents(3, 96, 384), "m"));
  cases.back().forAnyRows = false; // of few, whose warps share most sums
  cases.push_back(caseOf(gated(), extents(3, 96, 384), "m",
                         "contract<threads = 64, vector = 2, rows = 8, loads = 2, columns = 32, "
                         "prefetch = 2, software = 1>"));
  cases.push_back(caseOf(residual(), extents(29, 100, 256), "m", byWarpgroups(128, 32, 2, 3)));
  cases.push_back(
      caseOf(residual(), extents(29, 100, 256), "m", byWarpgroups(128, 32, 1, 3, 4, 2)));
  cases.push_back(caseOf(grouped, extents(21, 300, 272), "m", byWarpgroups(512, 32, 1, 3, 8, 2)));
  cases.push_back(
      caseOf(storedBefore(), extents(13, 100, 512), "m", byWarpgroups(128, 16, 1, 3, 4, 4)));
  cases.push_back(caseOf(two(), {{"m", 17}, {"n", 2048}, {"k", 4096}, {"f", 256}}, "m",
                         byWarpgroups(128, 64, 1, 3, 4, 2)));
  cases.push_back(caseOf(grouped, extents(21, 300, 272), "m", byWarpgroups(512, 32, 4, 3, 8)));
  cases.push_back(
      caseOf(grouped, extents(21, 300, 384), "m", asF16(byWarpgroups(512, 32, 1, 3, 8, 2))));
  // An x that is added too, and that of another kernel.
  cases.push_back(
      caseOf(square(), {{"m", 13}, {"k", 512}}, "m", asF16(byWarpgroups(128, 16, 2, 3))));
  cases.push_back(caseOf(two(), {{"m", 17}, {"n", 256}, {"k", 512}, {"f", 256}}, "m",
                         asF16(byWarpgroups(128, 64, 1, 3, 4, 2))));
  cases.push_back(
      caseOf(storedBefore(), extents(13, 100, 512), "m", asF16(byWarpgroups(128, 16, 1, 3))));
  at_points::expectReference(cases);
}

TEST(Matmul, TextsArePure) { expectPure(points()); }
TEST(Matmul, NvrtcCompilesTheTexts) {
  std::vector<Point> anywhere = points();
  std::erase_if(anywhere, [](const Point &point) { return point.codec == "hardware"; });
  std::erase_if(anywhere, [count = 0](const Point &) mutable { return count++ % 21 != 0; }); // slow
  expectNvrtc(anywhere);
}

TEST(Matmul, NvrtcCompilesTheTextsOfWarpgroups) {
  expectNvrtc(warpgroupPoints(), "sm_90a", /*every=*/5); // all would be slow
}

/// From 17 rows on, and where a matrix is of what warpgroups multiply.
TEST(Matmul, AreMultipliedByWarpgroups) {
  auto scheduleOf = [](OpParameters parameters, Dims dims, const char *target = "sm_90a",
                       const char *codec = "auto") {
    CompileOptions options;
    options.target = target;
    options.dims = std::move(dims);
    options.codec = codec;
    const std::string text = emit(libraryOp("matmul_skinny", parameters), options, Stage::Cuda);
    const size_t begin = text.rfind("// schedule", text.find("void matmul_skinny("));
    const std::string schedule = text.substr(begin, text.find("extern", begin) - begin);
    return std::regex_replace(schedule, std::regex("\n//  "), "");
  };
  EXPECT_THAT(scheduleOf({}, extents(65, 4096, 14336)), HasSubstr("cluster = 4, warpgroups = 1>"));
  // Rows of one tile become f16 before, those of bf16.
  for (const char *format : {"e4m3", "e5m2"})
    EXPECT_THAT(scheduleOf({.format = format}, extents(9, 57344, 8192)),
                HasSubstr("warpgroups = 1, f16 = 1>"));
  EXPECT_THAT(scheduleOf({.block = "1x*"}, extents(17, 57344, 8192)),
              HasSubstr("warpgroups = 1, f16 = 1>"));
  for (const OpParameters &other : {OpParameters{.dtype = "f16"}, {.format = "e4m3fnuz"}})
    EXPECT_THAT(scheduleOf(other, extents(9, 57344, 8192)), HasSubstr("warpgroups = 1>"));
  EXPECT_THAT(scheduleOf({}, extents(64, 57344, 8208)), HasSubstr("warpgroups = 1>")); // and a part
  EXPECT_THAT(scheduleOf({}, extents(16, 4096, 2048)), HasSubstr("warpgroups = 1>"));  // too small
  EXPECT_THAT(scheduleOf({}, extents(64, 1024, 4096)), HasSubstr("warpgroups = 1>"));
  EXPECT_THAT(scheduleOf({}, extents(16, 128, 524288)), HasSubstr("f16 = 1>"));
  EXPECT_THAT(scheduleOf({}, extents(16, 128, 524288 + 128)), // which no kernel before holds
              HasSubstr("warpgroups = 1>"));
  EXPECT_THAT(scheduleOf({}, extents(64, 4096, 4096)), HasSubstr("f16 = 1>"));
  EXPECT_THAT(scheduleOf({}, extents(32, 4096, 4096)), HasSubstr("warpgroups = 1>")); // likewise
  EXPECT_THAT(scheduleOf({}, extents(32, 6144, 4096)), HasSubstr("f16 = 1>"));
  // The last block of many parts would take long, and by clusters of eight blocks that have their
  // multiprocessor alone not all run at once.
  const OpParameters ofFour = {.format = "e2m1", .block = "1x32", .scale = "e8m0"};
  EXPECT_THAT(scheduleOf({}, extents(32, 512, 4096)), HasSubstr("prefetch = 4, cluster = 8"));
  EXPECT_THAT(scheduleOf(ofFour, extents(64, 1024, 4096)), HasSubstr("prefetch = 4, cluster = 8"));
  EXPECT_THAT(scheduleOf(ofFour, extents(64, 2048, 4096)), HasSubstr("cluster = 2"));
  EXPECT_THAT(scheduleOf({}, extents(64, 57344, 8192), "sm_90a", "software"),
              HasSubstr("warpgroups = 1>"));
  EXPECT_THAT(scheduleOf({.format = "e5m2"}, extents(64, 57344, 8192), "sm_90a", "software"),
              HasSubstr("f16 = 1>"));
  for (auto [block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}})
    EXPECT_THAT(
        scheduleOf({.format = "e2m1", .block = block, .scale = scale}, extents(64, 4096, 4096)),
        HasSubstr("warpgroups = 1>"));
  for (const std::string &other :
       {scheduleOf({}, extents(8, 4096, 14336)),
        scheduleOf({.block = "1x*"}, extents(16, 4096, 14336)), // of no scales of blocks
        scheduleOf({}, extents(64, 4096, 1032)),
        scheduleOf({.block = "1x32"}, extents(64, 4096, 4096)),
        scheduleOf({.dtype = "f32"}, extents(64, 4096, 4096)),
        scheduleOf({.format = "e2m1"}, extents(64, 4096, 4096)),
        scheduleOf({.format = "e2m1", .block = "1x32", .scale = "e8m0"}, extents(64, 4096, 4160)),
        scheduleOf({}, extents(64, 4096, 4096), "sm_90"),
        scheduleOf({}, extents(64, 4096, 4096), "sm_100a")})
    EXPECT_THAT(other, testing::Not(HasSubstr("warpgroups")));
}

/// Rows of one tile fill a GPU by parts of their length, which are left in the workspace; of any
/// number of rows these would be as many times as large.
TEST(Matmul, PartsFillAGpu) {
  CompileOptions options;
  options.target = "sm_90a";
  options.dims = {{"n", 4096}, {"k", 14336}};
  const std::string text = emit(libraryOp("matmul_skinny", {}), options, Stage::Cuda);
  const size_t few = text.find("void matmul_skinny_rows_64("), any = text.find("matmul_skinny(\n");
  ASSERT_LT(few, any);
  ASSERT_NE(any, std::string::npos);
  EXPECT_THAT(text.substr(few, any - few), HasSubstr("/*parts=*/4>"));
  EXPECT_THAT(text.substr(any), Not(HasSubstr("parts")));
  // 64 rows of sums by each of four parts, those rows as f16, and no more for rows that have none.
  const contract::Contract contract =
      contract::read(compile(libraryOp("matmul_skinny", {}), options).contract);
  const auto workspace = contract::Expression::parse(
      contract.workspace, std::array{std::string("m"), std::string("k")});
  const auto bytesOf = [&](int64_t m) {
    return workspace.evaluate(std::array<int64_t, 2>{m, 14336});
  };
  EXPECT_GE(bytesOf(64), 4 * 64 * 4096 * 4 + 64 * 14336 * 2);
  EXPECT_LE(bytesOf(64), 4 * 64 * 4096 * 4 + 64 * 14336 * 2 + 65536);
  for (const int64_t m : {65, 16384})
    EXPECT_EQ(bytesOf(m), 0) << m;
  for (const int64_t m : {19, 64}) { // as tests/gpu/kernels has them
    options.dims = extents(m, 300, 5120);
    EXPECT_THAT(emit(libraryOp("matmul_skinny", {}), options, Stage::Cuda),
                HasSubstr("eider::leave_sums("))
        << m;
  }
  options.dims = {{"n", 4096}, {"k", 14336}};
  for (const int64_t m : {64, 65}) {
    options.dims["m"] = m;
    EXPECT_EQ(compile(libraryOp("matmul_skinny", {}), options).contract.find("product_parts") !=
                  std::string::npos,
              m == 64)
        << m;
  }
}

/// Of two kernels in parts, the first by the heuristic's schedule, the room of the larger, beside
/// what one leaves the other.
TEST(Matmul, PartsOfTwoKernelsHaveRoom) {
  CompileOptions options;
  options.target = "sm_90a";
  options.dims = {{"m", 17}, {"n", 2048}, {"k", 4096}, {"f", 256}};
  options.schedule = byWarpgroups(128, 64, 1, 3, 4, 2);
  const std::string text = emit(two(), options, Stage::Cuda);
  EXPECT_THAT(text.substr(0, text.find("void two(")), HasSubstr("eider::leave_sums("));
  const contract::Contract ofTwo = contract::read(compile(two(), options).contract);
  std::vector<std::string> names;
  std::vector<int64_t> values;
  for (const contract::Dim &dim : ofTwo.dims) {
    names.push_back(dim.name);
    values.push_back(options.dims.at(dim.name));
  }
  EXPECT_GE(contract::Expression::parse(ofTwo.workspace, names).evaluate(values),
            17 * 256 * 2 + 2 * 32 * 64 * 64 * 4);
}

TEST(Matmul, RefusesPartsThatItCannotHave) {
  auto refusal = [](const char *op, const std::string &schedule) -> std::string {
    CompileOptions options;
    options.target = "sm_90a";
    options.schedule = schedule;
    options.dims = extents(64, 256, 512);
    if (std::string(op) == "grouped_matmul")
      options.dims["groups"] = 2;
    try {
      compile(libraryOp(op, {}), options);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("matmul_skinny", byWarpgroups(256, 64, 2, 4, 4, 2)), "");
  EXPECT_THAT(refusal("matmul_skinny", byWarpgroups(256, 64, 2, 4, 4, 4)),
              HasSubstr("128 of the length at least: lower split or cluster"));
  EXPECT_THAT(refusal("matmul_skinny", byWarpgroups(256, 64, 1, 4, 4, 17)),
              HasSubstr("is 1 to 16"));
  EXPECT_THAT(refusal("grouped_matmul", byWarpgroups(256, 64, 1, 4, 4, 2)),
              HasSubstr("rows are in no groups"));
  EXPECT_THAT(refusal("matmul_skinny", byWarpgroups(128, 8, 4, 4, 2, 1)), "");
  EXPECT_THAT(refusal("matmul_skinny", byWarpgroups(128, 8, 2, 4, 2, 2)),
              HasSubstr("vector to a multiple of 4"));
}

/// Scales of several blocks are copied together, so that their base is aligned as those of rows
/// are; warps, which load one by one, ask for nothing.
TEST(Matmul, WarpgroupsAskForAlignedScales) {
  auto alignedOf = [](const char *target) {
    CompileOptions options;
    options.target = target;
    options.dims = extents(64, 256, 2048);
    const std::string contract = compile(libraryOp("matmul_skinny", {}), options).contract;
    size_t count = 0;
    for (size_t at = contract.find("\"aligned\""); at != std::string::npos;
         at = contract.find("\"aligned\"", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(alignedOf("sm_90a"), alignedOf("sm_90") + 1);
}

/// Without the reference: integers small enough that f32 adds them exactly in any order.
/// Contiguous matrices are aligned enough for the kernel of such, whatever a scale covers.
TEST(Matmul, ContiguousScalesAreAligned) {
  const Device host = Device::open("host");
  for (const char *block : {"1x128", "128x128", "1x*", "*x*", "*x128"})
    for (const int64_t k : {400, 2048}) {
      CompileOptions options;
      options.target = "host";
      options.dims = extents(64, 200, k);
      options.schedule = byWarpgroups(128, 64, 1, 3);
      const Kernel kernel =
          host.load(compile(libraryOp("matmul_skinny", {.block = block}), options));
      EXPECT_EQ(kernel.prepare(options.dims).variant(), kernel.variants().front().name)
          << block << ' ' << k;
    }
}

TEST(Matmul, IsExactOnIntegers) {
  constexpr int64_t m = 10, n = 21, k = 300, groups = 3;
  matrix::Case made = at_points::caseOf(matmul({.dtype = "f32"}, extents(m, n, k)));
  constexpr unsigned char codes[] = {0x00, 0x38, 0x40, 0x44, 0x48, 0xb8, 0xc0}; // 0 1 2 3 4 -1 -2
  constexpr int values[] = {0, 1, 2, 3, 4, -1, -2};
  std::vector<float> x(m * k), scales(n * groups), expected(m * n);
  std::vector<unsigned char> w(n * k);
  for (int64_t i = 0; i < m * k; ++i)
    x[i] = static_cast<float>(i * 7 % 9 - 4);
  for (int64_t i = 0; i < n * groups; ++i)
    scales[i] = std::ldexp(1.0f, static_cast<int>(i % 3));
  for (int64_t i = 0; i < n * k; ++i)
    w[i] = codes[(i / k * 5 + i % k * 3) % 7];
  for (int64_t row = 0; row < m; ++row)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < k; ++j)
        expected[row * n + i] += static_cast<float>(values[(i * 5 + j * 3) % 7]) *
                                 scales[i * groups + j / 128] * x[row * k + j];
  std::memcpy(made.inputs[0].data.data(), w.data(), w.size());
  std::memcpy(made.inputs[1].data.data(), scales.data(), 4 * scales.size());
  std::memcpy(made.inputs[2].data.data(), x.data(), 4 * x.size());
  EXPECT_EQ(floatsOf(runOnHost(made).at(0)), expected);
}

/// Below the least bf16 an f32 is none of three, and yet not 0: infinity times it is no NaN.
TEST(Matmul, InfiniteWeightsMeetTinyRows) {
  constexpr int64_t k = 64;
  matrix::Case made =
      at_points::caseOf(matmul({.dtype = "f32", .format = "e5m2"}, extents(1, 1, k)));
  constexpr std::byte infinity{0x7c};
  std::vector<float> x(k, 0x1p-140f);
  std::fill(made.inputs[0].data.begin(), made.inputs[0].data.end(), infinity);
  std::memcpy(made.inputs[2].data.data(), x.data(), 4 * x.size());
  EXPECT_TRUE(std::isinf(floatsOf(runOnHost(made).at(0)).at(0)));
}

/// The bound is so tight that many elements show a scale that is dropped, or elements that are left
/// out.
TEST(Matmul, BoundsCatchMutations) {
  constexpr int64_t m = 9, n = 64, k = 1024 + 5;
  const matrix::Case made = at_points::caseOf(matmul({.dtype = "f32"}, extents(m, n, k)));
  ASSERT_EQ(wrongOf(made, runOnHost(made)), 0);
  const size_t groups = 9;
  EXPECT_GE(wrongWithout(made, 1, 4 * groups, 4 * 3, 4), m * n / 4) << "a group's scale dropped";
  EXPECT_GE(wrongWithout(made, 0, k, k - 5, 5), m * n / 4) << "the tail left out";
  EXPECT_GE(wrongWithout(made, 0, k, 500, 16), m * n / 4) << "a chunk left out";
  EXPECT_GE(wrongWithout(made, 2, 4 * k, 4 * 77, 4), m * n / 8) << "one column of x left out";
}

TEST(Matmul, RefusesWhatItCannot) {
  EXPECT_THAT(errorOf(matmul({.block = "1x8"}, extents(4, 16, 64))),
              HasSubstr("a power of two from 16 on"));
  Point scheduled = matmul({}, extents(4, 64, 512));
  scheduled.schedule = "row<threads = 32, vector = 16>";
  EXPECT_THAT(errorOf(scheduled), HasSubstr("needs family contract"));
  scheduled.schedule =
      "contract<threads = 64, vector = 1, rows = 8, columns = 16, prefetch = 3, loads = 1>";
  EXPECT_THAT(errorOf(scheduled), HasSubstr("columns is a multiple of 32"));
  scheduled.schedule = "contract<threads = 128, vector = 1, rows = 8, columns = 16, prefetch = 3, "
                       "loads = 3, split = 4>";
  EXPECT_THAT(errorOf(scheduled), HasSubstr("in the middle of a block of weights"));

  const auto errorOn = [](const char *target, const std::string &schedule,
                          OpParameters parameters = {}) {
    CompileOptions options;
    options.target = target;
    options.dims = extents(4, 256, 512);
    options.schedule = schedule;
    try {
      emit(libraryOp("matmul_skinny", std::move(parameters)), options, Stage::Cuda);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string warpgroups = byWarpgroups(128, 8, 2, 2);
  EXPECT_EQ(errorOn("sm_90a", warpgroups), "");
  EXPECT_THAT(errorOn("sm_90", warpgroups), HasSubstr("for sm_90a: leave warpgroups out"));
  EXPECT_THAT(errorOn("sm_90a", warpgroups, {.block = "1x64"}), HasSubstr("rows of 128"));
  EXPECT_THAT(errorOn("sm_90a", byWarpgroups(128, 24, 1, 2)), HasSubstr("8, 16, 32 or 64 rows"));
  EXPECT_THAT(errorOn("sm_90a", byWarpgroups(384, 8, 1, 2)), HasSubstr("128, 256 or 512"));
  EXPECT_THAT(errorOn("sm_90a", byWarpgroups(512, 64, 1, 8)), HasSubstr("KiB of shared memory"));
  EXPECT_THAT(errorOn("sm_90a", byWarpgroups(128, 8, 1, 1)), HasSubstr("2 to 8 stages"));
  EXPECT_THAT(errorOn("sm_90a", "contract<threads = 32, vector = 4, rows = 8, columns = 16, "
                                "prefetch = 3, loads = 1, cluster = 2>"),
              HasSubstr("leave cluster out"));

  Builder b("computed_weights");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Value given = b.input("w", f32, {n, k});
  b.output(
      "y",
      eider::matmul(b.input("x", bf16, {m, k}), eider::quantize(given, e4m3, {.block = {1, 128}})),
      bf16);
  EXPECT_THAT(errorOf(b.build(), {{"n", 64}, {"k", 256}}),
              HasSubstr("multiplies by computed weights"));
  EXPECT_THAT(errorOf(residual(), {{"n", 64}}), HasSubstr("dim 'k' runs along the rows"));
}

TEST(Matmul, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  try {
    eider::matmul(b.input("x", bf16, {m, n}), w);
    FAIL() << "rows of another dim";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("does not meet weights of [n, k]"));
    EXPECT_THAT(error.what(), HasSubstr("MatmulTest.cpp"));
  }
}
