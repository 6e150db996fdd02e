//===- examples/demo/Signal.cpp - What a quantisation costs ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "examples/demo/Signal.h"

#include <cmath>
#include <cstring>

namespace demo {

namespace {
float element(const eider::HostTensor &tensor, size_t index) {
  float value;
  std::memcpy(&value, tensor.data.data() + index * sizeof(value), sizeof(value));
  return value;
}
} // namespace

double signalToNoise(const eider::HostTensor &original, const eider::HostTensor &restored) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < original.data.size() / sizeof(float); ++i) {
    double value = element(original, i);
    double error = value - element(restored, i);
    signal += value * value;
    noise += error * error;
  }
  return 10 * std::log10(signal / noise);
}

} // namespace demo
