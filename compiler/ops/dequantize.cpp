//===- dequantize.cpp - y = codes · scales ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::dequantize(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Scaled x = b.scaled_input("x", p.format, {tokens, hidden}, p.block, p.scale, p.layout);
  p.write(b, dequantize(x));
  return b.build();
}
