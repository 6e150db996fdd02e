//===- examples/fp8_linear/Linear.cpp - A linear layer in FP8 -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "examples/fp8_linear/Linear.h"

#include "bench/measure/Values.h"
#include "eider/compile.h"
#include "eider/jit.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace eider;

namespace fp8_linear {

using bench::allocate;
using bench::downloaded;
using bench::launchOf;

Launch after(const Launch &first, const Launch &then) {
  return [first, then](Stream stream) {
    first(stream);
    then(stream);
  };
}

Linear::Linear(const Device &device, const CublasLt &cublas, int64_t n, int64_t k,
               std::string blockOfX)
    : device(device), cublas(cublas), n(n), k(k), block(std::move(blockOfX)),
      blockOfWeight(block == "1x*" ? "1x*" : "128x128") {
  if (block != "1x*" && block != "1x128")
    throw Error(ErrorKind::Request, "is no block of rows of x", block, "choose 1x* or 1x128");
  if (block == "1x128" && (k % 512 != 0 || n % 128 != 0)) // whole blocks, their rows on 16 bytes
    throw Error(ErrorKind::Request,
                "k = " + std::to_string(k) + " is no multiple of 512, or n = " + std::to_string(n) +
                    " none of 128",
                "blocks of 128x128", "choose block 1x*");
}

Program Linear::programOf(const std::string &op, const std::string &block,
                          const std::string &layout) {
  return libraryOp(op, {.dtype = "bf16", .format = "e4m3", .block = block, .scaleLayout = layout});
}

Linear::Codes Linear::makeCodes(const Kernel &kernel, int64_t rows) const {
  Codes made;
  made.sizeOfScales = 1;
  for (int64_t extent : kernel.shapeOf("y_scale", {{"tokens", rows}, {"hidden", k}}))
    made.sizeOfScales *= static_cast<size_t>(extent);
  made.codes = allocate(device, static_cast<size_t>(rows * k));
  made.scales = allocate(device, 4 * made.sizeOfScales);
  return made;
}

void Linear::setWeight(const void *w) {
  const Dims dims = {{"tokens", n}, {"hidden", k}};
  const Program program = programOf("quantize", blockOfWeight);
  weight = makeCodes(jit(program, device, dims), n);
  launchOf(device, program, dims,
           {{"x", w}, {"y", weight.codes.get()}, {"y_scale", weight.scales.get()}})({});
  device.synchronize();
}

Launch Linear::castBy(const std::string &op, int64_t m, std::vector<NamedTensor> tensors) {
  const Dims dims = {{"tokens", m}, {"hidden", k}};
  const bool isForCublas = m > fewRows && block != "1x*";
  const Program program = programOf(op, block, isForCublas ? "te_gemm_ready" : "");
  if (!casts.contains(m))
    casts[m] = makeCodes(jit(program, device, dims), m);
  tensors.push_back({"y", casts.at(m).codes.get()});
  tensors.push_back({"y_scale", casts.at(m).scales.get()});
  return launchOf(device, program, dims, tensors);
}

Launch Linear::cast(const void *x, int64_t m) { return castBy("quantize", m, {{"x", x}}); }

Launch Linear::normAndCast(const void *x, const void *weight, int64_t m) {
  return castBy("rms_norm_quant", m, {{"x", x}, {"weight", weight}});
}

Launch Linear::product(void *y, int64_t m, Sums sums) {
  const auto found = casts.find(m);
  if (found == casts.end())
    throw Error(ErrorKind::Request, "nothing was cast of so many rows", std::to_string(m),
                "call cast() or normAndCast() first");
  if (m <= fewRows)
    return productOfFew(found->second, y, m);
  const auto chosen = std::make_shared<Product>(cublas.product(
      {found->second.codes.get(), DType::e4m3, found->second.scales.get(), block},
      {weight.codes.get(), DType::e4m3, weight.scales.get(), blockOfWeight}, y, m, n, k, sums));
  return [chosen](Stream stream) { chosen->launch(stream); };
}

Launch Linear::productOfFew(const Codes &codes, void *y, int64_t m) {
  const Program program = libraryOp("scaled_matmul", {.dtype = "bf16",
                                                      .format = "e4m3",
                                                      .block = blockOfWeight,
                                                      .fromFormat = "e4m3",
                                                      .fromBlock = block});
  return launchOf(device, program, {{"m", m}, {"n", n}, {"k", k}},
                  {{"w", weight.codes.get()},
                   {"w_scale", weight.scales.get()},
                   {"x", codes.codes.get()},
                   {"x_scale", codes.scales.get()},
                   {"y", y}});
}

Launch Linear::skinny(const void *x, void *y, int64_t m) {
  return launchOf(
      device, programOf("matmul_skinny", blockOfWeight), {{"m", m}, {"n", n}, {"k", k}},
      {{"w", weight.codes.get()}, {"w_scale", weight.scales.get()}, {"x", x}, {"y", y}});
}

Launch Linear::forward(const void *x, void *y, int64_t m, Sums sums) {
  if (m <= fewRows)
    return skinny(x, y, m);
  const Launch first = cast(x, m); // which product() finds
  return after(first, product(y, m, sums));
}

double Linear::errorOf(const void *x, const void *y, int64_t m) const {
  const auto size = [](int64_t count) { return static_cast<size_t>(count); };
  const std::array<double, 256> valueOfE4m3 = bench::valuesOfE4m3();
  const auto w = downloaded<uint8_t>(device, weight.codes.get(), size(n * k));
  const auto wScales = downloaded<float>(device, weight.scales.get(), weight.sizeOfScales);
  const auto found = downloaded<uint16_t>(device, y, size(m * n));
  const bool isOfRows = block == "1x*";
  std::vector<uint16_t> values;
  std::vector<uint8_t> codes;
  std::vector<float> scales;
  if (x) {
    values = downloaded<uint16_t>(device, x, size(m * k));
  } else {
    const Codes &cast = casts.at(m);
    codes = downloaded<uint8_t>(device, cast.codes.get(), size(m * k));
    scales = downloaded<float>(device, cast.scales.get(), cast.sizeOfScales);
  }
  const auto scaleOfX = [&](int64_t row, int64_t i) { // of blocks, for cuBLASLt by columns
    const int64_t pitch = (m + 3) / 4 * 4;
    return isOfRows ? row : m <= fewRows ? row * (k / 128) + i / 128 : i / 128 * pitch + row;
  };
  const auto valueOfX = [&](int64_t row, int64_t i) {
    const size_t at = size(row * k + i);
    return x ? bench::valueOfBf16(values[at])
             : valueOfE4m3[codes[at]] * scales[size(scaleOfX(row, i))];
  };
  const auto valueOfW = [&](int64_t column, int64_t i) {
    const int64_t scale = isOfRows ? column : column / 128 * (k / 128) + i / 128;
    return valueOfE4m3[w[size(column * k + i)]] * wScales[size(scale)];
  };
  std::mt19937 random(1);
  double worst = 0;
  for (int sample = 0; sample < 512; ++sample) {
    const auto row = static_cast<int64_t>(random()) % m,
               column = static_cast<int64_t>(random()) % n;
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < k; ++i) {
      const double term = valueOfX(row, i) * valueOfW(column, i);
      sum += term;
      magnitude += std::abs(term);
    }
    const double value = bench::valueOfBf16(found[size(row * n + column)]);
    // Half a unit of bf16; and sums that keep 13 bits of their largest term.
    const double bound = std::abs(sum) * 0x1p-8 + magnitude * 0x1p-12;
    const double error = std::abs(value - sum);
    if (!(error <= INFINITY))
      return INFINITY;
    worst = std::max(worst, bound > 0 ? error / bound : error > 0 ? 2 : 0);
  }
  return worst;
}

} // namespace fp8_linear
