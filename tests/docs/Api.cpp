//===- Api.cpp - The example of README.md, as a program -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// README.md quotes this file; here the example runs on `host` and its output is compared with the
// reference.
//
//===----------------------------------------------------------------------===//
#include "eider/jit.h"

#include <cstdio>
#include <cstring>
#include <vector>

/// Bytes of floats from -1 to 1.
static std::vector<std::byte> someFloats(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 7919 % 2001) - 1000) / 1000.0f;
  std::vector<std::byte> bytes(count * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Whether every output conforms.
static bool run() {
  eider::Builder b("relu_quant");
  eider::Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  eider::Value x = b.input("x", eider::f32, {tokens, hidden});
  b.output("y", eider::quantize(relu(x), eider::e4m3, {.block = {1, 128}})); // y and y_scale
  const eider::Program program = b.build(); // throws eider::Error: what, where, what to do

  const eider::Device device = eider::Device::open("host"); // or "cuda:0"
  const eider::Kernel kernel = eider::jit(program, device, {{"hidden", 384}});
  const eider::Call call = kernel.prepare({{"tokens", 5}}); // compiled and loaded from here on

  const std::vector<std::byte> data = someFloats(5 * 384);
  const size_t sizes[] = {5 * 384 * sizeof(float), 5 * 384, 5 * 3 * sizeof(float)};
  void *px = device.allocate(sizes[0]), *py = device.allocate(sizes[1]),
       *ps = device.allocate(sizes[2]);
  device.upload(px, data.data(), sizes[0]);
  const eider::Stream stream;

  const eider::TensorArg tensors[] = {{px}, {py}, {ps}}; // in the order of kernel.tensorNames()
  call.launch(stream, tensors);                          // allocates nothing, builds no string

  device.synchronize();
  std::vector<std::byte> codes(sizes[1]), scales(sizes[2]);
  device.download(codes.data(), py, sizes[1]);
  device.download(scales.data(), ps, sizes[2]);
  for (void *pointer : {px, py, ps})
    device.free(pointer);
  bool conforms = true;
  for (const eider::Comparison &c : eider::compare(
           program, {{"x", eider::f32, {5, 384}, data}},
           {{"y", eider::e4m3, {5, 384}, codes}, {"y_scale", eider::f32, {5, 3}, scales}})) {
    std::printf("%s: %lld wrong of %lld\n", c.name.c_str(), static_cast<long long>(c.wrong),
                static_cast<long long>(c.elements));
    conforms &= c.wrong == 0;
  }
  return conforms;
}

int main() {
  try {
    return run() ? 0 : 1;
  } catch (const eider::Error &error) {
    std::fprintf(stderr, "docs-api: %s\n", error.what());
    return 1;
  }
}
