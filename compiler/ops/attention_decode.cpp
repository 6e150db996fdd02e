//===- attention_decode.cpp - o = softmax(q · kᵀ / √d) · v ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::attentionDecode(const Parameters &p) {
  Builder b(p.op);
  Dim sequences = b.dim("b"), heads = b.dim("h"), d = b.dim("d");
  Dim pages = b.dim("pages"), page = b.dim("page"), kv_heads = b.dim("kv_heads");
  Dim max_pages = b.dim("max_pages"), scales = b.dim("scales"); // 1, or one a head

  Value q = b.input("q", p.dtype, {sequences, heads, d});
  PagedCache cache;
  cache.keys = b.codes("k_cache", p.format, {pages, page, kv_heads, d});
  cache.values = b.codes("v_cache", p.format, {pages, page, kv_heads, d});
  cache.key_scale = b.input("k_scale", f32, {scales});
  cache.value_scale = b.input("v_scale", f32, {scales});
  cache.block_table = b.input("block_table", DType::i32, {sequences, max_pages});
  cache.lengths = b.input("lengths", DType::i32, {sequences});

  const AttentionOptions options = {.window = p.settings.at("window"),
                                    .score = attentionScore(b, p, heads)};
  b.output("o", attention(q, cache, options), p.dtype);
  return b.build();
}
