//===- softmax.cpp - y = softmax(scale · x) -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::softmax(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value softmax_scale = b.scalar("softmax_scale", 1);

  Value logits = (x * softmax_scale).named("logits");
  Value power = exp(logits - max_along(logits, /*axis=*/-1)).named("power"); // at most 1
  Value share = rcp(sum(power, /*axis=*/-1)).named("share"); // one division a row, not an element

  p.write(b, (power * share).named("probability"));
  return b.build();
}
