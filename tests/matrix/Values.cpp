//===- Values.cpp - What the cells compute on -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Values.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace eider;
using namespace eider::matrix;

namespace {
/// Where a float type keeps its fields.
struct Fields {
  int bits, significand, bias;
};

Fields fieldsOf(DType dtype) {
  if (dtype == DType::bf16)
    return {16, 7, 127};
  return dtype == DType::f16 ? Fields{16, 10, 15} : Fields{32, 23, 127};
}

/// Bits of the type with these fields; the significand from the top bits of `digits`.
uint32_t assemble(Fields fields, bool negative, int biased, uint64_t digits) {
  auto significand = static_cast<uint32_t>(digits >> (64 - fields.significand));
  return (negative ? 1u << (fields.bits - 1) : 0) |
         static_cast<uint32_t>(biased) << fields.significand | significand;
}
} // namespace

/// About normal, within ±6, by sums: no library function decides a bit of it.
double ValueSource::bell() {
  double sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += uniform();
  return sum - 6;
}

uint32_t ValueSource::specialBits(DType dtype) {
  Fields fields = fieldsOf(dtype);
  uint64_t choice = random();
  bool negative = choice & 1;
  int infinite = (1 << (fields.bits - 1 - fields.significand)) - 1;
  switch (choice >> 8 & 7) {
  case 0:
  case 1:
    return assemble(fields, negative, 0, 0);
  case 2:
    return assemble(fields, negative, infinite, ~uint64_t(0)); // NaN
  case 3:
    return assemble(fields, negative, infinite, 0);
  case 4:
    return assemble(fields, negative, 0, random()); // subnormal
  case 5:
    return assemble(fields, negative, infinite - 1, ~uint64_t(0)); // the largest
  case 6:
    return assemble(fields, negative, 1, 0); // the smallest normal number
  default:
    return assemble(fields, negative, 0, 0) | 1; // the smallest number
  }
}

uint32_t ValueSource::floatBits(DType dtype, int row, int64_t column) {
  Fields fields = fieldsOf(dtype);
  int largest = (1 << (fields.bits - 1 - fields.significand)) - 2;
  if (kind == "tiny")
    return assemble(fields, random() & 1, static_cast<int>(random() % 12), random());
  if (kind == "huge")
    return assemble(fields, random() & 1, largest - static_cast<int>(random() % 6), random());
  if (kind == "specials" && row % 2 == 1 && random() % 16 == 0)
    return specialBits(dtype);
  if ((row + column / 64) % 7 == 3)
    return assemble(fields, random() & 1, 0, 0); // stretches of zeros: whole blocks of them
  int exponent = 0;
  double fraction = std::frexp(bell(), &exponent);
  exponent += fields.bias - 1 + (row * 5) % 17 - 8;
  if (fraction == 0 || exponent < 1)
    return assemble(fields, fraction < 0, 0, random());
  auto digits = static_cast<uint64_t>(std::ldexp(std::abs(fraction) * 2 - 1, 63)) << 1;
  return assemble(fields, fraction < 0, std::min(exponent, largest), digits);
}

uint8_t ValueSource::code(DType format, int row) {
  bool isFnuz = format == DType::e4m3fnuz || format == DType::e5m2fnuz;
  if (format == e2m1) // two of them, whatever their bits
    return static_cast<uint8_t>(random());
  int largest = isFnuz ? 0x7f : format == DType::e4m3 ? 0x7e : 0x7b;
  if (kind == "specials" && row % 2 == 1)
    return static_cast<uint8_t>(random());
  int magnitude = static_cast<int>(random() % static_cast<uint64_t>(largest + 1));
  if (kind == "tiny")
    magnitude %= 10;
  if (isFnuz && magnitude == 0) // 0x80 is NaN
    return 0;
  return static_cast<uint8_t>(magnitude | (random() & 0x80));
}

HostTensor ValueSource::tensor(const std::string &name, DType dtype,
                               const std::vector<int64_t> &shape) {
  HostTensor tensor{name, dtype, shape, {}};
  int64_t count = 1, width = shape.back();
  for (int64_t extent : shape)
    count *= extent;
  size_t bytes = sizeOf(dtype);
  tensor.data.resize(static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    int row = static_cast<int>(i / width);
    uint32_t bits = bytes == 1 ? code(dtype, row) : floatBits(dtype, row, i % width);
    std::memcpy(tensor.data.data() + static_cast<size_t>(i) * bytes, &bits, bytes);
  }
  return tensor;
}

HostTensor ValueSource::scales(const std::string &name, DType dtype,
                               const std::vector<int64_t> &shape) {
  HostTensor tensor{name, dtype, shape, {}};
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  if (dtype == DType::i32) { // four e8m0 a word
    tensor.data = scales(name, DType::e8m0, {4 * count}).data;
    return tensor;
  }
  for (int64_t i = 0; i < count; ++i) {
    int spread = kind == "normal" ? 20 : 120;
    int exponent = 127 - spread + static_cast<int>(random() % static_cast<uint64_t>(2 * spread));
    uint32_t bits = assemble(fieldsOf(DType::f32), false, exponent, random());
    if (kind == "specials" && random() % 8 == 0)
      bits = specialBits(DType::f32) & 0x7fffffff;
    if (dtype == DType::bf16)
      bits >>= 16;
    if (dtype == DType::f16) // the exponent is narrower: 2^-14 … 2^15, and with specials Inf or NaN
      bits = 0x400 + bits % (kind == "specials" ? 0x7a00 : 0x7800);
    if (dtype == e4m3)
      bits = bits % (kind == "specials" ? 0x80 : 0x7f);
    if (dtype == DType::e8m0)
      bits >>= 23; // of Inf and NaN that is its NaN
    const auto *data = reinterpret_cast<const std::byte *>(&bits);
    tensor.data.insert(tensor.data.end(), data, data + sizeOf(dtype));
  }
  return tensor;
}
