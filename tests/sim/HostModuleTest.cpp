//===- sim/HostModuleTest.cpp - Text in, launch out -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/HostModule.h"

#include "runtime/host/CombinedSource.h"
#include "runtime/host/TemporaryDirectory.h"
#include "tests/sim/Kernels.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <optional>
#include <vector>

namespace eider::host {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// An environment variable, put back at the end.
class Variable {
public:
  Variable(const char *name, const char *value) : name_(name) {
    if (const char *old = std::getenv(name))
      old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }

private:
  void set(const char *value) {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char *name_;
  std::optional<std::string> old_;
};

/// y[i] = `expression` of v = x[i], in the style of an emitted text.
std::string text(const std::string &kernel, const std::string &expression) {
  return "// " + kernel +
         ": y\n"
         "#include \"eider/arch/arch.h\"\n\n"
         "using namespace eider;\nusing Value = float;\n\n"
         "extern \"C\" __global__ __launch_bounds__(64) void " +
         kernel +
         "(const Value *x, Value *y) {\n"
         "  const int64 i = arch::block_index() * 64 + arch::thread_index();\n"
         "  const Value v = x[i];\n"
         "  y[i] = " +
         expression + ";\n}\n";
}

std::vector<float> run(const HostModule &module, const std::string &entry, float x) {
  const std::vector<float> in(128, x);
  std::vector<float> out(128);
  const float *source = in.data();
  float *target = out.data();
  void *parameters[] = {&source, &target};
  launch(module.kernel(entry), {2, 64}, parameters);
  return out;
}

std::string errorOf(const std::string &source, const std::vector<std::string> &entries,
                    ErrorKind kind) {
  try {
    HostModule::compile(source, entries, {.name = "bad.cu"});
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "the text was compiled";
  return "";
}

TEST(HostModule, CompilesAndRunsAText) {
  const auto module = HostModule::compile(text("twice", "2 * v"), {"twice"});
  EXPECT_EQ(run(*module, "twice", 3), std::vector<float>(128, 6));
}

TEST(HostModule, TwoOfTheSameNamesLiveSideBySide) {
  const auto two = HostModule::compile(text("scale", "2 * v"), {"scale"});
  const auto three = HostModule::compile(text("scale", "3 * v"), {"scale"});
  EXPECT_EQ(run(*two, "scale", 1), std::vector<float>(128, 2));
  EXPECT_EQ(run(*three, "scale", 1), std::vector<float>(128, 3));
}

TEST(HostModule, FusesNoMultiplyAndAdd) {
  // 1 + 2^-12, squared and less its rounded square: 2^-24 if fused, else 0.
  const auto module = HostModule::compile(text("residue", "v * v - 1.00048828125f"), {"residue"});
  EXPECT_EQ(run(*module, "residue", 1.000244140625f), std::vector<float>(128, 0));
}

TEST(HostModule, ErrorsOfItsKernelsNameTheLineOfTheText) {
  const auto module =
      HostModule::compile(text("lonely", "v;\n  if (arch::thread_index() == 7)\n"
                                         "    arch::barrier(arch::Site::current())"),
                          {"lonely"}, {.name = "lonely.cu"});
  try {
    run(*module, "lonely", 1);
    FAIL() << "the kernel ran to its end";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), StartsWith("lonely.cu:12: block "));
    EXPECT_THAT(error.what(), HasSubstr("thread 7: waits at a barrier"));
  }
}

TEST(HostModule, LeavesNoFileBehind) {
  const TemporaryDirectory directory;
  const Variable temporary("TMPDIR", directory.path().c_str());
  const auto module = HostModule::compile(text("twice", "2 * v"), {"twice"});
  errorOf("this is no C++\n", {"twice"}, ErrorKind::Internal);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_EQ(run(*module, "twice", 3), std::vector<float>(128, 6));
}

TEST(HostModule, CompilesInAProcessThatIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto module = HostModule::compile(text("twice", "2 * v"), {"twice"});
  EXPECT_EQ(run(*module, "twice", 3), std::vector<float>(128, 6));
  EXPECT_THAT(errorOf(text("bad", "oops"), {"bad"}, ErrorKind::Machine),
              StartsWith("bad.cu: cannot load the compiled text"));
  std::signal(SIGCHLD, before);
}

TEST(HostModule, QuotesTheFirstThreeErrorsOfTheCompiler) {
  const std::string message =
      errorOf(text("bad", "first + second + third + fourth"), {"bad"}, ErrorKind::Internal);
  EXPECT_THAT(message, StartsWith("bad.cu: "));
  EXPECT_THAT(message, HasSubstr("bad.cu:10:"));
  for (const char *quoted : {"first", "second", "third"})
    EXPECT_THAT(message, HasSubstr(quoted));
  EXPECT_THAT(message, Not(HasSubstr("fourth")));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(HostModule, HasNoEntryThatWasNotAskedFor) {
  const auto module = HostModule::compile(text("twice", "2 * v"), {"twice"});
  EXPECT_THROW(module->kernel("thrice"), Error);
}

TEST(HostModule, SaysWhichCompilersItTried) {
  const TemporaryDirectory empty;
  const Variable ours("EIDER_CXX", nullptr), usual("CXX", "/nowhere/c++ -m64"),
      path("PATH", empty.path().c_str());
  const std::string message = errorOf(text("twice", "2 * v"), {"twice"}, ErrorKind::Machine);
  EXPECT_THAT(message, HasSubstr("no C++ compiler; tried $EIDER_CXX (unset), $CXX (/nowhere/c++), "
                                 "c++, g++, clang++"));
  EXPECT_THAT(message, HasSubstr("set EIDER_CXX"));
}

TEST(HostModule, DoesNotPassOverAnEiderCxxThatDoesNotExist) {
  const Variable ours("EIDER_CXX", "/nowhere/compiler");
  EXPECT_THAT(errorOf(text("twice", "2 * v"), {"twice"}, ErrorKind::Machine),
              HasSubstr("tried $EIDER_CXX (/nowhere/compiler);"));
}

TEST(HostModule, SaysWhenThereIsNoPlaceForItsFiles) {
  const Variable temporary("TMPDIR", "/nowhere");
  EXPECT_THAT(errorOf(text("twice", "2 * v"), {"twice"}, ErrorKind::Machine),
              HasSubstr("cannot make a temporary directory"));
}

TEST(CombinedSource, KeepsKernelsOfOneNameApart) {
  const std::vector<NamedSource> sources = {{"two.cu", text("scale", "2 * v"), {"scale"}},
                                            {"three.cu", text("scale", "3 * v"), {"scale"}},
                                            {"half.cu", text("half", "0.5f * v"), {"half"}}};
  const auto module =
      HostModule::compile(combine(sources), {combinedEntry("scale", 0), combinedEntry("scale", 1),
                                             combinedEntry("half", 2)});
  EXPECT_EQ(run(*module, "scale_0", 4), std::vector<float>(128, 8));
  EXPECT_EQ(run(*module, "scale_1", 4), std::vector<float>(128, 12));
  EXPECT_EQ(run(*module, "half_2", 4), std::vector<float>(128, 2));
}

TEST(CombinedSource, HoldsSeveralKernelsOfOneText) {
  const std::string both = text("first", "v + 1") +
                           "extern \"C\" __global__ __launch_bounds__(64) void second(\n"
                           "    const Value *x, Value *y) {\n"
                           "  y[arch::thread_index()] = x[arch::thread_index()];\n}\n";
  const auto module = HostModule::compile(combine({{"both.cu", both, {"second", "first"}}}),
                                          {"first_0", "second_0"});
  EXPECT_EQ(run(*module, "first_0", 1), std::vector<float>(128, 2));
  EXPECT_EQ(run(*module, "second_0", 1)[63], 1);
}

TEST(CombinedSource, KeepsTheLinesOfEachText) {
  const std::string message = errorOf(combine({{"good.cu", text("scale", "2 * v"), {"scale"}},
                                               {"worse.cu", text("scale", "oops"), {"scale"}}}),
                                      {"scale_0", "scale_1"}, ErrorKind::Internal);
  EXPECT_THAT(message, HasSubstr("worse.cu:10:"));
}

TEST(CombinedSource, RefusesAnEntryThatATextDoesNotDefine) {
  try {
    combine({{"scale.cu", text("scale", "scale(v)"), {"scale", "cale"}}});
    FAIL() << "the text was combined";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), StartsWith("scale.cu: the text defines no kernel cale"));
  }
}

} // namespace
} // namespace eider::host
