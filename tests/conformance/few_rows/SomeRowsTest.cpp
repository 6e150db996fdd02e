//===- SomeRowsTest.cpp - Rows that are neither few nor many --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Contract.h"
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"

using namespace eider;
using namespace eider::at_points;
using matrix::testDevice;

namespace {

/// A little more rows than are few; `withLong`: long ones, too, which take a simulator long.
std::vector<Point> points(bool withLong) {
  std::vector<Point> all;
  const auto add = [&](const std::string &op, int64_t tokens, int64_t hidden,
                       OpParameters parameters = {}) {
    Dims dims = {{"tokens", tokens}, {"hidden", hidden}};
    if (op.starts_with("rope"))
      dims["max_position"] = 300;
    Point point{.op = op, .parameters = std::move(parameters), .dims = dims};
    point.forAnyRows = false;
    point.values = all.size() % 4 == 3 ? "specials" : "normal";
    all.push_back(point);
  };
  for (const char *op :
       {"rms_norm_quant", "layer_norm_quant", "softmax_quant", "softmax", "layer_norm", "quantize",
        "silu_quant", "silu_mul_quant", "requantize", "dequantize", "rope_quant", "rope"})
    add(op, 257, 1024);
  add("rms_norm_quant", 257, 2048); // half a group's lanes
  add("rms_norm_quant", 300, 2048, {.format = "e5m2", .block = "1x*"});
  add("layer_norm_quant", 257, 2048, {.dtype = "f16", .block = "1x32", .scale = "e8m0"});
  add("layer_norm", 257, 2048);
  add("rope_quant", 257, 1024, {.block = "1x32", .scale = "e8m0"});
  add("softmax", 257, 1024, {.numerics = {}, .settings = {{"causal", "1"}}});
  add("rms_norm_quant", 257, 1024, {.format = "e2m1", .block = "1x16", .scale = "e4m3"});
  add("quantize", 257, 1024, {.format = "e2m1", .block = "1x16", .scale = "e4m3"});
  for (const char *op : {"rms_norm_quant", "silu_mul_quant"}) {
    add(op, 257, 1024);
    all.back().codec = "software";
  }
  add("gelu_bias_quant", 257, 1536, {.block = "1x512"});
  if (!withLong)
    return all;
  for (const char *op : {"rms_norm_quant", "layer_norm", "softmax_quant"}) {
    add(op, 97, 8192);
    add(op, 128, op == std::string("layer_norm") ? 7168 : 16384);
  }
  add("layer_norm_quant", 700, 7168); // more rows than run at once
  add("rms_norm_quant", 600, 8192, {.format = "e2m1", .block = "1x16", .scale = "e4m3"});
  add("softmax", 600, 7168, {.numerics = {}, .settings = {{"causal", "1"}}});
  add("dequantize", 600, 7168);
  add("rope_quant", 600, 7168);
  return all;
}

TEST(SomeRows, AgreeWithTheReference) {
  matrix::Harness harness(testDevice(), /*seed=*/5);
  std::vector<matrix::Case> cases;
  for (const Point &point : points(testDevice() != "host")) {
    cases.push_back(caseOf(point));
    harness.add(cases.back());
  }
  harness.build();
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(harness.variantOf(i), "some_rows") << cases[i].program.name() << ", case " << i;
    for (const Comparison &output : compare(cases[i].program, cases[i].inputs, harness.run(i)))
      EXPECT_EQ(output.wrong, 0) << cases[i].program.name() << ", case " << i << ": "
                                 << output.firstWrong;
  }
}

TEST(SomeRows, TextsArePure) { expectPure(points(/*withLong=*/true)); }

/// The variants of few rows and of some, and how many these are at most.
std::string boundsOf(const std::string &op, int64_t hidden, const OpParameters &parameters = {},
                     const std::string &target = "sm_90") {
  CompileOptions options;
  options.target = target;
  options.dims = {{"hidden", hidden}};
  if (op.find("rope") != std::string::npos)
    options.dims["max_position"] = 4096;
  std::string bounds;
  for (const contract::Variant &variant :
       contract::read(compile(libraryOp(op, parameters), options).contract).variants)
    for (const contract::Predicate &predicate : variant.predicates)
      if (predicate.kind == contract::Predicate::Kind::Range)
        bounds += (bounds.empty() ? "" : ", ") + variant.name + " " + std::to_string(predicate.max);
  return bounds;
}

const OpParameters causal = {.settings = {{"causal", "1"}}};

TEST(SomeRows, AreFewerOfLongerRows) {
  EXPECT_EQ(boundsOf("rms_norm_quant", 1024), "few_rows 256, some_rows 2560");
  EXPECT_EQ(boundsOf("rms_norm_quant", 8192), "few_rows 96, some_rows 2048");
  EXPECT_EQ(boundsOf("rms_norm_quant", 16384), "few_rows 64, some_rows 1024");
  EXPECT_EQ(boundsOf("softmax_quant", 16384), "few_rows 48, some_rows 128");
  EXPECT_EQ(boundsOf("softmax", 8192), "few_rows 96, some_rows 320");
  EXPECT_EQ(boundsOf("quantize", 7168), "few_rows 146, some_rows 365");
  EXPECT_EQ(boundsOf("dequantize", 8192), "few_rows 128, some_rows 2048");
  EXPECT_EQ(boundsOf("rope", 8192, {.numerics = {}}), "few_rows 128, some_rows 320");
  EXPECT_EQ(boundsOf("rope_quant", 8192), "few_rows 128, some_rows 4096");
}

TEST(SomeRows, AreFewerWhereMoreWasNotFasterOrNotTimed) {
  EXPECT_EQ(boundsOf("softmax_quant", 8192, causal), "few_rows 96, some_rows 320");
  EXPECT_EQ(boundsOf("quantize", 4096, {.block = "1x*"}), "few_rows 192, some_rows 640");
  EXPECT_EQ(boundsOf("norm_rope_quant", 4096, {.block = "1x*"}), "few_rows 192, some_rows 640");
}

TEST(SomeRows, AreMoreWhereTheyAreReducedTwice) {
  EXPECT_EQ(boundsOf("layer_norm_quant", 8192), "few_rows 96, some_rows 4096");
  EXPECT_EQ(boundsOf("layer_norm_quant", 7168), "few_rows 109, some_rows 4681");
  EXPECT_EQ(boundsOf("layer_norm_quant", 16384), "few_rows 64, some_rows 1024");
  EXPECT_EQ(boundsOf("layer_norm", 7168), "few_rows 109, some_rows 4681");
  EXPECT_EQ(boundsOf("layer_norm", 2048), "few_rows 256, some_rows 16384");
  EXPECT_EQ(boundsOf("softmax", 7168, {.numerics = {}, .settings = causal.settings}),
            "few_rows 109, some_rows 4681");
}

TEST(SomeRows, HaveTheScheduleOfManyWhereThatIsAsGood) {
  EXPECT_EQ(boundsOf("rms_norm_quant", 7168), "few_rows 109");
  EXPECT_EQ(boundsOf("layer_norm_quant", 3072), "few_rows 256");
  EXPECT_EQ(boundsOf("layer_norm", 5120), "few_rows 153");
  EXPECT_EQ(boundsOf("softmax", 7168), "few_rows 109");
  EXPECT_EQ(boundsOf("softmax", 32768), "few_rows 24");
  EXPECT_EQ(boundsOf("softmax_quant", 14336), "few_rows 54");
  EXPECT_EQ(boundsOf("rms_norm_quant", 9216), "few_rows 113");
  EXPECT_EQ(boundsOf("rms_norm_quant", 32768, {}, "sm_80"), "few_rows 64");
  EXPECT_EQ(boundsOf("rms_norm", 32768), "few_rows 64");
  EXPECT_EQ(boundsOf("embedding", 7168), "few_rows 146");
  EXPECT_EQ(boundsOf("moe_unpermute", 7168), "few_rows 146");
  EXPECT_EQ(boundsOf("add_rms_norm_quant", 8192), "few_rows 128");
  EXPECT_EQ(boundsOf("add_rms_norm_quant", 16384), "few_rows 128");
  EXPECT_EQ(boundsOf("quantize", 512), "few_rows 256");
  EXPECT_EQ(boundsOf("rms_norm", 8193), "few_rows 127");
}

TEST(SomeRows, AreInClustersWhereManyAreHeldByOneBlock) {
  EXPECT_EQ(boundsOf("rms_norm_quant", 32768), "few_rows 64, some_rows 1024");
  EXPECT_EQ(boundsOf("layer_norm", 28672), "few_rows 73, some_rows 1170");
}

TEST(SomeRows, WiderElementsAndGpusWithoutClustersHaveMoreThatAreFew) {
  EXPECT_EQ(boundsOf("rms_norm", 8192, {.dtype = "f32"}), "few_rows 256");
  EXPECT_EQ(boundsOf("rms_norm_quant", 7168, {}, "sm_80"), "few_rows 256");
  EXPECT_EQ(boundsOf("layer_norm_quant", 8192, {}, "sm_80"), "few_rows 96, some_rows 4096");
  EXPECT_EQ(boundsOf("softmax", 12288, {}, "sm_80"), "few_rows 170");
}

TEST(SomeRows, LeaveToTransposesTheirOwn) {
  EXPECT_EQ(boundsOf("rms_norm_quant", 65536, {.transposed = "yes"}), "rows_16 16, few_rows 32");
  EXPECT_EQ(boundsOf("softmax_quant", 131072, {.transposed = "yes"}), "rows_16 16");
}

} // namespace
