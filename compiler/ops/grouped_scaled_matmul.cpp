//===- grouped_scaled_matmul.cpp - Groups of rows, x scaled as w is -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::groupedScaledMatmul(const Parameters &p) {
  Builder b(p.op);
  Dim groups = b.dim("groups"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Block block = p.block;
  block.insert(block.begin(), 1); // of one group
  Scaled w = b.scaled_input("w", p.format, {groups, n, k}, block, p.scale, p.layout);
  Scaled x = b.scaled_input("x", p.fromFormat, {m, k}, p.fromBlock, p.fromScale);
  Value ends = b.input("ends", p.index, {groups});

  p.write(b, matmul(x, w, ends));
  return b.build();
}
