//===- scaled_matmul.cpp - y = x · wᵀ, both scaled ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::scaledMatmul(const Parameters &p) {
  Builder b(p.op);
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", p.format, {n, k}, p.block, p.scale, p.layout);
  Scaled x = b.scaled_input("x", p.fromFormat, {m, k}, p.fromBlock, p.fromScale);

  p.write(b, matmul(x, w));
  return b.build();
}
