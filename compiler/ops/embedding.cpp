//===- embedding.cpp - Rows of a quantised table ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::embedding(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), vocabulary = b.dim("vocabulary");
  Value table = p.dequantised(b, "table", {vocabulary, hidden});
  Value ids = b.input("ids", p.index, {tokens}); // of no row of the table: a row of zeros

  p.write(b, gather(table, ids));
  return b.build();
}
