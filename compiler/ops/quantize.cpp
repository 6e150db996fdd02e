//===- quantize.cpp - y = quantize(x), and of the transpose -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::quantize(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  p.write(b, b.input("x", p.dtype, {tokens, hidden}));
  return b.build();
}

Program ops::castTranspose(const Parameters &p) {
  Parameters both = p;
  both.transposes = true;
  return quantize(both);
}
