//===- attention_decode.cpp - o = softmax(q · kᵀ / √d) · v ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::attentionDecode(const Parameters &p) {
  Builder b(p.op);
  const bool isPaged = !p.settings.at("contiguous");
  Dim sequences = b.dim("b"), heads = b.dim("h"), d = b.dim("d");
  Dim pages = isPaged ? b.dim("pages") : sequences, page = b.dim(isPaged ? "page" : "max_tokens");
  Dim kv_heads = b.dim("kv_heads");
  std::optional<Dim> max_pages;
  if (isPaged)
    max_pages = b.dim("max_pages");

  Value q = b.input("q", p.dtype, {sequences, heads, d});
  const CacheType type = {.format = p.quantises ? p.fromFormat : p.format};
  const int64_t asked = p.settings.at("scale_axes");
  Shape ofScales;
  if (type.has_scales()) {
    const Dim axes[] = {pages, page};
    ofScales.assign(axes, axes + std::min<int64_t>(asked, 2));
    ofScales.push_back(b.dim("scales")); // 1, or one a head
    if (asked == 3)
      ofScales.push_back(b.dim("blocks")); // of a head
  } else if (asked) {
    throw Error(ErrorKind::Request, "a cache that is no codes has no scales", p.op,
                "leave --set scale_axes out");
  }
  const int64_t latents = p.settings.at("value_columns"); // of the one cache that there is then
  KVCache cache =
      b.cache(type, {pages, page, kv_heads, d}, ofScales,
              latents ? std::vector<std::string>{"kv"} : std::vector<std::string>{"k", "v"});
  cache.value_columns = latents;
  if (max_pages)
    cache.block_table = b.input("block_table", DType::i32, {sequences, *max_pages});
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
