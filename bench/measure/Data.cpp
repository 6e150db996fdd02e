//===- bench/measure/Data.cpp - Data that is worth timing on --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/measure/Data.h"

#include "runtime/contract/Expression.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string_view>

namespace eider::bench {
namespace {

/// After so many elements the data repeat: drawing more would take longer than the measurement.
constexpr int64_t period = 1 << 20;

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// The bits of a value in a type of floats, rounded towards zero.
uint32_t roundedBits(DType type, float value) {
  const uint32_t bits = bitsOf(value);
  if (type == DType::bf16)
    return bits >> 16;
  if (type == DType::f16) { // the exponent rebiased, the mantissa cut
    const int exponent = std::clamp<int>(static_cast<int>(bits >> 23 & 0xff) - 112, 1, 30);
    return (bits >> 16 & 0x8000u) | static_cast<uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ffu);
  }
  return bits;
}

/// Draws the bits of numbers.
class Source {
public:
  Source(DType type, Content content, uint64_t seed)
      : type(type), isScale(content == Content::scales), generator(seed) {}

  uint32_t draw() {
    if (type == DType::e8m0 && isScale)
      return bitsOf(scale()) >> 23;
    if (sizeOf(type) == 1) // 0x08 clear, 0x01 set: no NaN in any FP8 format, nor in E8M0
      return (static_cast<uint32_t>(generator()) & (isScale ? 0x77 : 0xf7)) | 0x01;
    return roundedBits(type, isScale ? scale() : normal(generator));
  }

private:
  DType type;
  bool isScale;
  std::mt19937_64 generator;
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform{1, 2};

  float scale() { return uniform(generator) / 256; }
};

} // namespace

Content contentOf(const std::string &name) {
  return name == "scale" || std::string_view(name).ends_with("_scale") ? Content::scales
                                                                       : Content::values;
}

void fillWithData(const Device &device, void *pointer, DType type, int64_t elements, uint64_t seed,
                  Content content) {
  if (type == DType::i32 || type == DType::i64)
    throw Error(ErrorKind::Request, "no data can be made up for an integer input", "",
                "measure an op whose integers choose rows of a tensor");
  Source source(type, content, seed);
  std::vector<std::byte> data(sizeOf(type) * std::min(elements, period));
  for (size_t at = 0; at < data.size(); at += sizeOf(type)) {
    const uint32_t bits = source.draw();
    std::memcpy(&data[at], &bits, sizeOf(type));
  }
  device.upload(pointer, data.data(), data.size());
  const size_t bytes = sizeOf(type) * static_cast<size_t>(elements);
  auto *base = static_cast<std::byte *>(pointer);
  for (size_t filled = data.size(); filled && filled < bytes; filled *= 2)
    device.copy(base + filled, base, std::min(filled, bytes - filled));
  device.synchronize();
}

bool isOfIndices(const Signature::Tensor &tensor) {
  return !tensor.choosesFrom.empty() || !tensor.risesTo.empty() || !tensor.mostOfEach.empty() ||
         !tensor.startsUpTo.empty();
}

/// `elements` choices among `rows`.
static std::vector<int64_t> choices(int64_t elements, int64_t rows, uint64_t seed) {
  if (rows < 1)
    throw Error(ErrorKind::Request, "there are no rows to choose from", "",
                "give the dim of the tensor at least 1");
  std::vector<int64_t> order(static_cast<size_t>(std::max(rows, elements)));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  for (int64_t &row : order)
    row %= rows;
  return order;
}

/// The ends of `parts` parts of about one size, or from the start of the first on.
static std::vector<int64_t> rising(int64_t first, int64_t parts, int64_t whole) {
  std::vector<int64_t> ends;
  for (int64_t part = first; part <= parts; ++part)
    ends.push_back(whole * part / std::max<int64_t>(1, parts));
  return ends;
}

static std::vector<int64_t> numbersOf(const Signature::Tensor &tensor, int64_t elements,
                                      const Dims &dims, uint64_t seed) {
  if (!tensor.startsUpTo.empty())
    return rising(0, elements - 1, extentOf(tensor.startsUpTo, dims));
  if (!tensor.risesTo.empty())
    return rising(1, elements, extentOf(tensor.risesTo, dims));
  if (!tensor.choosesFrom.empty())
    return choices(elements, extentOf(tensor.choosesFrom, dims), seed);
  return std::vector<int64_t>(static_cast<size_t>(elements), extentOf(tensor.mostOfEach, dims));
}

void fillWithIndices(const Device &device, void *pointer, const Signature::Tensor &tensor,
                     int64_t elements, const Dims &dims, uint64_t seed) {
  const std::vector<int64_t> numbers = numbersOf(tensor, elements, dims, seed);
  const size_t width = sizeOf(tensor.dtype);
  std::vector<std::byte> data(width * static_cast<size_t>(elements));
  for (size_t i = 0; i < static_cast<size_t>(elements); ++i)
    std::memcpy(&data[i * width], &numbers[i], width); // of a little-endian integer, the low bytes
  device.upload(pointer, data.data(), data.size());
}

int64_t extentOf(const std::string &expression, const Dims &dims) {
  std::vector<std::string> names;
  std::vector<int64_t> values;
  for (const auto &[name, value] : dims) {
    names.push_back(name);
    values.push_back(value);
  }
  return contract::Expression::parse(expression, names).evaluate(values);
}

size_t trafficOf(const Signature::Tensor &tensor, const std::vector<int64_t> &shape,
                 const Dims &dims) {
  size_t bytes = sizeOf(tensor.dtype);
  for (int64_t extent : shape)
    bytes *= static_cast<size_t>(extent);
  if (tensor.rowsChosen.empty())
    return bytes * (tensor.role == Signature::Role::InOut ? 2 : 1);
  const auto rows = static_cast<size_t>(std::max<int64_t>(shape.front(), 1));
  return bytes / rows * static_cast<size_t>(extentOf(tensor.rowsChosen, dims));
}

} // namespace eider::bench
