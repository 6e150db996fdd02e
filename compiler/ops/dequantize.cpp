//===- dequantize.cpp - y = codes · scales --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::dequantize(const Parameters &p) {
  Builder b("dequantize");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Scaled x = b.scaled_input("x", p.format, {tokens, hidden}, p.block);
  b.output("y", dequantize(x), p.dtype);
  return b.build();
}
