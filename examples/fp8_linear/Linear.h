//===- examples/fp8_linear/Linear.h - A linear layer in FP8 -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EXAMPLES_FP8LINEAR_LINEAR_H
#define EIDER_EXAMPLES_FP8LINEAR_LINEAR_H

#include "bench/measure/Prepared.h"
#include "examples/fp8_linear/CublasLt.h"

#include "eider/dsl.h"
#include "eider/runtime.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fp8_linear {

using eider::bench::Launch;

/// Both, one after the other.
Launch after(const Launch &first, const Launch &then);

/// y [m, n] = x [m, k] · wᵀ, x and y in bf16, the weights w [n, k] in e4m3, with a scale a row
/// (`1x*`), or of 128x128 where x has one of 1x128. Rows are quantised, alone or with the norm
/// before, in the layout that cuBLASLt reads; up to 64 Eider multiplies, by codes or as they are.
class Linear {
public:
  static constexpr int64_t fewRows = 64;

  /// `block`: of x. Throws eider::Error (Request) for another, or a k that cuBLASLt cannot take.
  Linear(const eider::Device &device, const CublasLt &cublas, int64_t n, int64_t k,
         std::string block);

  /// Quantises w, bf16 [n, k] in device memory; waits until it is done.
  void setWeight(const void *w);

  /// y of x, whatever m is: few rows as they are, by one kernel.
  Launch forward(const void *x, void *y, int64_t m, Sums sums = Sums::f32);

  // What it does, part by part.
  Launch cast(const void *x, int64_t m);
  Launch normAndCast(const void *x, const void *weight, int64_t m);
  Launch product(void *y, int64_t m, Sums sums = Sums::f32); ///< Of what was cast.
  Launch skinny(const void *x, void *y, int64_t m);

  /// The largest error of samples of y, of x (or null: of what was cast) that was multiplied,
  /// beside their sum in double, over what rounding and sums of 13 bits allow: at most 1 if all is
  /// right.
  double errorOf(const void *x, const void *y, int64_t m) const;

private:
  /// Codes and scales of rows, which stay where they are.
  struct Codes {
    std::shared_ptr<void> codes, scales;
    size_t sizeOfScales = 0; ///< elements
  };
  Codes makeCodes(const eider::Kernel &kernel, int64_t rows) const;
  /// Codes of that block of `op`, with scales in that layout.
  static eider::Program programOf(const std::string &op, const std::string &block,
                                  const std::string &layout = "");
  Launch productOfFew(const Codes &codes, void *y, int64_t m);
  Launch castBy(const std::string &op, int64_t m, std::vector<eider::NamedTensor> tensors);

  eider::Device device;
  const CublasLt &cublas;
  int64_t n, k;
  std::string block, blockOfWeight;
  Codes weight;
  std::map<int64_t, Codes> casts; ///< By m.
};

} // namespace fp8_linear

#endif // EIDER_EXAMPLES_FP8LINEAR_LINEAR_H
