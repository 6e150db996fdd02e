//===- tests/unit/runtime/AssembleTest.cpp --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// NVRTC needs no GPU; without NVRTC the tests that compile are skipped.
//
//===----------------------------------------------------------------------===//
#include "runtime/Assembler.h"
#include "runtime/cache/PendingWrites.h"
#include "tests/unit/runtime/Samples.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

using namespace eider;

namespace {

/// Sets a variable while it lives.
struct Environment {
  Environment(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name))
      before = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before)
      ::setenv(name, before->c_str(), 1);
    else
      ::unsetenv(name);
  }
  const char *name;
  std::optional<std::string> before;
};

class AssembleTest : public testing::Test {
protected:
  void SetUp() override {
    try {
      cuda::Nvrtc::find(INT_MAX);
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
  }
  TemporaryDirectory temporary;
  const CacheOptions off{false, ""};
};

std::string_view textOf(const Assembly &assembly) {
  return {reinterpret_cast<const char *>(assembly.image.data()), assembly.image.size()};
}

TEST_F(AssembleTest, CubinWithItsResources) {
  const Assembly assembly = assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, off);
  EXPECT_EQ(textOf(assembly).substr(1, 3), "ELF");
  ASSERT_EQ(assembly.entries.size(), 1u);
  EXPECT_EQ(assembly.entries[0].name, "scale");
  EXPECT_GT(assembly.entries[0].registers, 0);
  EXPECT_EQ(assembly.entries[0].spillStores, 0);
  EXPECT_GT(assembly.milliseconds, 0);
  EXPECT_FALSE(assembly.fromCache);
  EXPECT_EQ(assembly.directory, "");
}

TEST_F(AssembleTest, Ptx) {
  const Assembly assembly = assemble(scaleSource("1.0"), "sm_90a", ImageKind::Ptx, off);
  EXPECT_NE(textOf(assembly).find(".target sm_90a"), std::string_view::npos);
  EXPECT_NE(textOf(assembly).find(".visible .entry scale"), std::string_view::npos);
}

TEST_F(AssembleTest, EveryKnownTarget) {
  std::istringstream names(cuda::knownTargets());
  int count = 0;
  for (std::string name; std::getline(names >> std::ws, name, ','); ++count)
    EXPECT_EQ(textOf(assemble(scaleSource("1.0"), name, ImageKind::Cubin, off)).substr(1, 3), "ELF")
        << name;
  EXPECT_EQ(count, 18);
}

TEST_F(AssembleTest, BadTextQuotesTheFirstErrors) {
  try {
    assemble("extern \"C\" __global__ void k() { a = 1; b = 2; c = 3; d = 4; }", "sm_90",
             ImageKind::Cubin, off);
    FAIL() << "compiled";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    const std::string line = error.what();
    EXPECT_NE(line.find("kernel.cu(1): error: identifier \"a\" is undefined"), std::string::npos)
        << line;
    EXPECT_NE(line.find("\"c\""), std::string::npos) << line;
    EXPECT_EQ(line.find("\"d\""), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST_F(AssembleTest, OptionsOfTheUserAreInTheKey) {
  const CacheOptions cache{true, (temporary.path / "cache").string()};
  const std::string plain =
      std::string(textOf(assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache)));
  Environment options("EIDER_NVRTC_OPTIONS", "  -lineinfo --Ofast-compile=max ");
  const Assembly lines = assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache);
  EXPECT_FALSE(lines.fromCache);
  EXPECT_EQ(plain.find(".debug_line"), std::string::npos);
  EXPECT_NE(textOf(lines).find(".debug_line"), std::string::npos);
}

TEST_F(AssembleTest, AnOptionThatNvrtcRefusesIsARequestError) {
  Environment options("EIDER_NVRTC_OPTIONS", "--no-such-option");
  try {
    assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, off);
    FAIL() << "compiled";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    const std::string line = error.what();
    EXPECT_NE(line.find("--no-such-option"), std::string::npos) << line;
    EXPECT_NE(line.find("correct EIDER_NVRTC_OPTIONS or unset it"), std::string::npos) << line;
  }
}

TEST_F(AssembleTest, FilesOfTheDirectoryAreNotRead) {
  const auto before = std::filesystem::current_path();
  std::ofstream(temporary.path / "secret.h") << "#define SECRET 1\n";
  std::filesystem::current_path(temporary.path);
  EXPECT_THROW(assemble("#include \"secret.h\"\n", "sm_90", ImageKind::Cubin, off), Error);
  std::filesystem::current_path(before);
}

TEST_F(AssembleTest, UnknownTargetIsARequestError) {
  try {
    assemble("", "sm_91", ImageKind::Cubin, off);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    EXPECT_EQ(
        std::string(error.what()).find("assemble: 'sm_91' is no target; use one of sm_75, sm_80"),
        0u)
        << error.what();
  }
}

TEST_F(AssembleTest, TheSecondTimeComesFromTheCache) {
  const CacheOptions cache{true, (temporary.path / "cache").string()};
  const Assembly cold = assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache);
  const Assembly warm = assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache);
  EXPECT_FALSE(cold.fromCache);
  EXPECT_TRUE(warm.fromCache);
  EXPECT_EQ(warm.milliseconds, 0);
  EXPECT_EQ(warm.image, cold.image);
  EXPECT_EQ(warm.log, cold.log);
  ASSERT_EQ(warm.entries.size(), 1u);
  EXPECT_EQ(warm.entries[0].registers, cold.entries[0].registers);
  pendingWrites::drain();
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(warm.directory) / "kernel.cu"));
  EXPECT_EQ(assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache).image,
            cold.image); // from the disk
  // Another text, target or kind is another entry.
  EXPECT_FALSE(assemble(scaleSource("2.0"), "sm_90", ImageKind::Cubin, cache).fromCache);
  EXPECT_FALSE(assemble(scaleSource("1.0"), "sm_90a", ImageKind::Cubin, cache).fromCache);
  EXPECT_FALSE(assemble(scaleSource("1.0"), "sm_90", ImageKind::Ptx, cache).fromCache);
}

TEST(TextKey, EveryInputIsInIt) {
  const std::string source = "a", other = "b";
  const auto target = [](const char *name) { return *cuda::parseTarget(name); };
  const std::set<std::string> keys = {textKey({source, target("sm_90")}, "13"),
                                      textKey({other, target("sm_90")}, "13"),
                                      textKey({source, target("sm_90a")}, "13"),
                                      textKey({source, target("sm_80")}, "13"),
                                      textKey({source, target("sm_90"), ImageKind::Ptx}, "13"),
                                      textKey({source, target("sm_90")}, "12")};
  EXPECT_EQ(keys.size(), 6u);
  EXPECT_EQ(textKey({source, target("sm_90"), ImageKind::Cubin, "[1]"}, "13"),
            textKey({source, target("sm_90")}, "13")); // what is launched does not matter
}

TEST_F(AssembleTest, ACorruptEntryIsCompiledAgain) {
  const CacheOptions cache{true, (temporary.path / "cache").string()};
  const Assembly cold = assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache);
  pendingWrites::drain();
  std::ofstream(std::filesystem::path(cold.directory) / "kernel.cubin", std::ios::trunc)
      << "rubbish";
  const Assembly again = assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache);
  EXPECT_FALSE(again.fromCache);
  EXPECT_EQ(textOf(again).substr(1, 3), "ELF");
  EXPECT_TRUE(assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, cache).fromCache);
}

TEST_F(AssembleTest, ManyProcessesCompileOnce) {
  const CacheOptions cache{true, (temporary.path / "cache").string()};
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Assembly assembly = assemble(scaleSource("8.0"), "sm_90", ImageKind::Cubin, cache);
      pendingWrites::drain();
      std::_Exit(assembly.fromCache ? 1 : 0);
    }
    children.push_back(child);
  }
  int compiled = 0;
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    compiled += WEXITSTATUS(status) == 0;
  }
  EXPECT_EQ(compiled, 1);
}

TEST_F(AssembleTest, ARivalThatNeverEndsIsNotWaitedForLong) {
  const Cache cache({true, (temporary.path / "cache").string()});
  const std::string key(64, 'c');
  const auto held = cache.lock(Cache::Kind::Kernel, key, std::chrono::seconds(1));
  ASSERT_TRUE(held);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(cache.lock(Cache::Kind::Kernel, key, std::chrono::milliseconds(50)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
}

//===-- Machines that lack something ---------------------------------------===//

std::string findError(int maxMajor = INT_MAX) {
  try {
    cuda::Nvrtc::find(maxMajor);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Machine);
    return error.what();
  }
  return "";
}

TEST(Nvrtc, MissingFileIsNamed) {
  const Environment environment("EIDER_NVRTC", "/nonexistent/libnvrtc.so.13");
  EXPECT_EQ(findError(), "NVRTC: /nonexistent/libnvrtc.so.13 is no libnvrtc.so.13 or .12; correct "
                         "EIDER_NVRTC or unset it");
}

TEST(Nvrtc, AFileThatIsNoLibraryIsNamed) {
  const TemporaryDirectory temporary;
  const std::string path = (temporary.path / "libnvrtc.so.13").string();
  std::ofstream(path) << "text";
  const Environment environment("EIDER_NVRTC", path);
  try {
    assemble(scaleSource("1.0"), "sm_90", ImageKind::Cubin, {false, ""});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Machine);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST(Nvrtc, ANewerOneThanTheDriverIsNotTaken) {
  const TemporaryDirectory temporary;
  const std::string path = (temporary.path / "libnvrtc.so.13").string();
  std::ofstream(path) << "text";
  const Environment environment("EIDER_NVRTC", path);
  EXPECT_EQ(findError(12),
            "NVRTC: NVRTC 13 is newer than the driver, which is for CUDA 12; install a "
            "newer driver, or NVRTC 12");
}

TEST(Nvrtc, AnOlderOneIsFoundForAnOlderDriver) {
  const TemporaryDirectory temporary;
  std::filesystem::create_directory(temporary.path / "lib64");
  for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"})
    std::ofstream(temporary.path / "lib64" / name) << name;
  const Environment environment("CUDA_HOME", temporary.path.string());
  EXPECT_EQ(cuda::Nvrtc::find(12)->path(), (temporary.path / "lib64/libnvrtc.so.12").string());
  EXPECT_EQ(cuda::Nvrtc::find(13)->path(), (temporary.path / "lib64/libnvrtc.so.13").string());
}

TEST(Driver, MissingLibraryIsNamed) {
  // In a child: the driver is opened once a process.
  EXPECT_EXIT(
      {
        ::setenv("EIDER_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
        try {
          Device::open("cuda");
        } catch (const Error &error) {
          std::fprintf(stderr, "%s\n", error.what());
          std::_Exit(error.kind() == ErrorKind::Machine ? 3 : 1);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(3),
      "CUDA driver: /nonexistent/libcuda.so.1: .*; correct EIDER_CUDA_DRIVER or unset it");
}

TEST(Driver, WithoutItThereIsTheHostAlone) {
  EXPECT_EXIT(
      {
        ::setenv("EIDER_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
        const bool good = Device::enumerate().size() == 1 && !Device::whyNoGpu().empty();
        std::_Exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Driver, UnknownDeviceIsARequestError) {
  for (const char *id : {"gpu", "cuda:", "cuda:x", "cuda:-1", ""})
    try {
      Device::open(id);
      FAIL() << id;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request) << id;
      EXPECT_NE(std::string(error.what()).find("use host, cuda or cuda:N"), std::string::npos);
    }
}

TEST(PtxasLog, Resources) {
  const auto entries = parsePtxasLog(
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 128 registers, used 1 barriers, 256 bytes smem\n"
      "ptxas info    : Compiling entry function 'l' for 'sm_90'\n"
      "ptxas info    : Used 8 registers\n");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "k");
  EXPECT_EQ(entries[0].registers, 128);
  EXPECT_EQ(entries[0].stack, 16);
  EXPECT_EQ(entries[0].spillStores, 24);
  EXPECT_EQ(entries[0].spillLoads, 32);
  EXPECT_EQ(entries[0].shared, 256);
  EXPECT_EQ(entries[1].registers, 8);
  EXPECT_EQ(entries[1].shared, 0);
}

} // namespace
