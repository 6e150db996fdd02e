//===- attention_prefill.cpp - o = softmax(q · kᵀ / √d) · v ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Ops.h"

using namespace eider;

Program ops::attentionPrefill(const Parameters &p) {
  Builder b(p.op);
  Dim tokens = b.dim("s"), heads = b.dim("h"), d = b.dim("d"), kv_heads = b.dim("kv_heads");

  Sequence sequence;                                       // or several
  sequence.value_columns = p.settings.at("value_columns"); // of latents: of the one tensor there is
  const int64_t valueDim = p.settings.at("value_dim");     // of values of their own, where not d
  const bool isLatent = sequence.value_columns != 0;
  if (isLatent && valueDim != 0)
    throw Error(ErrorKind::Request, "values are columns of the keys, and of another length", p.op,
                "leave --set value_columns or --set value_dim out");
  const std::string keys = isLatent ? "kv" : "k";
  const bool areFloats = p.settings.at("float_queries");
  const DType format = p.quantises ? p.fromFormat : p.format;
  sequence.queries = areFloats ? b.input("q", p.dtype, {tokens, heads, d})
                               : b.codes("q", format, {tokens, heads, d});
  sequence.keys = b.codes(keys, format, {tokens, kv_heads, d});
  if (valueDim != 0)
    sequence.values = b.codes("v", format, {tokens, kv_heads, valueDim});
  else if (!isLatent)
    sequence.values = b.codes("v", format, {tokens, kv_heads, d});
  if (p.settings.at("scaled")) {
    Dim scales = b.dim("scales"); // 1, or one a head of keys
    if (!areFloats)
      sequence.query_scale = b.input("q_scale", f32, {scales});
    sequence.key_scale = b.input(keys + "_scale", f32, {scales});
    if (!isLatent)
      sequence.value_scale = b.input("v_scale", f32, {scales});
  }
  if (p.settings.at("varlen"))
    sequence.starts = b.input("cu_seqlens", DType::i32, {b.dim("starts")}); // and the last's end

  const PrefillOptions options = {.causal = p.settings.at("causal") != 0,
                                  .score = attentionScore(b, p, heads)};
  const Value o = attention(sequence, options);
  if (p.quantises)
    p.write(b, o);
  else
    b.output("o", o, p.dtype);
  return b.build();
}
