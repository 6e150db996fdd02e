//===- Trap.h - Small runs of library ops -----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_TRAPS_TRAP_H
#define EIDER_TESTS_TRAPS_TRAP_H

#include "tests/matrix/Reference.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace eider::traps {

inline HostTensor floats(const std::string &name, std::vector<int64_t> shape,
                         const std::vector<float> &values) {
  HostTensor tensor{name, f32, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeof(float));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

inline HostTensor codes(const std::string &name, DType format, std::vector<int64_t> shape,
                        const std::vector<uint8_t> &values) {
  HostTensor tensor{name, format, std::move(shape), {}};
  tensor.data.resize(values.size());
  std::memcpy(tensor.data.data(), values.data(), values.size());
  return tensor;
}

inline const HostTensor &named(const std::vector<HostTensor> &tensors, const std::string &name) {
  for (const HostTensor &tensor : tensors)
    if (tensor.name == name)
      return tensor;
  throw Error(ErrorKind::Internal, "no tensor '" + name + "'");
}

inline std::vector<float> floatsOf(const std::vector<HostTensor> &tensors,
                                   const std::string &name) {
  const HostTensor &tensor = named(tensors, name);
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

inline std::vector<uint8_t> codesOf(const std::vector<HostTensor> &tensors,
                                    const std::string &name) {
  const HostTensor &tensor = named(tensors, name);
  std::vector<uint8_t> values(tensor.data.size());
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

/// Runs a library op, whose first input is a matrix [tokens, hidden], and expects of every output
/// what the reference expects.
inline std::vector<HostTensor> run(const std::string &op, const OpParameters &parameters,
                                   std::vector<HostTensor> inputs,
                                   const std::string &codec = "auto", matrix::Layout layout = {},
                                   const std::map<std::string, float> &scalars = {}) {
  int64_t tokens = inputs[0].shape[0], hidden = inputs[0].shape[1] * packingOf(inputs[0].dtype);
  if (op == "silu_mul_quant")
    hidden /= 2;
  CompileOptions options;
  options.codec = codec;
  options.dims = {{"hidden", hidden}};
  matrix::Harness harness(matrix::testDevice());
  matrix::Case given{libraryOp(op, parameters),
                     options,
                     std::move(inputs),
                     {{"tokens", tokens}, {"hidden", hidden}},
                     layout,
                     scalars};
  size_t number = harness.add(given);
  harness.build();
  std::vector<HostTensor> outputs = harness.run(number);
  for (const Comparison &comparison :
       compare(given.program, given.inputs, outputs, {scalars.begin(), scalars.end()}))
    EXPECT_EQ(comparison.wrong, 0) << comparison.firstWrong;
  return outputs;
}

inline OpParameters parameters(const std::string &format, const std::string &block) {
  OpParameters parameters;
  parameters.dtype = "f32";
  parameters.format = format;
  parameters.block = block;
  return parameters;
}

/// y of quantize with the static scale 1: the codes of the values themselves.
inline std::vector<uint8_t> encoded(const std::string &format, const std::vector<float> &values,
                                    const std::string &codec) {
  OpParameters given = parameters(format, "*x*");
  given.scaleSource = "static";
  auto width = static_cast<int64_t>(values.size());
  return codesOf(run("quantize", given,
                     {floats("x", {1, width}, values), floats("scale", {1, 1}, {1})}, codec),
                 "y");
}

/// y of dequantize with scales of 1: the values of the codes.
inline std::vector<float> decoded(const std::string &format, const std::vector<uint8_t> &values,
                                  const std::string &codec) {
  auto width = static_cast<int64_t>(values.size());
  DType type = format == "e4m3" ? e4m3 : e5m2;
  return floatsOf(run("dequantize", parameters(format, "*x*"),
                      {codes("x", type, {1, width}, values), floats("x_scale", {1, 1}, {1})},
                      codec),
                  "y");
}

/// The codecs of the device. A GPU may lack the instructions of `hardware`.
inline std::vector<std::string> codecs() {
  if (matrix::testDevice() == "host")
    return {"hardware", "software"};
  return {"auto", "software"};
}

} // namespace eider::traps

#endif // EIDER_TESTS_TRAPS_TRAP_H
