//===- tests/unit/runtime/Samples.h - Kernels written by hand ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_RUNTIME_SAMPLES_H
#define EIDER_TESTS_UNIT_RUNTIME_SAMPLES_H

#include "eider/runtime.h"
#include "runtime/contract/Contract.h"

#include <string>

namespace eider {

/// The text of `scale`: y = factor * x, one block a row, and `mark` in the first element of every
/// row of `which`, so that a test sees which variant ran.
inline std::string scaleSource(const std::string &mark) {
  return R"(#include "eider/arch/arch.h"
#include "eider/types.cuh"

using namespace eider;

extern "C" __global__ void scale(const float *x, float *y, float *which, float factor, int64 x_stride,
                                 int64 y_stride, int64 hidden) {
  const int64 row = eider::arch::block_index();
  for (int64 column = eider::arch::thread_index(); column < hidden; column += 32)
    y[row * y_stride + column] = factor * x[row * x_stride + column];
  if (eider::arch::thread_index() == 0)
    which[row] = )" +
         mark + "f;\n}\n";
}

/// Variants: `vector` for aligned, contiguous rows of a multiple of 4; `contiguous`; `general`.
/// Tensors x and y [tokens, hidden], which [tokens], f32.
inline contract::Contract scaleContract(const std::string &target = "host") {
  using namespace contract;
  using Kind = Predicate::Kind;
  Contract contract;
  contract.name = "scale";
  contract.target = target;
  contract.dims = {{"tokens", std::nullopt}, {"hidden", std::nullopt}};
  contract.tensors = {{"x", Role::Input, DType::f32, {"tokens", "hidden"}},
                      {"y", Role::Output, DType::f32, {"tokens", "hidden"}},
                      {"which", Role::Output, DType::f32, {"tokens"}}};
  contract.scalars = {{"factor", DType::f32, 2.0}};
  Launch launch;
  launch.entry = "scale";
  launch.block = 32;
  launch.grid = "tokens";
  using Of = Parameter::Kind;
  for (unsigned i = 0; i < 3; ++i)
    launch.parameters.push_back({Of::Tensor, i, 0, "", ""});
  launch.parameters.push_back({Of::Scalar, 0, 0, "", ""});
  launch.parameters.push_back({Of::Stride, 0, 0, "", ""});
  launch.parameters.push_back({Of::Stride, 1, 0, "", ""});
  launch.parameters.push_back({Of::Dim, 0, 0, "", "hidden"});
  auto onTensor = [](Kind kind, unsigned tensor, int64_t bytes = 0) {
    Predicate predicate;
    predicate.kind = kind;
    predicate.tensor = tensor;
    predicate.bytes = bytes;
    return predicate;
  };
  Predicate multiple;
  multiple.kind = Kind::Multiple;
  multiple.dim = "hidden";
  multiple.of = 4;
  contract.variants = {{"vector",
                        {onTensor(Kind::Aligned, 0, 16), onTensor(Kind::Aligned, 1, 16),
                         onTensor(Kind::Contiguous, 0), onTensor(Kind::Contiguous, 1), multiple},
                        scaleSource("1.0"),
                        {launch}},
                       {"contiguous",
                        {onTensor(Kind::Contiguous, 0), onTensor(Kind::Contiguous, 1)},
                        scaleSource("2.0"),
                        {launch}},
                       {"general",
                        {onTensor(Kind::UnitStride, 0), onTensor(Kind::UnitStride, 1)},
                        scaleSource("3.0"),
                        {launch}}};
  return contract;
}

inline Executable scaleExecutable(const std::string &target = "host") {
  return {"scale", contract::write(scaleContract(target))};
}

} // namespace eider

#endif // EIDER_TESTS_UNIT_RUNTIME_SAMPLES_H
