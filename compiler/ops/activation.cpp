//===- activation.cpp - y = f(x), f(gate) · up, with a bias or none -----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;
using ops::Activation;

Value ops::relu2(const Operand &x) {
  Value positive = relu(x);
  return positive * positive;
}

Program ops::activated(const Parameters &p, Activation f) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});

  p.write(b, f(x).named("activated"));
  return b.build();
}

Program ops::activatedTimes(const Parameters &p, Activation f) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, 2 * hidden});

  Value gate = first_half(x).named("gate");
  Value up = second_half(x).named("up");
  p.write(b, (f(gate) * up).named("activated"));
  return b.build();
}

Program ops::activatedWithBias(const Parameters &p, Activation f) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value bias = b.input("bias", p.dtype, {hidden});

  Value biased = (x + bias).named("biased");
  p.write(b, f(biased).named("activated"));
  return b.build();
}

Program ops::activatedTimesWithBias(const Parameters &p, Activation f) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, 2 * hidden});
  Value bias = b.input("bias", p.dtype, {2 * hidden});

  Value gate = (first_half(x) + first_half(bias)).named("gate");
  Value up = (second_half(x) + second_half(bias)).named("up");
  p.write(b, (f(gate) * up).named("activated"));
  return b.build();
}
