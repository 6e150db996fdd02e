//===- gemv.cpp - y = w · x ----------------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::gemv(const Parameters &p) {
  Builder b(p.op);
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", p.format, {n, k}, p.block, p.scale, p.layout);
  Value x = b.input("x", p.dtype, {k});

  p.write(b, dot(w, x));
  return b.build();
}
