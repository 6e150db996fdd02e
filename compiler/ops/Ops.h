//===- Ops.h - The ops of the library ---------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_OPS_H
#define EIDER_OPS_OPS_H

#include "compiler/ops/Parameters.h"

namespace eider::ops {

Program quantize(const Parameters &p);
Program dequantize(const Parameters &p);
Program rmsNormQuant(const Parameters &p);
Program addRmsNormQuant(const Parameters &p);
Program siluMulQuant(const Parameters &p);

} // namespace eider::ops

#endif // EIDER_OPS_OPS_H
