//===- silu_mul_quant.cpp - y = quantize(silu(gate) · up) -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::siluMulQuant(const Parameters &p) {
  Builder b("silu_mul_quant");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, 2 * hidden});

  Value gate = first_half(x).named("gate");
  Value up = second_half(x).named("up");
  Value activated = (silu(gate) * up).named("activated");

  b.output("y", quantize(activated, p.format, p.quantization(b, {tokens, hidden})));
  return b.build();
}
