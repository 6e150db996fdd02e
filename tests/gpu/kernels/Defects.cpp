//===- Defects.cpp - Kernels that a sanitizer must complain of ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/gpu/kernels/Defects.h"
#include "tests/gpu/kernels/ExactTensor.h"

#include "tests/unit/runtime/Samples.h"

using namespace eider;

namespace {
struct Defect {
  const char *name;
  const char *body;
};

/// One block of 64 threads on rows of 64 floats.
constexpr Defect defects[] = {
    {"out-of-bounds", "y[column] = x[column + hidden];"},
    {"uninitialised", "y[column] = factor * x[column];"},
    {"race", "__shared__ float row[64]; row[column] = factor; y[column] = row[63 - column];"},
    {"divergence", "if (column < 40) { __syncthreads(); } y[column] = factor;"},
};

std::string sourceOf(const Defect &defect) {
  return std::string(R"(#include "eider/types.cuh"
using namespace eider;
extern "C" __global__ void scale(const float *x, float *y, float *which, float factor, int64 x_stride,
                                 int64 y_stride, int64 hidden) {
  const int column = threadIdx.x;
  )") + defect.body +
         "\n}\n";
}
} // namespace

std::vector<std::string> gpu::defectNames() {
  std::vector<std::string> names;
  for (const Defect &defect : defects)
    names.push_back(defect.name);
  return names;
}

void gpu::runDefect(const Device &device, const std::string &name) {
  constexpr int64_t hidden = 64;
  contract::Contract contract = scaleContract(device.target());
  contract.variants.erase(contract.variants.begin(), contract.variants.end() - 1);
  contract.variants[0].launches[0].block = hidden;
  for (const Defect &defect : defects)
    if (name == defect.name)
      contract.variants[0].source = sourceOf(defect);
  ExactTensor x(device, f32, {1, hidden}, {}), y(device, f32, {1, hidden}, {}),
      which(device, f32, {1}, {});
  if (name != "uninitialised")
    x.upload(std::vector<std::byte>(hidden * sizeof(float)));
  const TensorArg tensors[] = {x.argument(), y.argument(), which.argument()};
  const Kernel kernel = device.load({contract.name, contract::write(contract)});
  kernel.prepare({{"tokens", 1}, {"hidden", hidden}}, tensors).launch({}, tensors);
  device.synchronize();
}
