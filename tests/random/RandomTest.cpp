//===- RandomTest.cpp - Would random programs find a defect? --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Functions.h"
#include "tests/random/Generate.h"
#include "tests/random/Run.h"
#include "tests/random/Shrink.h"
#include "tests/text/Purity.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

using namespace eider;
using namespace eider::sketch;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Outcome::Kind;

namespace {
constexpr uint64_t Seeds = 600;

const std::vector<Sketch> &sketches() {
  static const std::vector<Sketch> all = [] {
    std::vector<Sketch> all;
    for (uint64_t seed = 1; seed <= Seeds; ++seed)
      all.push_back(generate(seed));
    return all;
  }();
  return all;
}

/// What is changed in the program that is compiled; nothing where there is no such step.
struct Defect {
  const char *name;
  bool (*isStep)(const Step &);
  void (*change)(Step &);
  size_t most; ///< Steps of the smallest program that shows it, about.

  Sketch operator()(Sketch sketch) const {
    for (Step &step : sketch.steps)
      if (isStep(step))
        change(step);
    return sketch;
  }
};

const std::vector<Defect> defects = {
    {"max is min", [](const Step &step) { return step.op == Op::Binary && step.function == "max"; },
     [](Step &step) { step.function = "min"; }, 4},
    {"amax is max",
     [](const Step &step) { return step.op == Op::Reduce && step.function == "amax"; },
     [](Step &step) { step.function = "max"; }, 3},
    {"a stored value is rounded once more",
     [](const Step &step) { return step.op == Op::RoundTo && step.dtype == DType::f16; },
     [](Step &step) { step.dtype = DType::bf16; }, 5},
    {"a scale has no floor",
     [](const Step &step) {
       return step.op == Op::Quantize && step.quantisation.mode == "deepgemm";
     },
     [](Step &step) { step.quantisation.mode = "vllm_group"; }, 4},
    {"halves of other neighbours",
     [](const Step &step) { return step.op == Op::Rotate && step.integer > 2; },
     [](Step &step) { step.integer /= 2; }, 3},
};
} // namespace

TEST(Sketches, AreWellTypedAndFollowFromTheirSeed) {
  for (const Sketch &sketch : sketches()) {
    EXPECT_TRUE(typesOf(sketch)) << describe(sketch);
    EXPECT_EQ(pruned(sketch), sketch) << describe(sketch);
  }
  EXPECT_EQ(generate(7), sketches()[6]);
  EXPECT_NE(describe(generate(8)), describe(sketches()[6]));
}

/// Every function, type, layout and mode is in some program.
TEST(Sketches, HoldWhatTheDslHas) {
  std::set<Op> ops;
  std::set<std::string> functions, modes;
  std::set<DType> formats, scales, dtypes;
  std::set<ScaleLayout> layouts;
  for (const Sketch &sketch : sketches())
    for (const Step &step : sketch.steps) {
      ops.insert(step.op);
      functions.insert((step.op == Op::Reduce ? "reduce " : "") + step.function);
      dtypes.insert(step.dtype);
      if (step.op != Op::Quantize)
        continue;
      formats.insert(step.quantisation.format);
      scales.insert(step.quantisation.scale);
      layouts.insert(step.quantisation.layout);
      modes.insert(step.quantisation.mode);
    }
  for (int op = 0; op <= static_cast<int>(Op::ScaledScatter); ++op)
    EXPECT_TRUE(ops.contains(static_cast<Op>(op))) << op;
  for (const auto *names : {&unaryNames(), &binaryNames(), &comparisonNames()})
    for (const std::string &name : *names)
      EXPECT_TRUE(functions.contains(name)) << name;
  for (const std::string &name : reductionNames())
    EXPECT_TRUE(functions.contains("reduce " + name)) << name;
  EXPECT_EQ(formats.size(), 5u);
  EXPECT_EQ(scales.size(), 5u);
  EXPECT_EQ(layouts.size(), 5u);
  EXPECT_EQ(modes.size(), 10u);
  for (DType dtype : {bf16, f16, f32, DType::i32, DType::i64})
    EXPECT_TRUE(dtypes.contains(dtype)) << nameOf(dtype);
}

TEST(Shrinking, GivesOtherWellTypedSketches) {
  for (size_t i = 0; i < 60; ++i)
    for (const Sketch &one : simpler(sketches()[i])) {
      EXPECT_TRUE(typesOf(one)) << describe(one);
      EXPECT_NE(one, sketches()[i]);
    }
}

/// What always fails ends at a program that nothing is simpler than: an input that is an output.
TEST(Shrinking, Ends) {
  for (size_t i = 0; i < 20; ++i) {
    const Sketch small = shrunk(
        sketches()[i], [](const Sketch &) { return true; }, 1000);
    EXPECT_EQ(small.steps.size(), 2u) << describe(small);
    EXPECT_TRUE(simpler(small).empty()) << describe(small);
  }
}

/// A kernel that does something else than the program says is found by few programs, and shrunk to
/// the step that shows it. The interpreter stands for the kernel, so that many are tried.
TEST(Defects, AreFoundAndShrunk) {
  for (const Defect &defect : defects) {
    const Runner runner{.device = "reference", .defect = defect};
    size_t found = 0;
    for (const Sketch &sketch : sketches()) {
      auto fails = [&](const Sketch &one) {
        return runner.run(std::span(&one, 1)).front().kind == Kind::Failed;
      };
      if (std::ranges::none_of(sketch.steps, defect.isStep) || !fails(sketch))
        continue;
      const Sketch small = shrunk(sketch, fails, 1000);
      EXPECT_TRUE(std::ranges::any_of(small.steps, defect.isStep)) << describe(small);
      EXPECT_LE(small.steps.size(), defect.most) << defect.name << "\n" << describe(small);
      if (++found == 3)
        break;
    }
    EXPECT_EQ(found, 3u) << defect.name;
  }
}

TEST(Defects, NoneIsFoundWhereThereIsNone) {
  const Runner runner{.device = "reference"};
  for (const Outcome &outcome : runner.run(std::span(sketches()).first(60)))
    EXPECT_NE(outcome.kind, Kind::Failed) << outcome.message;
}

namespace {
/// What random programs have found, as small as it was shrunk.
std::vector<Sketch> foundOnce() {
  const Axes matrix = {{Tokens}, {Hidden}}, turned = {{Hidden}, {Tokens}};
  const Quantisation blocks{.block = {32, 32}, .givenScales = true};
  std::vector<std::vector<Step>> all;
  // Codes that are decoded again: no argument had their format, whose file was not included.
  all.push_back({{.op = Op::Input, .dtype = bf16, .axes = matrix},
                 {.op = Op::Quantize,
                  .operands = {0},
                  .quantisation = {.format = e5m2, .scale = DType::e8m0, .block = {1, 32}}},
                 {.op = Op::Dequantize, .operands = {1}},
                 {.op = Op::Output, .operands = {2}}});
  // A value of 16 bits a row, repeated along it.
  for (DType dtype : {bf16, f16})
    for (const Axes &rows : {Axes{{Tokens}, {}}, Axes{{Tokens}, {Hidden, 1, 8}}})
      all.push_back({{.op = Op::Input, .dtype = bf16, .axes = matrix},
                     {.op = Op::Input, .dtype = dtype, .axes = rows},
                     {.op = Op::Broadcast, .operands = {1}, .axes = matrix},
                     {.op = Op::Binary, .operands = {0, 2}, .function = "+"},
                     {.op = Op::Output, .operands = {3}}});
  // Given scales of the blocks of a transpose, which its kernel reduces over, too.
  all.push_back({{.op = Op::Input, .axes = matrix},
                 {.op = Op::Reduce, .operands = {0}, .function = "sum", .block = {32, 32}},
                 {.op = Op::Transpose, .operands = {0}},
                 {.op = Op::ScaleInput, .axes = blocksOf(turned, {32, 32})},
                 {.op = Op::Quantize, .operands = {2, 3}, .quantisation = blocks},
                 {.op = Op::ScaledOutput, .operands = {4}},
                 {.op = Op::Output, .operands = {1}}});
  // Positions in a matrix of one row.
  all.push_back({{.op = Op::Input, .axes = {{Hidden}}},
                 {.op = Op::Position, .operands = {0}},
                 {.op = Op::Number, .number = 9},
                 {.op = Op::Select, .operands = {1, 2, 0, 2}, .function = "<"},
                 {.op = Op::Output, .operands = {3}}});
  // Fewer columns than the groups of what is read: a tile's second load had nothing to hold.
  all.push_back({{.op = Op::Input, .axes = matrix},
                 {.op = Op::Input, .axes = {{Hidden, 1, 256}}},
                 {.op = Op::Binary, .operands = {0, 1}, .function = "+"},
                 {.op = Op::Output, .operands = {2}}});
  // Scales of one byte, repeated.
  all.push_back({{.op = Op::Input, .axes = matrix},
                 {.op = Op::ScaleInput, .dtype = DType::e8m0, .axes = {{Tokens}, {}}},
                 {.op = Op::Broadcast, .operands = {1}, .axes = matrix},
                 {.op = Op::Output, .operands = {2}}});
  // Scales of a code type as values.
  all.push_back({{.op = Op::Input, .axes = matrix},
                 {.op = Op::ScaleInput, .dtype = e4m3, .axes = {{Tokens}, {Hidden, 1, 16}}},
                 {.op = Op::Binary, .operands = {0, 1}, .function = "max"},
                 {.op = Op::Output, .operands = {2}}});
  std::vector<Sketch> sketches;
  for (std::vector<Step> &steps : all) {
    Sketch &sketch = sketches.emplace_back();
    sketch.steps = std::move(steps);
    sketch.seed = sketches.size();
    sketch.dims[Tokens].extent = 70;
    sketch.dims[Hidden].extent = 40;
  }
  return sketches;
}
} // namespace

TEST(Defects, FoundOnceAreGone) {
  const std::vector<Sketch> once = foundOnce();
  const std::vector<Outcome> outcomes = Runner().run(once);
  for (size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(outcomes[i].kind, Kind::Passed) << outcomes[i].message << "\n" << describe(once[i]);
}

/// The same on the simulator, by way of compiler and text.
TEST(Defects, OfAKernelAreFound) {
  Sketch sketch;
  sketch.dims[Tokens].extent = 3;
  sketch.dims[Hidden].extent = 40;
  sketch.steps = {{.op = Op::Input, .dtype = bf16, .axes = {{Tokens}, {Hidden}}},
                  {.op = Op::Number, .number = 0.5},
                  {.op = Op::Binary, .operands = {0, 1}, .function = "max"},
                  {.op = Op::Output, .operands = {2}, .dtype = f32}};
  Runner runner;
  EXPECT_EQ(runner.run(std::span(&sketch, 1)).front().kind, Kind::Passed);
  runner.defect = defects.front();
  const Outcome outcome = runner.run(std::span(&sketch, 1)).front();
  EXPECT_EQ(outcome.kind, Kind::Failed);
  EXPECT_THAT(outcome.message, HasSubstr("wrong, first y3[0, "));
}

//===-- Texts -------------------------------------------------------------===//

namespace {
/// The text of a sketch's program for a target; empty where it is refused.
std::string textOf(const Sketch &sketch, const std::string &target) {
  CompileOptions options;
  options.target = target;
  options.codec = sketch.codec;
  try {
    const Program program = record(sketch);
    for (const Signature::NamedDim &dim : program.signature().dims)
      if (dim.name == "hidden")
        options.dims["hidden"] = sketch.dims[Hidden].extent;
    return emit(program, options, Stage::Cuda);
  } catch (const Error &error) {
    EXPECT_TRUE(isStated(error)) << error.what();
    return "";
  }
}
} // namespace

TEST(Texts, ArePure) {
  size_t count = 0;
  for (const Sketch &sketch : std::span(sketches()).first(200)) {
    const std::string text = textOf(sketch, "sm_90");
    count += !text.empty();
    EXPECT_THAT(text::impurities(text), IsEmpty()) << describe(sketch) << text;
    EXPECT_THAT(text::wideLines(text), IsEmpty()) << describe(sketch) << text;
  }
  EXPECT_GT(count, 150u);
}

TEST(Texts, NvrtcCompilesThem) {
  constexpr std::pair<size_t, const char *> texts[] = {
      {0, "sm_75"},  {1, "sm_90a"},  {2, "sm_120a"}, {3, "sm_75"},
      {4, "sm_90a"}, {5, "sm_120a"}, {249, "sm_90a"}}; // NVRTC 13.0 died of one of it
  CacheOptions noCache;
  noCache.enabled = false;
  for (const auto &[i, target] : texts)
    try {
      if (const std::string text = textOf(sketches()[i], target); !text.empty()) {
        EXPECT_FALSE(assemble(text, target, ImageKind::Cubin, noCache).entries.empty());
      }
    } catch (const Error &error) {
      if (error.kind() == ErrorKind::Machine)
        GTEST_SKIP() << error.what();
      ADD_FAILURE() << describe(sketches()[i]) << error.what();
    }
}

//===-- Refusals ----------------------------------------------------------===//

/// No program passes for being refused without a reason.
TEST(Refusals, SayWhatAndWhere) {
  Sketch sketch;
  sketch.steps = {{.op = Op::Input, .axes = {{Tokens}, {Hidden}}},
                  {.op = Op::Reduce, .operands = {0}, .function = "sum", .block = {whole, 1}},
                  {.op = Op::Output, .operands = {1}}};
  const Outcome outcome = Runner().run(std::span(&sketch, 1)).front();
  EXPECT_EQ(outcome.kind, Kind::Refused);
  EXPECT_THAT(outcome.message, HasSubstr("reduces down the rows"));
  EXPECT_TRUE(isStated(Error(ErrorKind::Request, "too wide", "op", "take less")));
  EXPECT_FALSE(isStated(Error(ErrorKind::Request, "too wide")));
  EXPECT_FALSE(isStated(Error(ErrorKind::Internal, "too wide", "op")));
  EXPECT_FALSE(isStated(Error(ErrorKind::Request, "the passes failed", "op")));
  EXPECT_FALSE(isStated(Error(ErrorKind::Request, "'arith.cmpi' op failed to verify", "op")));
}
