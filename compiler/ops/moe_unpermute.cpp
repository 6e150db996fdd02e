//===- moe_unpermute.cpp - A token's rows from its experts, weighted ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::moeUnpermute(const Parameters &p) {
  Builder b(p.op);
  const int64_t experts = p.settings.at("top_k");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), permuted = b.dim("permuted");
  Value x = p.dequantised(b, "x", {permuted, hidden});
  Value index = b.input("index", p.index, {tokens, experts}); // -1: a row of zeros
  Value weight = b.input("weight", f32, {tokens, experts});

  Value total;
  for (int64_t k = 0; k < experts; ++k) {
    Value part = column(weight, k) * gather(x, column(index, k));
    total = k ? total + part : part;
  }
  p.write(b, total.named("total"));
  return b.build();
}
