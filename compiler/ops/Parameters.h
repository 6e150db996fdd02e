//===- Parameters.h - What an op of the library is asked for ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_PARAMETERS_H
#define EIDER_OPS_PARAMETERS_H

#include "eider/dsl.h"

namespace eider::ops {

/// The parameters of a library op, read and checked.
struct Parameters {
  DType dtype = bf16;
  DType format = e4m3;
  Block block = {1, 128};
  bool givenScales = false;
  std::string mode = "default";
  std::map<std::string, std::string> numerics;

  /// How to quantise a tensor of `shape`; given scales are declared as the input `scale`, one a
  /// block.
  QuantizeOptions quantization(Builder &b, const Shape &shape) const {
    QuantizeOptions options{.block = block, .mode = mode, .numerics = numerics};
    if (givenScales)
      options.scales = b.input("scale", f32, blocks_of(shape, block));
    return options;
  }
};

} // namespace eider::ops

#endif // EIDER_OPS_PARAMETERS_H
