//===- Library.cpp - The registry of the op library -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Library.h"

#include "compiler/ops/Ops.h"

#include <algorithm>
#include <functional>

using namespace eider;
using namespace eider::ops;

namespace {
struct Entry {
  OpInfo info;
  std::function<Program(const Parameters &)> make;
};

/// `fields`, and those of OpParameters that say how y is quantised.
std::vector<std::string> andQuantisation(std::vector<std::string> fields) {
  for (const char *field : {"format", "block", "scale", "scaleLayout", "scaleSource", "mode",
                            "numerics", "copy", "amax"})
    fields.push_back(field);
  return fields;
}

/// `fields`, and that of an op that has yt where it is asked for.
std::vector<std::string> andTransposed(std::vector<std::string> fields) {
  fields.push_back("transposed");
  return fields;
}

/// The ops, in the order in which they are listed.
class Table {
public:
  std::vector<Entry> entries;

  void add(const std::string &name, const std::string &summary, std::vector<std::string> parameters,
           std::function<Program(const Parameters &)> make, std::vector<OpSetting> settings = {}) {
    entries.push_back(
        {{name, summary, std::move(parameters), std::move(settings)}, std::move(make)});
  }

  /// `name_quant` and `name`. `before`: what else the op does.
  void addBoth(const std::string &name, const std::string &value,
               const std::function<Program(const Parameters &)> &make,
               const std::string &before = "", const std::vector<OpSetting> &settings = {}) {
    add(name + "_quant", before + "y = quantize(" + value + ")",
        andTransposed(andQuantisation({"dtype"})), make, settings);
    add(name, before + "y = " + value, andTransposed({"dtype"}), make, settings);
  }

  /// An activation: plain, times the other half of x, and each after a bias.
  void addActivation(const std::string &name, Activation f) {
    auto make = [f](Program (*op)(const Parameters &, Activation)) {
      return [op, f](const Parameters &p) { return op(p, f); };
    };
    addBoth(name, name + "(x)", make(ops::activated));
    addBoth(name + "_mul", name + "(first half of x) · second half", make(ops::activatedTimes));
    addBoth(name + "_bias", name + "(x + bias)", make(ops::activatedWithBias));
    addBoth(name + "_mul_bias", name + "(first half of x + bias) · second half of x + bias",
            make(ops::activatedTimesWithBias));
  }
};

/// Ops that an index chooses rows for.
void addIndexed(Table &table) {
  const std::vector<OpSetting> heads = {{"head", 128, 2, 512}, {"interleaved", 0, 0, 1}};
  auto addBoth = [&](const std::string &name, const std::string &value,
                     Program (*make)(const Parameters &), std::vector<OpSetting> settings) {
    table.add(name + "_quant", "y = quantize(" + value + ")", andQuantisation({"dtype", "index"}),
              make, settings);
    table.add(name, "y = " + value, {"dtype", "index"}, make, settings);
  };
  table.add("embedding", "y = rows ids of the dequantised table",
            {"dtype", "format", "block", "scale", "index"}, ops::embedding);
  table.entries.back().info.takesFloats = true;
  addBoth("moe_permute", "rows source of x, zeros for -1", ops::moePermute, {});
  table.add("moe_unpermute", "y = sum of weight[k] · dequantised row index[k] of x",
            {"dtype", "format", "block", "scale", "index"}, ops::moeUnpermute,
            {{"top_k", 2, 1, 8}});
  table.entries.back().info.takesFloats = true;
  addBoth("rope", "rope(x)", ops::rope, heads);
  addBoth("norm_rope", "rope(rms_norm of each head of x · weight)", ops::normRope, heads);
  std::vector<std::string> cached = andQuantisation({"dtype", "index"});
  // y has no copy or amax, and its scales go with rows
  for (const char *other : {"copy", "amax", "scaleLayout"})
    cached.erase(std::ranges::find(cached, other));
  table.add("kv_append",
            "k_cache[slot_mapping] = quantize(rope(rms_norm of each head of k · weight)); "
            "v_cache[slot_mapping] = quantize(v); or rounded",
            cached, ops::kvAppend, heads);
  table.entries.back().info.takesFloats = true;
}

Table makeTable() {
  Table table;
  table.add("quantize", "y = quantize(x)", andTransposed(andQuantisation({"dtype"})),
            ops::quantize);
  table.add("cast_transpose", "y = quantize(x); yt = quantize(transpose of x)",
            andQuantisation({"dtype"}), ops::castTranspose);
  table.add("dequantize", "y = codes of x · scales",
            {"dtype", "format", "block", "scale", "scaleLayout"}, ops::dequantize);
  table.add(
      "requantize", "y = quantize(codes of x · scales)",
      andTransposed(andQuantisation({"fromFormat", "fromBlock", "fromScale", "fromScaleLayout"})),
      ops::requantize);
  table.addBoth("rms_norm", "rms_norm(x) · weight", ops::rmsNorm);
  table.addBoth("add_rms_norm", "rms_norm(residual) · weight", ops::addRmsNorm,
                "residual = x + residual; ");
  table.addBoth("layer_norm", "layer_norm(x) · weight + bias", ops::layerNorm);
  table.addBoth("add_layer_norm", "layer_norm(residual) · weight + bias", ops::addLayerNorm,
                "residual = x + residual; ");
  table.addBoth("softmax", "softmax(softmax_scale · x)", ops::softmax, "", {{"causal", 0, 0, 1}});
  table.addActivation("silu", silu);
  table.addActivation("gelu", gelu);
  table.addActivation("relu2", ops::relu2);
  addIndexed(table);
  table.add("gemv", "y = dequantised w · x", {"dtype", "format", "block", "scale", "scaleLayout"},
            ops::gemv);
  table.add("rms_norm_gemv", "y = dequantised w · (rms_norm(x) · weight)",
            {"dtype", "format", "block", "scale", "scaleLayout"}, ops::rmsNormGemv);
  table.add("matmul_skinny", "y = x · transpose of dequantised w",
            {"dtype", "format", "block", "scale"}, ops::matmulSkinny);
  table.add("scaled_matmul", "y = dequantised x · transpose of dequantised w",
            {"dtype", "fromFormat", "fromBlock", "fromScale", "format", "block", "scale"},
            ops::scaledMatmul);
  table.add("grouped_matmul",
            "y = x · transpose of dequantised w[g], of rows ends[g - 1] to ends[g]",
            {"dtype", "format", "block", "scale", "index"}, ops::groupedMatmul);
  table.add("grouped_scaled_matmul",
            "y = dequantised x · transpose of dequantised w[g], of rows ends[g - 1] to ends[g]",
            {"dtype", "fromFormat", "fromBlock", "fromScale", "format", "block", "scale", "index"},
            ops::groupedScaledMatmul);
  table.add("batched_matmul", "y = x · transpose of dequantised w[b], of as many rows each",
            {"dtype", "format", "block", "scale"}, ops::batchedMatmul);
  const OpSetting softcap = {"softcap", 0, 0, INT32_MAX}, alibi = {"alibi", 0, 0, 1};
  const std::vector<OpSetting> ofCache = {{"window", 0, 0, INT32_MAX},
                                          {"scale_axes", 0, 0, 3},
                                          {"value_columns", 0, 0, 512},
                                          {"contiguous", 0, 0, 1},
                                          softcap,
                                          alibi};
  const std::string attended = "softmax(q · transpose of k / sqrt(d)) · v";
  table.add("attention_decode_quant", "y = quantize(" + attended + "), over a cache",
            andQuantisation({"dtype", "fromFormat"}), ops::attentionDecode, ofCache);
  table.entries.back().info.takesFloats = true;
  table.add("attention_decode", "o = " + attended + ", over a cache", {"dtype", "format"},
            ops::attentionDecode, ofCache);
  table.entries.back().info.takesFloats = true;
  const std::vector<OpSetting> ofSequences = {{"causal", 0, 0, 1},
                                              {"scaled", 1, 0, 1},
                                              {"float_queries", 0, 0, 1},
                                              {"varlen", 0, 0, 1},
                                              {"value_columns", 0, 0, 512},
                                              {"value_dim", 0, 0, 512},
                                              softcap,
                                              alibi};
  table.add("attention_prefill_quant", "y = quantize(" + attended + "), of one sequence or several",
            andQuantisation({"dtype", "fromFormat"}), ops::attentionPrefill, ofSequences);
  table.add("attention_prefill", "o = " + attended + ", of one sequence or several",
            {"dtype", "format"}, ops::attentionPrefill, ofSequences);
  table.add("copy", "y = x", {"dtype"}, ops::copy);
  table.add("scale", "y = alpha · x", {"dtype"}, ops::scale);
  table.add("add", "y = x + z", {"dtype"}, ops::add);
  table.add("triad", "y = x + alpha · z", {"dtype"}, ops::triad);
  return table;
}

const std::vector<Entry> &entries() {
  static const Table table = makeTable();
  return table.entries;
}
} // namespace

const std::vector<OpInfo> &eider::libraryOps() {
  static const std::vector<OpInfo> infos = [] {
    std::vector<OpInfo> infos;
    for (const Entry &entry : entries())
      infos.push_back(entry.info);
    return infos;
  }();
  return infos;
}

Program eider::libraryOp(const std::string &name, const OpParameters &parameters) {
  std::string names;
  for (const Entry &entry : entries()) {
    if (entry.info.name == name)
      return entry.make(readParameters(entry.info, parameters));
    names += (names.empty() ? "" : ", ") + entry.info.name;
  }
  throw Error(ErrorKind::Request, "no op '" + name + "'", "",
              "give one of " + names + ", or a file of the eider dialect (FILE.mlir)");
}
