//===- bench/latency/Split.cpp - From the DSL to a loaded kernel ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/latency/Measure.h"

#include "eider/jit.h"

#include <chrono>

namespace eider::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

OpParameters parameters() {
  OpParameters parameters;
  parameters.dtype = "bf16";
  parameters.format = "e4m3";
  parameters.block = "1x128";
  return parameters;
}

Split onDevice(const Subject &subject, const Device &device) {
  Split split;
  const auto start = Clock::now();
  const Program program = libraryOp(subject.op, parameters());
  split.program = since(start);
  CompileReport report;
  JitOptions options;
  options.report = &report;
  const Kernel kernel = jit(program, device, {{"hidden", subject.hidden}}, options);
  const Call call = kernel.prepare({{"tokens", 4096}, {"hidden", subject.hidden}});
  split.total = since(start);
  split.compile = report.milliseconds;
  split.fromCache = report.fromCache;
  for (const VariantReport &variant : kernel.variants()) {
    split.open += variant.openMilliseconds;
    split.nvrtc += variant.compileMilliseconds;
    split.load += variant.loadMilliseconds;
    split.fromCache &= !variant.loaded || variant.fromCache;
  }
  return split;
}

Split toCubin(const Subject &subject, const CacheOptions &cache) {
  Split split;
  const auto start = Clock::now();
  const Program program = libraryOp(subject.op, parameters());
  split.program = since(start);
  CompileOptions options;
  options.dims = {{"hidden", subject.hidden}};
  CompileReport report;
  const Executable executable = compileCached(program, options, cache, &report);
  const Assembly assembly =
      assemble(sourcesOf(executable)[0].source, options.target, ImageKind::Cubin, cache);
  split.total = since(start);
  split.compile = report.milliseconds;
  split.open = assembly.openMilliseconds;
  split.nvrtc = assembly.milliseconds;
  split.fromCache = report.fromCache && assembly.fromCache;
  return split;
}

} // namespace

Split measureSplit(const Subject &subject, const std::string &device, const std::string &cache) {
  DeviceOptions options;
  options.cache.directory = cache;
  if (device == "none")
    return toCubin(subject, options.cache);
  return onDevice(subject, Device::open(device, options));
}

} // namespace eider::bench
