//===- tools/eider/BenchTargets.cpp - What is asked of a cell -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/BenchTargets.h"

#include <algorithm>
#include <initializer_list>

namespace eider::cli {

static bool writesCodes(const std::string &op) { return op != "dequantize" && op != "embedding"; }

bool readsTwice(const ProgramRequest &program) {
  return program.parameters.block == "*x*" && program.parameters.scaleSource != "static" &&
         writesCodes(program.source);
}

namespace {

bool startsWithAny(const std::string &op, std::initializer_list<const char *> prefixes) {
  return std::ranges::any_of(prefixes, [&](const char *prefix) { return op.starts_with(prefix); });
}

bool isAtTheShape(const ProgramRequest &program) {
  auto is = [&](const char *dim, int64_t extent) {
    const auto found = program.dims.find(dim);
    return found != program.dims.end() && found->second == extent;
  };
  // What a GPU, or its L2, holds, so that memory gives it once.
  if (program.source == "quantize" && readsTwice(program) && is("hidden", 4096))
    return is("tokens", 1024) || is("tokens", 2048) || is("tokens", 4096);
  // Of as many elements in longer rows.
  if (program.source.starts_with("softmax"))
    for (auto [tokens, hidden] : {std::pair{8192, 16384}, {4096, 32768}, {2048, 65536}})
      if (is("tokens", tokens))
        return is("hidden", hidden);
  // Of a cache, eight heads of 128.
  return is("tokens", 16384) && is("hidden", program.source == "kv_append" ? 1024 : 8192);
}

/// By what the op does, whatever its params.
double targetOfOp(const std::string &op) {
  if (op == "cast_transpose")
    return 1.05;
  if (startsWithAny(op, {"silu", "gelu", "relu2"}))
    return 0.99;
  if (startsWithAny(op, {"embedding", "moe", "kv_append"}))
    return 1.1;
  return op.find("norm") != op.npos || op.starts_with("softmax") ? 1.02 : 1;
}

/// Whether no GPU before sm_100 has instructions for it.
bool isEncodedInSoftware(const ProgramRequest &program) {
  const std::string &format = program.parameters.format;
  const auto rounding = program.settings.find("rounding");
  return format.ends_with("fnuz") || format == "e2m1" ||
         (rounding != program.settings.end() && rounding->second == "stochastic");
}

} // namespace

double targetOf(const ProgramRequest &program) {
  const OpParameters &parameters = program.parameters;
  const bool isBf16 = parameters.dtype.empty() || parameters.dtype == "bf16";
  if (program.codec == "software" || !isBf16 || !isAtTheShape(program))
    return 0;
  double target = targetOfOp(program.source);
  if (readsTwice(program))
    target = std::max(target, 1.03);
  if (parameters.transposed == "yes" || parameters.block == "128x128")
    target = std::max(target, 1.05);
  if (writesCodes(program.source) && isEncodedInSoftware(program))
    target = std::max(target, 1.05);
  return target;
}

} // namespace eider::cli
