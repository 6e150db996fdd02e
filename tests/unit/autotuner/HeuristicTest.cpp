//===- tests/unit/autotuner/HeuristicTest.cpp -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

using namespace eider;
using testing::HasSubstr;
using testing::Not;

namespace {

/// What is asked for, at random but the same each time: mostly what is common.
class Requests {
public:
  std::string of(std::initializer_list<const char *> values) {
    return values.begin()[std::uniform_int_distribution<size_t>(0, values.size() - 1)(random)];
  }
  bool once(int in) { return std::uniform_int_distribution<int>(1, in)(random) == 1; }
  int64_t width() {
    if (once(2))
      return std::stoll(of({"1024", "2048", "4096", "5120", "7168", "8192", "16384"}));
    const int64_t multiple = std::uniform_int_distribution<int64_t>(1, 160)(random) * 128;
    return once(3) ? multiple + std::stoll(of({"1", "4", "8", "16", "32", "64"})) : multiple;
  }

  OpParameters parametersOf(const OpInfo &op) {
    OpParameters p;
    const auto takes = [&](const char *name) {
      return std::ranges::count(op.parameters, std::string(name)) > 0;
    };
    if (takes("dtype"))
      p.dtype = of({"bf16", "bf16", "f16", "f32"});
    if (takes("format"))
      p.format = of({"e4m3", "e4m3", "e5m2", "e4m3fnuz", "e2m1"});
    if (takes("block"))
      p.block = of({"1x128", "1x128", "1x*", "1x16", "1x32", "1x64", "1x256", "1x512", "128x128"});
    if (takes("scale"))
      p.scale = of({"f32", "f32", "e8m0", "e4m3"});
    if (takes("scaleLayout"))
      p.scaleLayout = of({"row_major", "row_major", "mn_major_aligned", "swizzled_128x4"});
    if (takes("fromFormat"))
      p.fromFormat = of({"", "e4m3", "e2m1"});
    if (takes("copy"))
      p.copy = of({"", "", "", "bf16"});
    if (takes("amax"))
      p.amax = of({"", "", "", "yes"});
    if (takes("transposed"))
      p.transposed = of({"", "", "", "", "yes"});
    if (takes("numerics") && once(5))
      p.numerics = {{"rounding", "stochastic"}};
    return p;
  }

private:
  std::mt19937 random{1};
};

/// A program that the DSL takes never fails for a schedule that nobody asked for.
TEST(Heuristic, ChoosesWhatAProgramMayRunBy) {
  Requests requests;
  int made = 0;
  for (int round = 0; round < 200; ++round)
    for (const OpInfo &op : libraryOps()) {
      CompileOptions options;
      options.target = requests.of({"sm_90a", "sm_90a", "sm_80", "sm_100a"});
      options.codec = requests.of({"auto", "auto", "software"});
      const OpParameters parameters = requests.parametersOf(op);
      const int64_t width = requests.width();
      std::string subject = op.name + " " + parameters.format + " " + parameters.block + " " +
                            parameters.dtype + " of " + std::to_string(width) + " columns";
      try {
        const Program program = libraryOp(op.name, parameters);
        for (const Signature::NamedDim &dim : program.signature().dims)
          if (dim.name == "hidden" || dim.name == "k" || dim.name == "n")
            options.dims[dim.name] = width;
          else if (dim.name == "slots" || dim.name == "max_position")
            options.dims[dim.name] = 4096;
        emit(program, options, Stage::Simt);
        ++made;
      } catch (const Error &error) {
        EXPECT_THAT(error.what(), Not(HasSubstr(": schedule "))) << subject;
      }
    }
  EXPECT_GT(made, 4000); // others are refused for what they ask
}

} // namespace
