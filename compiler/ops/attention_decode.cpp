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
  Dim max_pages = b.dim("max_pages");

  Value q = b.input("q", p.dtype, {sequences, heads, d});
  PagedCache cache;
  const Shape ofCache = {pages, page, kv_heads, d};
  cache.value_columns = p.settings.at("value_columns"); // of latents: of the one cache there is
  const bool isLatent = cache.value_columns != 0;
  const std::string keys = isLatent ? "kv" : "k";
  const DType format = p.quantises ? p.fromFormat : p.format;
  if (format == bf16 || format == f16) {
    if (p.settings.at("scale_axes"))
      throw Error(ErrorKind::Request, "a cache that is no codes has no scales", p.op,
                  "leave --set scale_axes out");
    cache.keys = b.input(keys + "_cache", format, ofCache);
    if (!isLatent)
      cache.values = b.input("v_cache", format, ofCache);
  } else {
    cache.keys = b.codes(keys + "_cache", format, ofCache);
    if (!isLatent)
      cache.values = b.codes("v_cache", format, ofCache);
    const Dim axes[] = {pages, page}; // of scales, as many as are asked for
    const int64_t asked = p.settings.at("scale_axes");
    Shape ofScales(axes, axes + std::min<int64_t>(asked, 2));
    ofScales.push_back(b.dim("scales")); // 1, or one a head
    if (asked == 3)
      ofScales.push_back(b.dim("blocks")); // of a head
    cache.key_scale = b.input(keys + "_scale", f32, ofScales);
    if (!isLatent)
      cache.value_scale = b.input("v_scale", f32, ofScales);
  }
  cache.block_table = b.input("block_table", DType::i32, {sequences, max_pages});
  cache.lengths = b.input("lengths", DType::i32, {sequences});

  const AttentionOptions options = {.window = p.settings.at("window"),
                                    .score = attentionScore(b, p, heads)};
  const Value o = attention(q, cache, options);
  if (p.quantises)
    p.write(b, o);
  else
    b.output("o", o, p.dtype);
  return b.build();
}
