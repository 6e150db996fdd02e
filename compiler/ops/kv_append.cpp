//===- kv_append.cpp - Keys and values of new tokens, into a paged cache ===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Rope.h"

using namespace eider;

Program ops::kvAppend(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), slots = b.dim("slots");
  Value k = b.input("k", p.dtype, {tokens, hidden}); // heads side by side
  Value v = b.input("v", p.dtype, {tokens, hidden});
  Value n = normalisedHeads(b, p, k);
  Value turned = Rope(b, p, tokens, hidden)(n).named("turned");
  Value slot = b.input("slot_mapping", p.index, {tokens}); // page · size + place; -1: not kept

  p.scatter(b, "k_cache", "k_scale", turned, slot, slots);
  p.scatter(b, "v_cache", "v_scale", v, slot, slots);
  return b.build();
}
