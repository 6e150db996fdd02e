//===- CodecTable.cpp - What the codecs give, for ml_dtypes_test.py -------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Writes to standard output, for E4M3 then E5M2, by software then by hardware: the values of all
// 256 codes as floats, then the codes of the floats that were read from standard input, saturating
// and then overflowing.
//
//===----------------------------------------------------------------------===//
#include "eider/formats/e4m3.cuh"
#include "eider/formats/e5m2.cuh"

#include <cstdio>
#include <vector>

using namespace eider;

namespace {

template <class T, CodecPath path> void writeTable(const std::vector<float> &inputs) {
  std::vector<float> values;
  for (int code = 0; code < 256; ++code)
    values.push_back(Codec<T, path>::decode(T{static_cast<unsigned char>(code)}));
  std::fwrite(values.data(), sizeof(float), values.size(), stdout);
  std::vector<unsigned char> codes;
  for (float x : inputs)
    codes.push_back(Codec<T, path>::encode(x).bits);
  for (float x : inputs)
    codes.push_back(Codec<T, path>::encode_overflow(x).bits);
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
  return std::fflush(stdout) != 0;
}
