//===- Programs.cpp - A user's own programs -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/heldout/Programs.h"

#include <limits>

using namespace eider;

Program heldout::blend(DType type) {
  Builder b("blend");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", type, {tokens, hidden});
  Value w = b.input("w", type, {hidden});
  Value y = x * tanh(w) + log(1 + abs(x));
  b.output("y", quantize(y, e4m3, {.block = {1, 64}}));
  return b.build();
}

Program heldout::stretch(DType type, const Block &block) {
  Builder b("stretch");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", type, {tokens, hidden});
  Value least = b.scalar("least", 1e-3f);
  Value low = min_along(x, -1);
  Value spread = max(max_along(x, -1) - low, least).named("spread_of_row");
  b.output("spread", spread);
  b.output("y", quantize((x - low) / spread, e4m3, {.block = block}));
  return b.build();
}

Program heldout::gatedState(DType type) {
  Builder b("gated_state");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", type, {tokens, 2 * hidden});
  Value state = b.inout("state", type, {tokens, hidden});
  Value gate = sigmoid(first_half(x)).named("gate");
  Value next = gate * state + (1 - gate) * tanh(second_half(x));
  b.store(state, next);
  b.output("y", quantize(relu(next), e5m2, {.block = {1, 32}}));
  return b.build();
}

Program heldout::visible(DType type) {
  Builder b("visible");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", type, {tokens, hidden});
  Value logits = select(x < b.scalar("least", 0.0f), -std::numeric_limits<float>::infinity(), x);
  Value p = exp(logits - max_along(logits, -1));
  b.output("y", quantize(p / sum(p, -1), e4m3, {.block = {1, whole}}));
  return b.build();
}

std::vector<Program> heldout::programs() {
  std::vector<Program> all;
  for (DType type : {bf16, f32}) {
    all.push_back(blend(type));
    all.push_back(stretch(type, {1, whole}));
    all.push_back(stretch(type, {32, 32}));
    all.push_back(gatedState(type));
    all.push_back(visible(type));
  }
  return all;
}
