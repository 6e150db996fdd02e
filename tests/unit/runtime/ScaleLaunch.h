//===- tests/unit/runtime/ScaleLaunch.h - Launches of `scale` ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_RUNTIME_SCALELAUNCH_H
#define EIDER_TESTS_UNIT_RUNTIME_SCALELAUNCH_H

#include "eider/runtime.h"

#include <gtest/gtest.h>

#include <vector>

namespace eider {

struct ScaleShape {
  int64_t offset = 0; ///< of x from an aligned address, in elements
  int64_t pitch = 0;  ///< of x and y; 0: contiguous
};

/// Tensors of the sample kernel on any device, and what a launch made of them.
class ScaleLaunch {
public:
  ScaleLaunch(const Device &device, int64_t tokens, int64_t hidden, ScaleShape shape = {})
      : device(device), tokens(tokens), hidden(hidden), pitch(shape.pitch ? shape.pitch : hidden),
        offset(shape.offset), strided(shape.pitch != 0) {
    x.resize(offset + tokens * pitch);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i % 1000) - 500.25f;
    memoryX = allocate(x.size());
    memoryY = allocate(tokens * pitch);
    memoryWhich = allocate(tokens);
    device.upload(memoryX, x.data(), x.size() * sizeof(float));
    poison();
  }
  ~ScaleLaunch() {
    for (float *memory : {memoryX, memoryY, memoryWhich})
      device.free(memory);
  }
  ScaleLaunch(const ScaleLaunch &) = delete;
  ScaleLaunch &operator=(const ScaleLaunch &) = delete;

  std::vector<TensorArg> tensors() const {
    std::span<const int64_t> used;
    if (strided)
      used = strides;
    return {{memoryX + offset, used}, {memoryY, used}, {memoryWhich}};
  }

  void run(const Kernel &kernel, std::span<const ScalarArg> scalars = {}, Stream stream = {}) {
    poison();
    kernel.prepare({{"tokens", tokens}, {"hidden", hidden}}).launch(stream, tensors(), scalars);
  }

  void runByName(const Kernel &kernel, std::vector<NamedValue> values) {
    poison();
    values.push_back({"tokens", tokens});
    values.push_back({"hidden", hidden});
    kernel.launch({}, {{"x", memoryX + offset}, {"y", memoryY}, {"which", memoryWhich}}, values);
  }

  /// The number of the variant that ran, as every row says.
  int variant() const {
    const std::vector<float> which = download(memoryWhich, tokens);
    for (float each : which)
      EXPECT_EQ(each, which[0]);
    return static_cast<int>(which[0]);
  }

  void expectScaled(float factor) const {
    const std::vector<float> y = download(memoryY, tokens * pitch);
    for (int64_t row = 0; row < tokens; ++row)
      for (int64_t column = 0; column < hidden; ++column)
        ASSERT_EQ(y[row * pitch + column], factor * x[offset + row * pitch + column])
            << row << ", " << column;
  }

  /// Nothing has run.
  void expectUntouched() const {
    for (float each : download(memoryY, tokens * pitch))
      ASSERT_NE(each, each);
  }

  void expectPaddingUntouched() const {
    const std::vector<float> y = download(memoryY, tokens * pitch);
    for (int64_t row = 0; row < tokens; ++row)
      for (int64_t column = hidden; column < pitch; ++column)
        ASSERT_NE(y[row * pitch + column], y[row * pitch + column]) << row << ", " << column;
  }

private:
  float *allocate(size_t elements) const {
    return static_cast<float *>(device.allocate(elements * sizeof(float)));
  }
  void poison() const { // 0xff…: a NaN
    device.fill(memoryY, 0xff, tokens * pitch * sizeof(float));
    device.fill(memoryWhich, 0xff, tokens * sizeof(float));
  }
  std::vector<float> download(const float *from, size_t elements) const {
    device.synchronize();
    std::vector<float> values(elements);
    device.download(values.data(), from, elements * sizeof(float));
    return values;
  }

  const Device &device;
  const int64_t tokens, hidden, pitch, offset;
  const bool strided;
  const int64_t strides[2] = {pitch, 1};
  std::vector<float> x;
  float *memoryX, *memoryY, *memoryWhich;
};

} // namespace eider

#endif // EIDER_TESTS_UNIT_RUNTIME_SCALELAUNCH_H
