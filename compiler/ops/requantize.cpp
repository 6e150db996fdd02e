//===- requantize.cpp - y = quantize(codes · scales) --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::requantize(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Scaled x =
      b.scaled_input("x", p.fromFormat, {tokens, hidden}, p.fromBlock, p.fromScale, p.fromLayout);
  p.write(b, dequantize(x).named("value"));
  return b.build();
}
