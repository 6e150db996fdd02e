//===- docs/tutorial/jit/main.cpp - An op of one's own, compiled at run time ===//
//
// Part of Eider, under the Apache License v2.0.
//
//   jit-sample [host|cuda|cuda:N]
//
// Describes relu(x + bias), quantised to FP8 with one scale a row; compiles it for the device,
// launches it, and compares with the reference. Exit status: 0 the bits are equal, 1 they are not,
// 2 Eider says what is wrong.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"
#include "eider/jit.h"

#include <cstdio>
#include <cstring>

namespace {

constexpr int64_t tokens = 100, hidden = 512;

// What is computed. No threads, no memory: those are the compiler's.
eider::Program bias_relu_quant() {
  eider::Builder b("bias_relu_quant");
  auto t = b.dim("tokens"), h = b.dim("hidden");
  auto x = b.input("x", eider::f32, {t, h});
  auto bias = b.input("bias", eider::f32, {h});
  auto positive = relu(x + bias).named("positive");
  b.output("y", quantize(positive, eider::e4m3, {.block = {1, eider::whole}}));
  return b.build();
}

eider::HostTensor numbers(const char *name, std::vector<int64_t> shape, uint32_t seed) {
  size_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<size_t>(extent);
  eider::HostTensor tensor{name, eider::f32, std::move(shape), std::vector<std::byte>(4 * count)};
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const float value = static_cast<float>(seed >> 8) / 16777216.0f - 0.5f;
    std::memcpy(&tensor.data[4 * i], &value, 4);
  }
  return tensor;
}

// The device's memory is the program's own business; Device has what a sample needs.
void *upload(const eider::Device &device, const eider::HostTensor &tensor) {
  void *memory = device.allocate(tensor.data.size());
  device.upload(memory, tensor.data.data(), tensor.data.size());
  return memory;
}

int run(const char *id) {
  const auto device = eider::Device::open(id);
  const eider::Program program = bias_relu_quant();
  const eider::Kernel kernel = eider::jit(program, device, {{"hidden", hidden}});
  // Chooses a variant and loads it: no launch after this compiles, allocates or looks anything up.
  const eider::Call call = kernel.prepare({{"tokens", tokens}});

  const std::vector<eider::HostTensor> inputs = {numbers("x", {tokens, hidden}, 1),
                                                 numbers("bias", {hidden}, 2)};
  std::vector<eider::HostTensor> outputs = {
      {"y", eider::e4m3, {tokens, hidden}, std::vector<std::byte>(tokens * hidden)},
      {"y_scale", eider::f32, {tokens, 1}, std::vector<std::byte>(4 * tokens)}};
  std::vector<eider::TensorArg> arguments;
  for (const eider::HostTensor &tensor : inputs)
    arguments.push_back({upload(device, tensor)});
  for (const eider::HostTensor &tensor : outputs)
    arguments.push_back({upload(device, tensor)});

  call.launch(/*stream=*/nullptr, arguments);
  device.synchronize();
  for (size_t i = 0; i < outputs.size(); ++i)
    device.download(outputs[i].data.data(), arguments[inputs.size() + i].pointer,
                    outputs[i].data.size());

  bool equal = true;
  for (const eider::Comparison &c : eider::compare(program, inputs, outputs)) {
    std::printf("%s: %lld of %lld differ from the reference\n", c.name.c_str(),
                static_cast<long long>(c.different), static_cast<long long>(c.elements));
    equal &= c.wrong == 0;
  }
  std::printf("%s on %s (%s)\n", kernel.name().c_str(), device.info().id.c_str(),
              call.variant().c_str());
  return equal ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "host");
  } catch (const eider::Error &error) {
    std::fprintf(stderr, "jit-sample: %s\n", error.what());
    return 2;
  }
}
