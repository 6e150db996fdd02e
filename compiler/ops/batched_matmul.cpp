//===- batched_matmul.cpp - y = x · wᵀ, as many rows by each w ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::batchedMatmul(const Parameters &p) {
  Builder b(p.op);
  Dim batches = b.dim("batches"), m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Block block = p.block;
  block.insert(block.begin(), 1); // of one batch
  Scaled w = b.scaled_input("w", p.format, {batches, n, k}, block, p.scale, p.layout);
  Value x = b.input("x", p.dtype, {m, k}); // [batches, m / batches, k]

  p.write(b, batched_matmul(x, w));
  return b.build();
}
