//===- layer_norm.cpp - y = layer_norm(x), layer_norm(x + residual) -----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

/// (h − mean) / √(variance + eps) · weight + bias along the row; the population's variance, of the
/// centred values, so that a large mean costs no digits.
static Value normalised(Builder &b, const ops::Parameters &p, const Value &h) {
  const Dim hidden = h.shape().back();
  Value weight = b.input("weight", p.dtype, {hidden});
  Value bias = b.input("bias", p.dtype, {hidden});
  Value eps = b.scalar("eps", 1e-6f);

  Value centred = (h - mean(h, /*axis=*/-1).named("mean")).named("centred");
  Value variance = mean(centred * centred, /*axis=*/-1).named("variance");
  return (centred * rsqrt(variance + eps) * weight + bias).named("n");
}

Program ops::layerNorm(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});

  p.write(b, normalised(b, p, x));
  return b.build();
}

Program ops::addLayerNorm(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value residual = b.inout("residual", p.dtype, {tokens, hidden});

  Value h = (x + residual).named("h");
  b.store(residual, h);
  p.write(b, normalised(b, p, h));
  return b.build();
}
