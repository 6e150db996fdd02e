//===- matmul_skinny.cpp - y = x · wᵀ -------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::matmulSkinny(const Parameters &p) {
  Builder b(p.op);
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", p.format, {n, k}, p.block, p.scale, p.layout);
  Value x = b.input("x", p.dtype, {m, k});

  p.write(b, matmul(x, w));
  return b.build();
}
