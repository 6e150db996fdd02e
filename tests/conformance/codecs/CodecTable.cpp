//===- CodecTable.cpp - What the codecs give, for ml_dtypes_test.py -------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Writes to standard output, for E4M3 then E5M2, by software then by hardware, then for E4M3FNUZ
// and E5M2FNUZ, then for E2M1 by software and by hardware: the values of all 256 codes (of four
// bits, the low ones) as floats, then the codes of the floats that were read
// from standard input, saturating and then overflowing. In the end the values of all E8M0 codes,
// and the codes of the powers of two below and then above the magnitudes of those floats.
//
//===----------------------------------------------------------------------===//
#include "eider/formats/e2m1.cuh"
#include "eider/formats/e4m3.cuh"
#include "eider/formats/e4m3fnuz.cuh"
#include "eider/formats/e5m2.cuh"
#include "eider/formats/e5m2fnuz.cuh"
#include "eider/formats/e8m0.cuh"

#include <cstdio>
#include <vector>

using namespace eider;

namespace {

template <class T, CodecPath path> void writeTable(const std::vector<float> &inputs) {
  std::vector<float> values;
  for (int code = 0; code < 256; ++code)
    values.push_back(
        Codec<T, path>::decode(T{static_cast<unsigned char>(packing<T> == 1 ? code : code & 0xf)}));
  std::fwrite(values.data(), sizeof(float), values.size(), stdout);
  std::vector<unsigned char> codes;
  for (float x : inputs)
    codes.push_back(Codec<T, path>::encode(x).bits);
  for (float x : inputs)
    codes.push_back(Codec<T, path>::encode_overflow(x).bits);
  std::fwrite(codes.data(), 1, codes.size(), stdout);
}

/// The same for E8M0, whose values are powers of two.
void writePowers(const std::vector<float> &inputs) {
  for (int code = 0; code < 256; ++code) {
    const float value = to<float>(e8m0{static_cast<unsigned char>(code)});
    std::fwrite(&value, sizeof value, 1, stdout);
  }
  std::vector<unsigned char> codes;
  for (float x : inputs)
    codes.push_back(to<e8m0>(power_of_two_below(eider::abs(x))).bits);
  for (float x : inputs)
    codes.push_back(to<e8m0>(power_of_two_above(eider::abs(x))).bits);
  std::fwrite(codes.data(), 1, codes.size(), stdout);
}

} // namespace

int main() {
  std::vector<float> inputs(1 << 16);
  size_t count = 0;
  while (size_t read = std::fread(&inputs[count], sizeof(float), inputs.size() - count, stdin))
    if ((count += read) == inputs.size())
      inputs.resize(2 * inputs.size());
  inputs.resize(count);
  writeTable<e4m3, software>(inputs);
  writeTable<e4m3, hardware>(inputs);
  writeTable<e5m2, software>(inputs);
  writeTable<e5m2, hardware>(inputs);
  writeTable<e4m3fnuz, software>(inputs);
  writeTable<e5m2fnuz, software>(inputs);
  writeTable<e2m1, software>(inputs);
  writeTable<e2m1, hardware>(inputs);
  writePowers(inputs);
  return std::fflush(stdout) != 0;
}
