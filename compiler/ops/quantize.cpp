//===- quantize.cpp - y = quantize(x) -------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::quantize(const Parameters &p) {
  Builder b("quantize");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  b.output("y", quantize(x, p.format, p.quantization(b, {tokens, hidden})));
  return b.build();
}
