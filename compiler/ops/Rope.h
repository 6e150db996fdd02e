//===- Rope.h - Rotary embeddings -------------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_ROPE_H
#define EIDER_OPS_ROPE_H

#include "compiler/ops/Ops.h"

namespace eider::ops {

/// Turns heads, which lie side by side in a row, by the angles of their token's position: element i
/// of a head's first half with element i of its second, or neighbours where they are interleaved.
class Rope {
public:
  Rope(Builder &b, const Parameters &p, const Dim &tokens, const Dim &hidden)
      : over(p.settings.at("interleaved") ? 2 : p.settings.at("head")) {
    Dim positions = b.dim("max_position");
    const int64_t angles = p.settings.at("head") / 2, each = p.settings.at("interleaved") ? 2 : 1;
    Value cosines = b.input("cos", p.dtype, {positions, angles});
    Value sines = b.input("sin", p.dtype, {positions, angles});
    Value position = b.input("positions", p.index, {tokens});
    cosine = repeat(gather(cosines, position), hidden, each);
    sine = repeat(gather(sines, position), hidden, each);
  }

  Value operator()(const Value &x) const { return fma(x, cosine, rotate_halves(x, over) * sine); }

private:
  int64_t over;
  Value cosine, sine;
};

/// The rms_norm of each head of x by itself, with one weight for all.
inline Value normalisedHeads(Builder &b, const Parameters &p, const Value &x) {
  const int64_t head = p.settings.at("head");
  Value weight = b.input("weight", p.dtype, {head});
  Value eps = b.scalar("eps", 1e-6f);
  Value mean_square = mean(x * x, {1, head}).named("mean_square");
  return (x * rsqrt(mean_square + eps) * repeat(weight, x.shape().back())).named("n");
}

} // namespace eider::ops

#endif // EIDER_OPS_ROPE_H
