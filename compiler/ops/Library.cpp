//===- Library.cpp - The registry of the op library -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Library.h"

#include "compiler/ops/Ops.h"

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
                            "numerics", "copy", "transposed"})
    fields.push_back(field);
  return fields;
}

/// `fields` of an op that has yt always.
std::vector<std::string> withoutTransposed(std::vector<std::string> fields) {
  std::erase(fields, "transposed");
  return fields;
}

/// The ops, in the order in which they are listed.
class Table {
public:
  std::vector<Entry> entries;

  void add(const std::string &name, const std::string &summary, std::vector<std::string> parameters,
           std::function<Program(const Parameters &)> make) {
    entries.push_back({{name, summary, std::move(parameters)}, std::move(make)});
  }

  /// `name_quant` and `name`. `before`: what else the op does.
  void addBoth(const std::string &name, const std::string &value,
               const std::function<Program(const Parameters &)> &make,
               const std::string &before = "") {
    add(name + "_quant", before + "y = quantize(" + value + ")", andQuantisation({"dtype"}), make);
    add(name, before + "y = " + value, {"dtype", "transposed"}, make);
  }

  /// An activation: plain, times the other half of x, and after a bias.
  void addActivation(const std::string &name, Activation f) {
    auto make = [f](Program (*op)(const Parameters &, Activation)) {
      return [op, f](const Parameters &p) { return op(p, f); };
    };
    addBoth(name, name + "(x)", make(ops::activated));
    addBoth(name + "_mul", name + "(first half of x) · second half", make(ops::activatedTimes));
    addBoth(name + "_bias", name + "(x + bias)", make(ops::activatedWithBias));
  }
};

Table makeTable() {
  Table table;
  table.add("quantize", "y = quantize(x)", andQuantisation({"dtype"}), ops::quantize);
  table.add("cast_transpose", "y = quantize(x); yt = quantize(transpose of x)",
            withoutTransposed(andQuantisation({"dtype"})), ops::castTranspose);
  table.add("dequantize", "y = codes of x · scales",
            {"dtype", "format", "block", "scale", "scaleLayout"}, ops::dequantize);
  table.add("requantize", "y = quantize(codes of x · scales)",
            andQuantisation({"fromFormat", "fromBlock", "fromScale", "fromScaleLayout"}),
            ops::requantize);
  table.addBoth("rms_norm", "rms_norm(x) · weight", ops::rmsNorm);
  table.addBoth("add_rms_norm", "rms_norm(residual) · weight", ops::addRmsNorm,
                "residual = x + residual; ");
  table.addBoth("layer_norm", "layer_norm(x) · weight + bias", ops::layerNorm);
  table.addBoth("add_layer_norm", "layer_norm(residual) · weight + bias", ops::addLayerNorm,
                "residual = x + residual; ");
  table.addBoth("softmax", "softmax(softmax_scale · x)", ops::softmax);
  table.addActivation("silu", silu);
  table.addActivation("gelu", gelu);
  table.addActivation("relu2", ops::relu2);
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
