//===- rope.cpp - y = rope(x), of normalised heads or of x as it is -----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Rope.h"

using namespace eider;

Program ops::rope(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  p.write(b, Rope(b, p, tokens, hidden)(x).named("turned"));
  return b.build();
}

Program ops::normRope(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value n = normalisedHeads(b, p, x);
  p.write(b, Rope(b, p, tokens, hidden)(n).named("turned"));
  return b.build();
}
