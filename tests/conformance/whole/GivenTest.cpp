//===- GivenTest.cpp - Values of the whole matrix, of the same read -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"
#include "tests/matrix/Reference.h"
#include "tests/points/Points.h"

#include <cstring>
#include <memory>

using namespace eider;
using namespace eider::at_points;
using matrix::testDevice;

namespace {

Point point(const std::string &op, OpParameters parameters, int64_t tokens = 300,
            int64_t hidden = 333, const std::string &schedule = "") {
  parameters.amax = "yes";
  Point made{.op = op,
             .parameters = parameters,
             .dims = {{"tokens", tokens}, {"hidden", hidden}},
             .schedule = schedule};
  const Program program = libraryOp(op, parameters);
  for (const Signature::NamedDim &dim : program.signature().dims)
    made.dims.try_emplace(dim.name, 40);
  made.forAnyRows = false;
  return made;
}

/// Every family of tiles, beside each kind of reduction and of output.
std::vector<Point> points() {
  std::vector<Point> all = {
      point("quantize", {}),
      point("quantize", {}, 1),
      point("quantize", {}, 0),
      point("quantize", {.format = "e2m1", .block = "1x16", .scale = "e4m3"}, 300, 336),
      point("quantize", {.block = "*x*"}),
      point("quantize", {.scaleSource = "static"}, 1000, 512),
      point("quantize", {.block = "128x128"}),
      point("cast_transpose", {}),
      point("cast_transpose", {.block = "128x128", .copy = "bf16"}, 320, 384),
      point("rms_norm_quant", {}),
      point("rms_norm_quant", {.dtype = "f32", .block = "1x*"}, 9, 1024),
      point("rms_norm_quant", {.block = "128x128"}, 260, 384),
      point("rms_norm_quant", {.block = "1x*"}, 9, 1182,
            "row<threads = 64, vector = 4, cluster = 2>"),
      point("add_layer_norm_quant", {.format = "e5m2", .copy = "bf16"}),
      point("silu_mul_quant", {.copy = "bf16", .transposed = "yes"}),
      point("gelu_bias_quant", {.dtype = "f16", .mode = "deepgemm"}),
      point("softmax_quant", {}, 30, 200),
      point("rope_quant", {}, 70, 384),
      point("moe_permute_quant", {}, 70, 384),
      point("rms_norm_quant", {.block = "1x*"}, 2, 524289), // in pieces of rows
      point("rms_norm_quant", {.block = "1x*"}, 300, 1182,
            "row<threads = 64, vector = 4, tiles = 2, cluster = 2, combine = 1>"),
      point("cast_transpose", {}, 300, 512,
            "tile<threads = 256, vector = 16, rows = 128, columns = 128, combine = 1>"),
  };
  for (size_t i = 0; i < all.size(); ++i)
    all[i].forAnyRows = i % 2 == 0;
  for (const size_t i : {1, 9, 15})
    all[i].codec = "software";
  for (const size_t i : {0, 7, 9, 13})
    all[i].layout = {/*padding=*/3, /*shift=*/1};
  all[0].values = all[14].values = "specials";
  return all;
}

TEST(Given, AmaxIsAsTheReferenceHasIt) { expectReference(points()); }

TEST(Given, TextsArePure) { expectPure(points()); }

TEST(Given, TextsCompileForEveryTarget) {
  if (testDevice() == "host")
    expectNvrtc({point("cast_transpose", {}), point("rms_norm_quant", {}), point("quantize", {})});
}

/// Nothing reads x twice: the kernel before gives the value that blocks combine into its begin.
TEST(Given, OneKernelReadsForAllOutputs) {
  CompileOptions options;
  options.target = "sm_80";
  options.dims = {{"hidden", 512}};
  for (const char *op : {"quantize", "cast_transpose", "rms_norm_quant", "silu_mul_quant"}) {
    const Program program = libraryOp(op, point(op, {.copy = "bf16"}).parameters);
    const std::string text = explain(program, options);
    EXPECT_NE(text.find("kernels   2"), text.npos) << op;
    const size_t before = text.find("kernel " + std::string(op) + "_begin\n");
    ASSERT_NE(before, text.npos) << op;
    EXPECT_EQ(text.find("  reads     0 bytes\n", before), text.find("  reads ", before)) << op;
  }
  const Program two = libraryOp("quantize", point("quantize", {.block = "*x*"}).parameters);
  EXPECT_NE(explain(two, options).find("kernels   2"), std::string::npos);
}

/// Several, what is computed of them alone, and one that a kernel after the first gives.
Program severalOf(bool ofRows) {
  Builder b("several");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  const Value x = b.input("x", f32, {tokens, hidden});
  const Block all = {whole, whole};
  const Value y = ofRows ? x / max(amax(x, 1), 1e-6f) : x * 2.0f;
  b.output("y", y, f16);
  b.output("range", max(y, all) - min(y, all));
  b.output("scale", amax(x, all) / 448.0f);
  b.output("largest", amax(y, all));
  return b.build();
}

/// One that elements wait for, and another of those; what both give together.
Program chain() {
  Builder b("chain");
  const Value x = b.input("x", f32, {b.dim("tokens"), b.dim("hidden")});
  const Block all = {whole, whole};
  const Value first = amax(x, all), y = x / first, second = max(y, all);
  b.output("y", y, f16);
  b.output("together", first * second);
  b.output("first", first);
  return b.build();
}

/// The same reductions of rows and of blocks as of all, and one value that is read.
Program ofRowsAndBlocks() {
  Builder b("of_rows");
  const Value x = b.input("x", f32, {b.dim("tokens"), b.dim("hidden")}),
              factor = b.input("factor", f32, {1, 1});
  const Block all = {whole, whole};
  b.output("lowest", min_along(x, 1));
  b.output("y", x - max_along(x, 1), f16);
  b.output("range", (max(x, all) - min(x, all)) * factor);
  b.output("scaled", x * factor, f16);
  return b.build();
}

/// What is computed of one, of a scalar, and of one for which elements wait; and one that is an
/// output as it is.
Program ofOthers() {
  Builder b("of_others");
  Dim hidden = b.dim("hidden");
  const Value x = b.input("x", f32, {b.dim("tokens"), hidden}),
              weight = b.input("weight", f32, {hidden}), factor = b.scalar("factor", 3.0f);
  const Block all = {whole, whole};
  const Value lowest = min(x, all), y = (x - lowest) * weight;
  b.output("y", y, f16);
  b.output("together", max(y, all) * factor - lowest);
  b.output("least", min(y, all));
  return b.build();
}

/// Values of rows by the names that the kernel's own memory has.
Program ofItsNames() {
  Builder b("of_its_names");
  const Value x = b.input("x", f32, {b.dim("tokens"), b.dim("hidden")});
  const Value y = x * sum(x, 1).named("arrivals") * amax(x, 1).named("largest_of_all");
  b.output("y", quantize(y, e4m3, {.block = {128, 128}}));
  b.output("amax", amax(y, {whole, whole}));
  return b.build();
}

/// Of a product, which warpgroups have alone.
Program ofProduct() {
  Builder b("of_product");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  const Value x = b.input("x", bf16, {m, k});
  const Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  const Value y = eider::matmul(x, w);
  b.output("y", y, bf16);
  b.output("amax", amax(y, {whole, whole}));
  return b.build();
}

TEST(Given, IsOfProducts) {
  std::vector<matrix::Case> cases;
  for (const int64_t m : {5, 33}) {
    cases.push_back(caseOf(ofProduct(), {{"m", m}, {"n", 128}, {"k", 256}}, "m"));
    cases.push_back(cases.back());
    cases.back().forAnyRows = false;
  }
  at_points::expectReference(cases);
  CompileOptions options;
  options.target = "sm_90a";
  options.dims = {{"n", 256}, {"k", 512}};
  EXPECT_NO_THROW(compile(ofProduct(), options));
}

/// Where few rows are more than the blocks that meet hold, parts and the blocks' own memory lie
/// beside each other.
TEST(Given, HasMemoryOfItsOwn) {
  matrix::Case wide = caseOf(chain(), {{"tokens", 20}, {"hidden", 65536}}, "tokens");
  wide.forAnyRows = false;
  at_points::expectReference(std::vector<matrix::Case>{wide});
}

TEST(Given, StandsBesideWhatElementsWaitFor) {
  std::vector<matrix::Case> cases;
  for (const Program &program : {chain(), ofRowsAndBlocks(), ofOthers(), ofItsNames()})
    for (const int64_t tokens : {0, 1, 300}) {
      cases.push_back(caseOf(program, {{"tokens", tokens}, {"hidden", 256}}, "tokens"));
      cases.push_back(cases.back()); // and by the last block, or a kernel whose blocks meet
      cases.back().forAnyRows = false;
    }
  at_points::expectReference(cases);
}

TEST(Given, SeveralAreCombinedTogether) {
  std::vector<matrix::Case> cases;
  for (const bool ofRows : {false, true})
    for (const int64_t tokens : {1, 77, 2000})
      cases.push_back(caseOf(severalOf(ofRows), {{"tokens", tokens}, {"hidden", 200}}, "tokens"));
  at_points::expectReference(cases);
}

/// The largest is the last element: who leaves out a block, or the end of a row, has another.
TEST(Given, TheLastElementCounts) {
  for (const char *op : {"quantize", "cast_transpose", "silu_bias_quant"}) {
    const Point made = point(op, {.dtype = "f32"}, 1001, 333);
    matrix::Case given = caseOf(made);
    auto setLast = [](matrix::Case &of, float value) {
      std::vector<std::byte> &x = of.inputs[0].data;
      std::memcpy(x.data() + x.size() - sizeof(float), &value, sizeof(float));
    };
    setLast(given, 1e4f);
    at_points::expectReference(std::vector<matrix::Case>{given});
    if (testDevice() != "host")
      continue;
    matrix::Case without = given;
    setLast(without, 0.0f);
    const auto outputs = compare(given.program, given.inputs, runOnHost(without));
    EXPECT_EQ(outputs.back().name, "amax");
    EXPECT_EQ(outputs.back().wrong, 1) << op;
  }
}

/// A block's rows beyond the last are computed of zeros, and of a bias, which here is the largest.
TEST(Given, RowsThatAreNotThereDoNotCount) {
  constexpr int64_t hidden = 128;
  const auto set = [](HostTensor &of, float even, float odd) {
    for (size_t i = 0; i < of.data.size() / sizeof(float); ++i)
      std::memcpy(&of.data[i * sizeof(float)], i % 2 ? &odd : &even, sizeof(float));
  };
  std::vector<matrix::Case> cases;
  for (const char *block : {"1x16", "1x128", "1x*"})
    for (const int64_t tokens : {1, 3})
      for (const char *op : {"silu_bias_quant", "silu_mul_bias_quant", "layer_norm_quant"}) {
        Point made = point(op, {.dtype = "f32", .block = block}, tokens, hidden);
        made.forAnyRows = tokens == 1;
        cases.push_back(caseOf(made));
        for (HostTensor &input : cases.back().inputs)
          if (input.name == "bias")
            set(input, 3, 3);
          else if (input.name == "weight")
            set(input, -2.5, 2.5);
          else if (op == std::string("layer_norm_quant"))
            set(input, 1, -1);
          else
            set(input, -8, -8);
      }
  at_points::expectReference(cases);
}

/// What is computed of one.
Program ofScale() {
  Builder b("of_scale");
  const Value x = b.input("x", f32, {b.dim("tokens"), b.dim("hidden")});
  b.output("y", x * 2.0f, f16);
  b.output("scale", amax(x, {whole, whole}) / 448.0f);
  return b.build();
}

/// Nobody clears the workspace or the output, and launches of other sizes have left them as they
/// do.
void expectThatMemoryMayHoldAnything(const Program &program, float divisor) {
  constexpr int64_t hidden = 512, most = 600;
  const Device device = Device::open(testDevice());
  CompileOptions options;
  options.target = device.target();
  options.dims = {{"hidden", hidden}};
  const Kernel kernel = device.load(compile(program, options));
  std::vector<float> values(most * hidden);
  for (size_t i = 0; i < values.size(); ++i) // the largest is in the last row
    values[i] = static_cast<float>(i);
  const size_t size = kernel.prepare({{"tokens", most}}).workspace_bytes();
  const auto memory = [&](size_t bytes) {
    return std::shared_ptr<void>(device.allocate(bytes), [&](void *at) { device.free(at); });
  };
  const auto x = memory(values.size() * 4), y = memory(values.size() * 2),
             scale = memory(values.size() / 128 * 4), given = memory(4), workspace = memory(size);
  device.upload(x.get(), values.data(), values.size() * 4);
  std::vector<TensorArg> tensors = {{x.get()}, {y.get()}, {scale.get()}, {given.get()}};
  if (program.signature().tensors.size() == 3)
    tensors.erase(tensors.begin() + 2);
  for (const int byte : {0x5a, 0x00, 0xff, 0x7f}) {
    device.fill(workspace.get(), byte, size);
    device.fill(given.get(), byte, 4);
    for (const int64_t tokens : {most, int64_t(1), int64_t(257), most, most, int64_t(7)}) {
      kernel.prepare({{"tokens", tokens}}).launch({}, tensors, {}, workspace.get());
      device.synchronize();
      float found = -1;
      device.download(&found, given.get(), sizeof(found));
      EXPECT_EQ(found, values[static_cast<size_t>(tokens * hidden - 1)] / divisor)
          << byte << ", " << tokens << " rows";
    }
  }
}

TEST(Given, ItsMemoryMayHoldAnything) {
  expectThatMemoryMayHoldAnything(libraryOp("quantize", {.dtype = "f32", .amax = "yes"}), 1);
  expectThatMemoryMayHoldAnything(ofScale(), 448);
}

} // namespace
