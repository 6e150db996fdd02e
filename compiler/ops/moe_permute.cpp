//===- moe_permute.cpp - Rows of tokens, in the order of their experts --===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::moePermute(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), sources = b.dim("sources");
  Value x = b.input("x", p.dtype, {sources, hidden});
  Value source = b.input("source", p.index, {tokens}); // -1 pads: a row of zeros

  p.write(b, gather(x, source));
  return b.build();
}
