//===- add_rms_norm_quant.cpp - y = quantize(rms_norm(x + residual)) ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::addRmsNormQuant(const Parameters &p) {
  Builder b("add_rms_norm_quant");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value residual = b.inout("residual", p.dtype, {tokens, hidden});
  Value weight = b.input("weight", p.dtype, {hidden});
  Value eps = b.scalar("eps", 1e-6f);

  Value h = (x + residual).named("h"); // f32: rounded only where it is stored
  b.store(residual, h);
  Value mean_square = mean(h * h, /*axis=*/-1).named("mean_square");
  Value n = (h * rsqrt(mean_square + eps) * weight).named("n");

  b.output("y", quantize(n, p.format, p.quantization(b, {tokens, hidden})));
  return b.build();
}
