//===- tests/unit/runtime/HostKernelTest.cpp ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Kernels written by hand, launched on the device `host`: which variant runs, and what is refused.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/Complaint.h"
#include "tests/unit/runtime/Samples.h"
#include "tests/unit/runtime/ScaleLaunch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

using namespace eider;

namespace {

const Device &host() {
  static const Device device = Device::open("host");
  return device;
}

const Kernel &kernel() {
  static const Kernel kernel = host().load(scaleExecutable());
  return kernel;
}

TEST(HostKernel, AlignedContiguousTakesTheFirstVariant) {
  ScaleLaunch launch(host(), 3, 8);
  launch.run(kernel());
  EXPECT_EQ(launch.variant(), 1);
  launch.expectScaled(2.0f);
}

TEST(HostKernel, OddWidthTakesTheSecond) {
  ScaleLaunch launch(host(), 3, 7);
  launch.run(kernel());
  EXPECT_EQ(launch.variant(), 2);
  launch.expectScaled(2.0f);
}

TEST(HostKernel, MisalignedBaseTakesTheSecond) {
  ScaleLaunch launch(host(), 3, 8, {.offset = 1});
  launch.run(kernel());
  EXPECT_EQ(launch.variant(), 2);
  launch.expectScaled(2.0f);
}

TEST(HostKernel, StridedRowsTakeTheGeneralOne) {
  ScaleLaunch launch(host(), 3, 8, {.pitch = 11});
  launch.run(kernel());
  EXPECT_EQ(launch.variant(), 3);
  launch.expectScaled(2.0f);
}

TEST(HostKernel, PaddingBetweenRowsIsNotTouched) {
  ScaleLaunch launch(host(), 3, 8, {.pitch = 11});
  launch.run(kernel());
  launch.expectPaddingUntouched();
}

TEST(HostKernel, ZeroRowsLaunchNothingAndLoadNothing) {
  const Kernel fresh = host().load(scaleExecutable());
  const TensorArg nothing[3] = {};
  fresh.prepare({{"tokens", 0}, {"hidden", 8}}).launch({}, nothing);
  fresh.launch({}, {{"x"}, {"y"}, {"which"}}, {{"tokens", 0}, {"hidden", 8}});
  for (const VariantReport &report : fresh.variants())
    EXPECT_FALSE(report.loaded);
}

TEST(HostKernel, ScalarsByPositionAndByName) {
  ScaleLaunch launch(host(), 2, 8);
  const ScalarArg factor[] = {-3.0f}, integer[] = {5};
  launch.run(kernel(), factor);
  launch.expectScaled(-3.0f);
  launch.run(kernel(), integer);
  launch.expectScaled(5.0f);
  launch.runByName(kernel(), {{"factor", 0.5}});
  launch.expectScaled(0.5f);
  launch.runByName(kernel(), {});
  launch.expectScaled(2.0f);
}

TEST(HostKernel, PrepareLoadsTheVariantOfTheLaunchesToCome) {
  const Kernel fresh = host().load(scaleExecutable());
  EXPECT_EQ(fresh.prepare({{"tokens", 2}, {"hidden", 8}}).variant(), "vector");
  EXPECT_TRUE(fresh.variants()[0].loaded);
  EXPECT_FALSE(fresh.variants()[2].loaded);
  ScaleLaunch launch(host(), 2, 8, {.pitch = 9});
  EXPECT_EQ(fresh.prepare({{"tokens", 2}, {"hidden", 8}}, launch.tensors()).variant(), "general");
  EXPECT_TRUE(fresh.variants()[2].loaded);
  EXPECT_GT(fresh.variants()[2].compileMilliseconds, 0);
}

TEST(HostKernel, ValuesByNameAreGivenOnce) {
  const auto by = [&](const std::vector<NamedValue> &values) {
    return complaint([&] { kernel().launch({}, {}, values); });
  };
  expectComplaint(by({{"tokens", 3}, {"hidden", 8}, {"tokens", 2}}), "'tokens' is given twice");
  expectComplaint(by({{"factor", 2.0f}, {"factor", 3.0f}}), "'factor' is given twice");
  expectComplaint(by({{"facto", 2}}), "there is no dim or scalar 'facto'");
  expectComplaint(by({{"tokens", 2.5f}}), "the dim 'tokens' must be an integer");
}

TEST(HostKernel, DimsAreChecked) {
  expectComplaint(complaint([] {
                    kernel().prepare({{"tokens", 2}});
                  }),
                  "scale: the dim 'hidden' is not given");
  expectComplaint(complaint([] {
                    kernel().prepare({{"tokens", 2}, {"hidden", 8}, {"rows", 1}});
                  }),
                  "there is no dim 'rows'");
  expectComplaint(complaint([] {
                    kernel().prepare({{"tokens", -2}, {"hidden", 8}});
                  }),
                  "negative: -2");
  expectComplaint(complaint([] {
                    kernel().prepare({{"tokens", int64_t(1) << 31}, {"hidden", 8}});
                  }),
                  "outside 0 … 2147483647");
  contract::Contract fixed = scaleContract();
  fixed.dims[1].value = 8;
  const Kernel narrow = host().load({"scale", contract::write(fixed)});
  expectComplaint(complaint([&] { narrow.prepare({{"tokens", 2}, {"hidden", 9}}); }), "made for 8");
  EXPECT_EQ(narrow.shapeOf("x", {{"tokens", 2}}), (std::vector<int64_t>{2, 8}));
}

TEST(HostKernel, NamesAreChecked) {
  float x[8] = {}, y[8] = {}, which[1] = {};
  const std::vector<NamedValue> dims = {{"tokens", 1}, {"hidden", 8}};
  expectComplaint(complaint([&] {
                    kernel().launch({}, {{"x", x}, {"y", y}}, dims);
                  }),
                  "tensor 'which' is not given");
  expectComplaint(complaint([&] {
                    kernel().launch({}, {{"x", x}, {"x", y}, {"which", which}}, dims);
                  }),
                  "'x' is given twice");
  expectComplaint(complaint([&] {
                    kernel().launch({}, {{"x", x}, {"z", y}, {"which", which}}, dims);
                  }),
                  "there is no tensor 'z'");
  expectComplaint(complaint([&] {
                    kernel().launch({}, {{"x", x}, {"y", y}, {"which", which}},
                                    {{"tokens", 1.5}, {"hidden", 8}});
                  }),
                  "must be an integer");
}

TEST(HostKernel, AliasingIsRefused) {
  float x[8] = {}, which[1] = {};
  expectComplaint(
      complaint([&] {
        kernel().launch({}, {{"x", x}, {"y", x}, {"which", which}}, {{"tokens", 1}, {"hidden", 8}});
      }),
      "tensor 'y' overlaps tensor 'x'");
}

TEST(HostKernel, RowsWithGapsBetweenElementsAreRefused) {
  float x[64] = {}, y[64] = {}, which[2] = {};
  expectComplaint(complaint([&] {
                    kernel().launch({}, {{"x", x, {16, 2}}, {"y", y}, {"which", which}},
                                    {{"tokens", 2}, {"hidden", 8}});
                  }),
                  "tensor 'x' has elements of a row that are not neighbours");
}

TEST(HostKernel, WorkspaceIsChecked) {
  contract::Contract contract = scaleContract();
  contract.workspace = "tokens * 256";
  const Kernel needs = host().load({"scale", contract::write(contract)});
  const Call call = needs.prepare({{"tokens", 3}, {"hidden", 8}});
  EXPECT_EQ(call.workspace_bytes(), 768u);
  ScaleLaunch launch(host(), 3, 8);
  expectComplaint(complaint([&] { call.launch({}, launch.tensors()); }),
                  "needs a workspace of 768 bytes");
  char *workspace = static_cast<char *>(host().allocate(1024));
  expectComplaint(complaint([&] { call.launch({}, launch.tensors(), {}, workspace + 8); }),
                  "not aligned to 256");
  call.launch({}, launch.tensors(), {}, workspace);
  launch.expectScaled(2.0f);
  host().free(workspace);
}

TEST(HostKernel, AnotherTargetIsRefused) {
  expectComplaint(complaint([] { host().load(scaleExecutable("sm_90")); }),
                  "host: made for 'sm_90'; compile for 'host'");
}

TEST(HostKernel, ABadTextNamesItsErrors) {
  contract::Contract contract = scaleContract();
  contract.variants[0].source = "extern \"C\" __global__ void scale() { nothing; }";
  const Kernel bad = host().load({"scale", contract::write(contract)});
  expectComplaint(complaint([&] { bad.prepare({{"tokens", 1}, {"hidden", 8}}); }), "error");
}

TEST(HostKernel, SixteenThreadsCompileOnce) {
  contract::Contract contract = scaleContract();
  contract.variants[0].source += "// a text of its own\n";
  const std::string json = contract::write(contract);
  std::barrier start(16);
  std::atomic<int> wrong = 0;
  std::vector<Kernel> kernels(16, kernel());
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      kernels[t] = Device::open("host").load({"scale", json});
      ScaleLaunch launch(host(), 2, 8);
      launch.run(kernels[t]);
      wrong += launch.variant() != 1;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  // One compile: all report the same duration, to the last bit.
  for (const Kernel &each : kernels)
    EXPECT_EQ(each.variants()[0].compileMilliseconds, kernels[0].variants()[0].compileMilliseconds);
}

TEST(HostKernel, SourcesOfAnExecutable) {
  const auto sources = sourcesOf(scaleExecutable());
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[2].name, "general");
  EXPECT_EQ(sources[2].source, scaleSource("3.0"));
}

} // namespace
