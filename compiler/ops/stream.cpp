//===- stream.cpp - copy, scale, add and triad, as STREAM has them ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::copy(const Parameters &p) {
  Builder b(p.op);
  Value x = b.input("x", p.dtype, {b.dim("tokens"), b.dim("hidden")});
  p.write(b, x);
  return b.build();
}

Program ops::scale(const Parameters &p) {
  Builder b(p.op);
  Value x = b.input("x", p.dtype, {b.dim("tokens"), b.dim("hidden")});
  p.write(b, b.scalar("alpha", 3) * x);
  return b.build();
}

Program ops::add(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value z = b.input("z", p.dtype, {tokens, hidden});
  p.write(b, x + z);
  return b.build();
}

Program ops::triad(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", p.dtype, {tokens, hidden});
  Value z = b.input("z", p.dtype, {tokens, hidden});
  p.write(b, x + b.scalar("alpha", 3) * z);
  return b.build();
}
