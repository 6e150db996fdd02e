//===- softmax.cpp - y = softmax(scale · x) -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

#include <limits>

using namespace eider;

Program ops::softmax(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value softmax_scale = b.scalar("softmax_scale", 1);

  // The last row sees all columns. What is behind the mask is replaced, so that no NaN leaks.
  const bool isCausal = p.settings.at("causal");
  // Powers of two, one instruction each: the scale brings the factor. Their exponents are rounded
  // once, the largest's alone twice.
  constexpr double log2e = 1.44269504088896340736;
  Value slope = (softmax_scale * log2e).named("slope");
  auto masked = [&](const Value &value, float behind) {
    if (!isCausal)
      return value;
    Value last = position(x, 0) + (b.extent(hidden) - b.extent(tokens));
    return select(position(x, 1) > last, behind, value);
  };
  Value logits = masked(x * slope, std::numeric_limits<float>::lowest()).named("logits");
  Value power = masked(exp2(fma(x, slope, -max_along(logits, /*axis=*/-1))), 0).named("power");
  Value total = sum(power, /*axis=*/-1);
  Value share = rcp(total); // one division a row, not an element
  if (isCausal)
    share = select(total == 0, 0, share); // of a row that sees nothing
  p.write(b, (power * share.named("share")).named("probability"));
  return b.build();
}
