//===- attention_score.cpp - Soft caps and linear biases of scores --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

ScoreFunction ops::attentionScore(Builder &b, const Parameters &p, const Dim &heads) {
  const auto cap = static_cast<double>(p.settings.at("softcap"));
  std::optional<Value> slopes;
  if (p.settings.at("alibi"))
    slopes = b.input("slopes", f32, {heads});
  if (cap == 0 && !slopes)
    return nullptr;
  return [=](const Score &s) {
    Value score = s.value;
    if (cap != 0)
      score = cap * tanh(score * (1 / cap));
    if (slopes)
      score = score - s.of_head(*slopes) * (s.query - s.key);
    return score;
  };
}
