//===- Ops.h - The ops of the library ---------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_OPS_H
#define EIDER_OPS_OPS_H

#include "compiler/ops/Parameters.h"

namespace eider::ops {

// Each writes y as its parameters say: quantised, or in `dtype`.
Program quantize(const Parameters &p);
Program castTranspose(const Parameters &p);
Program dequantize(const Parameters &p);
Program requantize(const Parameters &p);
Program rmsNorm(const Parameters &p);
Program addRmsNorm(const Parameters &p);
Program layerNorm(const Parameters &p);
Program addLayerNorm(const Parameters &p);
Program softmax(const Parameters &p);
Program embedding(const Parameters &p);
Program moePermute(const Parameters &p);
Program moeUnpermute(const Parameters &p);
Program rope(const Parameters &p);
Program normRope(const Parameters &p);
Program kvAppend(const Parameters &p);
Program gemv(const Parameters &p);
Program rmsNormGemv(const Parameters &p);
Program matmulSkinny(const Parameters &p);
Program scaledMatmul(const Parameters &p);
Program groupedMatmul(const Parameters &p);
Program groupedScaledMatmul(const Parameters &p);
Program batchedMatmul(const Parameters &p);
Program attentionDecode(const Parameters &p);
Program attentionPrefill(const Parameters &p);
Program copy(const Parameters &p);
Program scale(const Parameters &p);
Program add(const Parameters &p);
Program triad(const Parameters &p);

/// What attention's settings make of scores: `softcap` first (0: none), cap · tanh(score / cap);
/// then with `alibi` a head's slope times the distance less, of an input `slopes`, which this
/// declares.
ScoreFunction attentionScore(Builder &b, const Parameters &p, const Dim &heads);

/// What an activation does to each element.
using Activation = Value (*)(const Operand &);
Value relu2(const Operand &x); ///< max(x, 0)²

Program activated(const Parameters &p, Activation f);         ///< f(x)
Program activatedTimes(const Parameters &p, Activation f);    ///< f(first half of x) · second half
Program activatedWithBias(const Parameters &p, Activation f); ///< f(x + bias)
/// f(first half of x + bias) · second half of x + bias
Program activatedTimesWithBias(const Parameters &p, Activation f);

} // namespace eider::ops

#endif // EIDER_OPS_OPS_H
