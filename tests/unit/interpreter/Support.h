//===- Support.h - Small tensors and programs for tests ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_INTERPRETER_SUPPORT_H
#define EIDER_TESTS_INTERPRETER_SUPPORT_H

#include "compiler/interpreter/Rounding.h"
#include "eider/compile.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace eider::testing {

constexpr double Inf = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

/// A tensor of f32, bf16 or f16 from values, rounded to the type.
inline HostTensor floats(const std::string &name, DType dtype, std::vector<int64_t> shape,
                         const std::vector<double> &values) {
  HostTensor tensor{name, dtype, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = interpreter::bitsOf(dtype, interpreter::roundTo(dtype, values[i]));
    std::memcpy(tensor.data.data() + i * sizeOf(dtype), &bits, sizeOf(dtype));
  }
  return tensor;
}

inline HostTensor codes(const std::string &name, DType dtype, std::vector<int64_t> shape,
                        const std::vector<int> &values) {
  HostTensor tensor{name, dtype, std::move(shape), {}};
  for (int value : values)
    tensor.data.push_back(static_cast<std::byte>(value));
  return tensor;
}

inline std::vector<double> valuesOf(const HostTensor &tensor) {
  std::vector<double> values(tensor.data.size() / sizeOf(tensor.dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, tensor.data.data() + i * sizeOf(tensor.dtype), sizeOf(tensor.dtype));
    values[i] = interpreter::valueOf(tensor.dtype, bits);
  }
  return values;
}

inline std::vector<int> codesOf(const HostTensor &tensor) {
  std::vector<int> values;
  for (std::byte code : tensor.data)
    values.push_back(static_cast<int>(code));
  return values;
}

inline const HostTensor &named(const std::vector<HostTensor> &tensors, const std::string &name) {
  for (const HostTensor &tensor : tensors)
    if (tensor.name == name)
      return tensor;
  throw Error(ErrorKind::Internal, "the test has no tensor '" + name + "'");
}

inline Program program(const std::string &body, const std::string &dims = "tokens, hidden") {
  return parseProgram("eider.program @p(" + dims + ") {\n" + body + "\n}", "test.mlir");
}

/// The message of the Error that `action` throws; empty if it throws none.
template <class Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    return error.what();
  }
  return "";
}

} // namespace eider::testing

#endif // EIDER_TESTS_INTERPRETER_SUPPORT_H
