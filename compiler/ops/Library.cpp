//===- Library.cpp - The registry of the op library -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Library.h"

#include "compiler/ops/Ops.h"

using namespace eider;
using namespace eider::ops;

namespace {
struct Entry {
  OpInfo info;
  Program (*make)(const Parameters &);
};

const std::vector<Entry> &entries() {
  static const std::vector<std::string> quantised = {
      "dtype", "format", "block", "scale", "scaleLayout", "scaleSource", "mode", "numerics"};
  static const std::vector<std::string> decoded = {"dtype", "format", "block", "scale",
                                                   "scaleLayout"};
  static const std::vector<Entry> all = {
      {{"quantize", "y = quantize(x)", quantised}, ops::quantize},
      {{"dequantize", "y = codes of x · scales", decoded}, ops::dequantize},
      {{"rms_norm_quant", "y = quantize(rms_norm(x) · weight)", quantised}, ops::rmsNormQuant},
      {{"add_rms_norm_quant", "residual = x + residual; y = quantize(rms_norm(residual) · weight)",
        quantised},
       ops::addRmsNormQuant},
      {{"silu_mul_quant", "y = quantize(silu(first half of x) · second half)", quantised},
       ops::siluMulQuant},
  };
  return all;
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
