//===- kv_append.cpp - Keys and values of new tokens, into a cache --------===//
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

  const CacheType type = {p.format, p.block, p.scale};
  auto append = [&](const std::string &name, const Value &rows) {
    const QuantizeOptions how =
        type.has_scales() ? p.quantization(b, rows.shape(), name + "_cache", name + "_scale")
                          : QuantizeOptions();
    b.append(name + "_cache", type, rows, slot, slots, how);
  };
  append("k", turned);
  append("v", v);
  return b.build();
}
