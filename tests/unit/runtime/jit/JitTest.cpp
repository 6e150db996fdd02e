//===- tests/unit/runtime/jit/JitTest.cpp - Program to kernel -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/jit.h"

#include "autotuner/BuildId.h"
#include "runtime/cache/PendingWrites.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace eider;

namespace {

Program quantize(const std::string &block = "1x128") {
  OpParameters parameters;
  parameters.dtype = "f32";
  parameters.format = "e4m3";
  parameters.block = block;
  return libraryOp("quantize", parameters);
}

CompileOptions optionsFor(int64_t hidden, const std::string &target = "sm_90") {
  CompileOptions options;
  options.target = target;
  options.dims = {{"hidden", hidden}};
  return options;
}

/// What `action` returns (0 … 255) in a child process, whose memory holds nothing compiled.
template <typename Action> int inChild(Action action) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 255;
    try {
      result = action();
    } catch (const Error &error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    pendingWrites::drain();
    std::_Exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class JitTest : public testing::Test {
protected:
  /// Whether a process finds the texts in the cache.
  bool isCached(const Program &program, const CompileOptions &options) const {
    const int result = inChild([&] {
      CompileReport report;
      compileCached(program, options, cache, &report);
      return report.fromCache ? 1 : 0;
    });
    EXPECT_TRUE(result == 0 || result == 1);
    return result == 1;
  }

  TemporaryDirectory temporary;
  const CacheOptions cache{true, (temporary.path / "cache").string()};
};

TEST_F(JitTest, TheCompilerHasABuildId) {
  const std::string id = buildIdAt(reinterpret_cast<const void *>(&compile));
  EXPECT_GE(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(buildIdAt(nullptr), "");
}

TEST_F(JitTest, TheSecondProcessFindsTheTexts) {
  EXPECT_FALSE(isCached(quantize(), optionsFor(256)));
  EXPECT_TRUE(isCached(quantize(), optionsFor(256)));
}

TEST_F(JitTest, WhateverChangesTheTextsIsAnotherRequest) {
  EXPECT_FALSE(isCached(quantize(), optionsFor(256)));
  EXPECT_FALSE(isCached(quantize(), optionsFor(384)));
  EXPECT_FALSE(isCached(quantize(), optionsFor(256, "sm_80")));
  EXPECT_FALSE(isCached(quantize("1x64"), optionsFor(256)));
  CompileOptions software = optionsFor(256);
  software.codec = "software";
  EXPECT_FALSE(isCached(quantize(), software));
  CompileOptions scheduled = optionsFor(256);
  scheduled.schedule = "map<threads = 32, vector = 8>";
  EXPECT_FALSE(isCached(quantize(), scheduled));
}

TEST_F(JitTest, CachedTextsAreTheCompiledOnes) {
  ASSERT_FALSE(isCached(quantize(), optionsFor(256)));
  CompileReport report;
  const Executable cached = compileCached(quantize(), optionsFor(256), cache, &report);
  EXPECT_TRUE(report.fromCache);
  EXPECT_EQ(cached.contract, compile(quantize(), optionsFor(256)).contract);
  EXPECT_EQ(cached.name, "quantize");
}

TEST_F(JitTest, ACorruptEntryIsCompiledAgain) {
  ASSERT_FALSE(isCached(quantize(), optionsFor(256)));
  for (const auto &entry : std::filesystem::directory_iterator(temporary.path / "cache/requests"))
    std::ofstream(entry.path() / "contract.json", std::ios::trunc) << "{}";
  EXPECT_FALSE(isCached(quantize(), optionsFor(256)));
  EXPECT_TRUE(isCached(quantize(), optionsFor(256)));
}

TEST_F(JitTest, SixteenThreadsCompileOnce) {
  std::barrier start(16);
  std::atomic<int> compiled = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      const Program program = quantize();
      start.arrive_and_wait();
      CompileReport report;
      compileCached(program, optionsFor(512), cache, &report);
      compiled += !report.fromCache;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(compiled, 1);
}

//===-- On the device host -------------------------------------------------===//

/// Rows of `pitch` floats of which `hidden` count.
std::vector<float> rows(int64_t tokens, int64_t pitch) {
  std::vector<float> values(tokens * pitch);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int64_t>(i * 7919 % 2003) - 1001) / 64.0f;
  return values;
}

HostTensor tensor(const std::string &name, DType dtype, std::vector<int64_t> shape,
                  const void *data) {
  int64_t bytes = static_cast<int64_t>(sizeOf(dtype));
  for (int64_t extent : shape)
    bytes *= extent;
  auto *first = static_cast<const std::byte *>(data);
  return {name, dtype, std::move(shape), {first, first + bytes}};
}

/// Runs quantize on host from rows with a pitch, and compares with the reference on the same rows
/// without it.
void expectReference(int64_t tokens, int64_t hidden, int64_t pitch, int64_t offset,
                     const std::string &variant) {
  const Device host = Device::open("host", {.cache = {false, ""}});
  const Program program = quantize();
  const Kernel kernel = jit(program, host, {{"hidden", hidden}});
  const std::vector<float> x = rows(tokens + 1, pitch);
  auto *memory = static_cast<float *>(host.allocate(x.size() * sizeof(float)));
  host.upload(memory, x.data(), x.size() * sizeof(float));
  std::vector<float> compact;
  for (int64_t row = 0; row < tokens; ++row)
    compact.insert(compact.end(), x.begin() + offset + row * pitch,
                   x.begin() + offset + row * pitch + hidden);
  const int64_t groups = (hidden + 127) / 128;
  void *y = host.allocate(tokens * hidden), *scale = host.allocate(tokens * groups * sizeof(float));
  host.fill(y, 0xff, tokens * hidden);
  host.fill(scale, 0xff, tokens * groups * sizeof(float));

  const int64_t strides[] = {pitch, 1};
  std::vector<TensorArg> arguments(kernel.tensorNames().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = kernel.tensorNames()[i];
    arguments[i] =
        name == "x" ? TensorArg{memory + offset, strides} : TensorArg{name == "y" ? y : scale};
  }
  const Call call = kernel.prepare({{"tokens", tokens}, {"hidden", hidden}}, arguments);
  EXPECT_EQ(call.variant(), variant);
  call.launch({}, arguments);

  const auto comparisons =
      compare(program, {tensor("x", DType::f32, {tokens, hidden}, compact.data())},
              {tensor("y", DType::e4m3, {tokens, hidden}, y),
               tensor("y_scale", DType::f32, {tokens, groups}, scale)});
  ASSERT_EQ(comparisons.size(), 2u);
  for (const Comparison &comparison : comparisons) {
    EXPECT_GT(comparison.elements, 0);
    EXPECT_EQ(comparison.wrong, 0) << comparison.firstWrong;
  }
  for (void *pointer : {static_cast<void *>(memory), y, scale})
    host.free(pointer);
}

TEST_F(JitTest, QuantizeOnHostIsTheReference) { expectReference(3, 256, 256, 0, "few_rows"); }
TEST_F(JitTest, AlsoFromStridedRows) { expectReference(3, 256, 259, 0, "general"); }
TEST_F(JitTest, AlsoFromAMisalignedBase) { expectReference(2, 256, 256, 1, "general"); }
TEST_F(JitTest, AlsoOfOddWidth) { expectReference(2, 131, 131, 0, "few_rows"); }

TEST_F(JitTest, WorkOfNoRows) {
  const Device host = Device::open("host", {.cache = {false, ""}});
  const Kernel kernel = jit(quantize(), host, {{"hidden", 256}});
  const std::vector<TensorArg> nothing(kernel.tensorNames().size());
  kernel.prepare({{"tokens", 0}}).launch({}, nothing);
}

} // namespace
