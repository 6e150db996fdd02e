//===- rms_norm_gemv.cpp - y = w · rms_norm(x) ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::rmsNormGemv(const Parameters &p) {
  Builder b(p.op);
  Dim n = b.dim("n"), k = b.dim("k");
  Scaled w = b.scaled_input("w", p.format, {n, k}, p.block, p.scale, p.layout);
  Value x = b.input("x", p.dtype, {k}), weight = b.input("weight", p.dtype, {k});
  Value eps = b.scalar("eps", 1e-6f);

  Value mean_square = mean(x * x, /*axis=*/-1).named("mean_square");
  Value h = x * rsqrt(mean_square + eps) * weight;
  p.write(b,
          dot(w, p.dtype == f32 ? h : round_to(h, p.dtype))); // as a kernel before would store it
  return b.build();
}
