//===- tests/unit/runtime/jit/FunctionsTest.cpp - The DSL's functions, run ===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every function of eider/dsl.h as a kernel: run on `host` and compared with the reference, and
// compiled by NVRTC for the oldest target.
//
//===----------------------------------------------------------------------===//
#include "eider/jit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace eider;

namespace {

constexpr int64_t Tokens = 6, Hidden = 48;

int64_t extentOf(const std::string &shape) {
  static const std::map<std::string, int64_t> extents = {
      {"tokens", Tokens},        {"hidden", Hidden},         {"2 * hidden", 2 * Hidden},
      {"ceildiv(tokens, 2)", 3}, {"ceildiv(hidden, 16)", 3}, {"1", 1}};
  return extents.at(shape);
}

HostTensor zeros(const Signature::Tensor &tensor) {
  HostTensor result{tensor.name, tensor.dtype, {}, {}};
  size_t elements = 1;
  for (const std::string &extent : tensor.shape) {
    result.shape.push_back(extentOf(extent));
    elements *= static_cast<size_t>(result.shape.back());
  }
  result.data.resize(elements * sizeOf(tensor.dtype));
  return result;
}

/// Floats of every size and sign; in the second row also zeros, subnormals, infinities and NaN.
/// Codes of every kind.
void fill(HostTensor &tensor) {
  for (size_t i = 0; tensor.dtype != f32 && i < tensor.data.size(); ++i)
    tensor.data[i] = static_cast<std::byte>(i * 89);
  if (tensor.dtype != f32)
    return;
  const float limit = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0f, -0.0f, 1e-40f, -1e-42f, limit, -limit, 3.4e38f, std::nanf("")};
  const int64_t width = tensor.shape.back();
  for (size_t i = 0; i < tensor.data.size() / sizeof(float); ++i) {
    auto digits = static_cast<float>((i * 2654435761u >> 8) % 20001) / 10000.0f - 1.0f;
    float value = std::ldexp(digits, static_cast<int>(i % 9) - 3);
    if (static_cast<int64_t>(i) / width == 1 && i % 5 == 0)
      value = specials[i / 5 % std::size(specials)];
    std::memcpy(tensor.data.data() + i * sizeof value, &value, sizeof value);
  }
}

void expectConforms(const Program &program) {
  const Device device = Device::open("host");
  const Call call = jit(program, device, {{"hidden", Hidden}}).prepare({{"tokens", Tokens}});
  std::vector<HostTensor> inputs, outputs;
  std::vector<TensorArg> arguments;
  std::vector<void *> pointers;
  for (const Signature::Tensor &tensor : program.signature().tensors) {
    const bool isInput = tensor.role == Signature::Role::Input;
    HostTensor &host = (isInput ? inputs : outputs).emplace_back(zeros(tensor));
    if (isInput)
      fill(host);
    pointers.push_back(device.allocate(host.data.size()));
    device.upload(pointers.back(), host.data.data(), host.data.size());
    arguments.push_back({pointers.back()});
  }
  pointers.push_back(device.allocate(std::max<size_t>(call.workspace_bytes(), 1)));
  call.launch(Stream(), arguments, {}, pointers.back());
  device.synchronize();
  for (size_t i = 0; i < outputs.size(); ++i)
    device.download(outputs[i].data.data(), pointers[inputs.size() + i], outputs[i].data.size());
  for (void *pointer : pointers)
    device.free(pointer);
  for (const Comparison &comparison : compare(program, inputs, outputs))
    EXPECT_EQ(comparison.wrong, 0) << comparison.name << ": " << comparison.firstWrong;
}

void expectCompiles(const Program &program) {
  CompileOptions options;
  options.target = "sm_75";
  options.dims = {{"hidden", Hidden}};
  CacheOptions noCache;
  noCache.enabled = false;
  try {
    EXPECT_FALSE(assemble(emit(program, options, Stage::Cuda), "sm_75", ImageKind::Cubin, noCache)
                     .image.empty());
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::Machine)
      FAIL() << error.what();
    GTEST_SKIP() << error.what();
  }
}

void expectWorks(const Program &program) {
  expectConforms(program);
  expectCompiles(program);
}

/// Every output is `y` and a number.
class Functions : public testing::Test {
protected:
  void output(const Value &value) { b.output("y" + std::to_string(count++), value); }

  Builder b{"functions"};
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", f32, {tokens, hidden}), z = b.input("z", f32, {tokens, hidden});
  int count = 0;
};

TEST_F(Functions, Exact) {
  for (const Value &value :
       {x + z, x - z, x * z, x / z, -x, sqrt(x), rcp(x), min(x, z), max(x, z), abs(x), relu(x),
        clamp(x, -0.5f, z), fma(x, z, 0.5f), fma(x, 3, z), 2 / x, 1 - x, named(x * 3, "three_x")})
    output(value);
  expectWorks(b.build());
}

TEST_F(Functions, Comparisons) {
  for (const Mask &mask : {x<z, x <= z, x> z, x >= z, x == z, x != z, x < 0, x != x})
    output(select(mask, x, z));
  expectWorks(b.build());
}

TEST_F(Functions, Approximate) {
  for (const Value &value : {exp(x), exp2(x), log(x), rsqrt(x), tanh(x), erf(x), sigmoid(x),
                             silu(x), gelu(x), gelu_tanh(x)})
    output(value);
  expectWorks(b.build());
}

TEST_F(Functions, Types) {
  for (const Value &value : {round_to(x, bf16), round_to(x, f16), cast(x, bf16), cast(x, f16),
                             cast(cast(x, bf16), f32), cast(x, bf16) + cast(z, f16)})
    output(value);
  expectWorks(b.build());
}

TEST_F(Functions, AlongARow) {
  for (const Value &value :
       {sum(x, -1), mean(x, 1), amax(x, -1), max_along(x, 1), min_along(x, -1), sum(x, {1, whole})})
    output(value);
  output(x - broadcast(max_along(x, -1), {tokens, hidden}));
  expectWorks(b.build());
}

TEST_F(Functions, OverBlocksOfARow) {
  const Value product = x * z; // taken twice: rounded
  for (const Value &value :
       {sum(x, {1, 16}), mean(x, {1, 16}), amax(x, {1, 16}), max(x, {1, 16}), min(x, {1, 16}),
        x / amax(z, {1, 16}), mean(x * x, {1, 16}), sum(x * z, {1, 16}),
        sum(x * sum(z, {1, 16}), {1, 16}), product + sum(product, {1, 16})})
    output(value);
  expectWorks(b.build());
}

TEST_F(Functions, OverBlocks) {
  for (const Value &value :
       {sum(x, {2, 16}), amax(x, {2, 16}), max(x, {2, 16}), min(x, {2, 16}), x / amax(z, {2, 16})})
    output(value);
  expectWorks(b.build());
}

TEST_F(Functions, Halves) {
  Value wide = b.input("wide", f32, {tokens, 2 * hidden});
  output(first_half(wide) * x);
  output(second_half(wide) - z);
  expectWorks(b.build());
}

TEST_F(Functions, ScaledTensors) {
  Scaled codes = b.scaled_input("codes", e4m3, {tokens, hidden}, {1, 16});
  output(dequantize(codes) * x);
  b.output("q", quantize(x, e5m2, {.block = {1, 16}}));
  expectWorks(b.build());
}

} // namespace
