//===- tests/unit/tools/CommandLineTest.cpp -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/CommandLine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace eider;
using namespace eider::cli;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename T> T parse(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "eider");
  std::string help;
  auto request = parseCommandLine(static_cast<int>(arguments.size()), arguments.data(), help);
  return std::get<T>(request.value());
}

/// The one line of complaint about these arguments.
std::string complaint(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "eider");
  std::string help;
  try {
    parseCommandLine(static_cast<int>(arguments.size()), arguments.data(), help);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  ADD_FAILURE() << "the arguments were accepted";
  return "";
}

TEST(CommandLine, EveryParameterReachesTheRequest) {
  auto request = parse<RunRequest>({"run",
                                    "rms_norm_quant",
                                    "--dtype",
                                    "bf16",
                                    "--format",
                                    "e5m2",
                                    "--block",
                                    "1x*",
                                    "--scale",
                                    "f32",
                                    "--scale-layout",
                                    "row_major",
                                    "--mode",
                                    "deepgemm",
                                    "--codec",
                                    "software",
                                    "--scale-source",
                                    "static",
                                    "--dim",
                                    "tokens=4096",
                                    "--dim",
                                    "hidden=7168",
                                    "--set",
                                    "eps=1e-6",
                                    "--set",
                                    "nan=ignore",
                                    "--schedule",
                                    "row<threads = 64>",
                                    "--seed",
                                    "7",
                                    "--in",
                                    "a",
                                    "--out",
                                    "b",
                                    "--device",
                                    "host",
                                    "--check",
                                    "--no-cache"});
  EXPECT_EQ(request.program.source, "rms_norm_quant");
  EXPECT_EQ(request.program.parameters.dtype, "bf16");
  EXPECT_EQ(request.program.parameters.format, "e5m2");
  EXPECT_EQ(request.program.parameters.block, "1x*");
  EXPECT_EQ(request.program.parameters.scale, "f32");
  EXPECT_EQ(request.program.parameters.scaleLayout, "row_major");
  EXPECT_EQ(request.program.parameters.scaleSource, "static");
  EXPECT_EQ(request.program.parameters.mode, "deepgemm");
  EXPECT_EQ(request.program.codec, "software");
  EXPECT_EQ(request.program.schedule, "row<threads = 64>");
  EXPECT_EQ(request.program.dims,
            (std::map<std::string, int64_t>{{"hidden", 7168}, {"tokens", 4096}}));
  EXPECT_EQ(request.program.settings,
            (std::map<std::string, std::string>{{"eps", "1e-6"}, {"nan", "ignore"}}));
  EXPECT_EQ(request.seed, 7u);
  EXPECT_EQ(request.input, "a");
  EXPECT_EQ(request.output, "b");
  EXPECT_EQ(request.device, "host");
  EXPECT_TRUE(request.check);
  EXPECT_FALSE(request.cache);
}

TEST(CommandLine, ParametersMayComeFirst) {
  auto request = parse<EmitRequest>({"emit", "--dim", "hidden=8", "quantize", "--arch", "sm_90"});
  EXPECT_EQ(request.program.source, "quantize");
  EXPECT_EQ(request.stage, Stage::Cuda);
}

TEST(CommandLine, ListsAreSplitAndEachNameTakenOnce) {
  auto request = parse<BuildRequest>(
      {"build", "quantize", "--arch", "sm_80,sm_90a,sm_80", "--emit", "cu,ptx", "-o", "d"});
  EXPECT_THAT(request.archs, ElementsAre("sm_80", "sm_90a"));
  EXPECT_THAT(request.kinds, ElementsAre("cu", "ptx"));
  EXPECT_TRUE(request.cache);
}

TEST(CommandLine, HelpAndVersionAreNoRequests) {
  for (std::vector<const char *> arguments : {std::vector<const char *>{"eider", "--help"},
                                              {"eider", "--version"},
                                              {"eider", "run", "--help"}}) {
    std::string help;
    EXPECT_FALSE(parseCommandLine(static_cast<int>(arguments.size()), arguments.data(), help));
    EXPECT_THAT(help, HasSubstr("eider"));
  }
}

TEST(CommandLine, HelpOfACommandIsItsOwn) {
  const char *arguments[] = {"eider", "run", "--help"};
  std::string help;
  parseCommandLine(3, arguments, help);
  EXPECT_THAT(help, HasSubstr("--check"));
}

TEST(CommandLine, WhatIsMissingIsNamed) {
  EXPECT_THAT(complaint({}), HasSubstr("subcommand is required"));
  EXPECT_THAT(complaint({"emit", "--arch", "sm_90"}), HasSubstr("program is required"));
  EXPECT_THAT(complaint({"emit", "quantize"}),
              AllOf(HasSubstr("--arch is required"), HasSubstr("eider emit --help")));
  EXPECT_THAT(complaint({"run", "quantize", "--in", "a", "--out", "b"}),
              HasSubstr("--device is required"));
  EXPECT_THAT(complaint({"run", "quantize", "--device", "host", "--out", "b"}),
              HasSubstr("--in is required"));
  EXPECT_THAT(complaint({"run", "quantize", "--device", "host", "--in", "b"}),
              HasSubstr("--out is required"));
  EXPECT_THAT(complaint({"build", "quantize", "--arch", "sm_90", "--emit", "cu"}),
              HasSubstr("--output is required"));
}

TEST(CommandLine, WhatIsUnknownIsNamed) {
  EXPECT_THAT(complaint({"frobnicate"}), HasSubstr("unknown command 'frobnicate'"));
  EXPECT_THAT(complaint({"emit", "quantize", "--arch", "sm_90", "--blok", "1x128"}),
              HasSubstr("--blok"));
  EXPECT_THAT(complaint({"emit", "quantize", "--arch", "sm_90", "--stage", "ptx"}),
              HasSubstr("--stage: unknown stage 'ptx'; give eider, simt or cuda"));
  EXPECT_THAT(complaint({"build", "quantize", "--arch", "sm_90", "--emit", "exe", "-o", "d"}),
              HasSubstr("--emit: unknown kind 'exe'"));
}

TEST(CommandLine, AssignmentsAreChecked) {
  auto emit = [](const char *option, const char *value) {
    return complaint({"emit", "quantize", "--arch", "sm_90", option, value});
  };
  EXPECT_THAT(emit("--dim", "tokens"), HasSubstr("--dim: 'tokens' is not of the form name=value"));
  EXPECT_THAT(emit("--dim", "=3"), HasSubstr("not of the form"));
  EXPECT_THAT(emit("--dim", "tokens=abc"), HasSubstr("'abc' is not a whole number"));
  EXPECT_THAT(emit("--dim", "tokens=-1"), HasSubstr("'-1' is not a whole number"));
  EXPECT_THAT(emit("--dim", "tokens=12x"), HasSubstr("'12x' is not a whole number"));
  EXPECT_THAT(emit("--dim", "tokens=9223372036854775808"), HasSubstr("is not a whole number"));
  EXPECT_THAT(emit("--set", "eps"), HasSubstr("--set: 'eps' is not of the form name=value"));
  EXPECT_THAT(complaint({"emit", "quantize", "--arch", "sm_90", "--dim", "n=1", "--dim", "n=2"}),
              HasSubstr("'n' is given twice"));
  EXPECT_THAT(complaint({"build", "quantize", "--arch", "sm_80,,sm_90", "--emit", "cu", "-o", "d"}),
              HasSubstr("--arch: an empty name"));
  EXPECT_THAT(complaint({"run", "quantize", "--seed", "many"}), HasSubstr("many"));
}

} // namespace
