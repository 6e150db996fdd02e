//===- rms_norm.cpp - y = rms_norm(x) -----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::rmsNorm(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value weight = b.input("weight", p.dtype, {hidden});
  Value eps = b.scalar("eps", 1e-6f);

  Value mean_square = mean(x * x, /*axis=*/-1).named("mean_square");
  Value n = (x * rsqrt(mean_square + eps) * weight).named("n");

  p.write(b, n);
  return b.build();
}
