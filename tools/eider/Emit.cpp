//===- tools/eider/Emit.cpp - eider emit, eider explain -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"
#include "tools/safetensors/WholeFile.h"

namespace eider::cli {

int carryOut(const EmitRequest &request) {
  ProgramSource source = makeProgram(request.program);
  CompileOptions options = optionsFor(request.program, source.program, request.arch);
  options.timings = request.timings;
  std::string text = emit(source.program, options, request.stage);
  if (request.output.empty()) {
    print(text);
    return 0;
  }
  std::span<const std::byte> part = std::as_bytes(std::span(text));
  writeWholeFile(request.output, {&part, 1});
  return 0;
}

int carryOut(const ExplainRequest &request) {
  ProgramSource source = makeProgram(request.program);
  print(explain(source.program, optionsFor(request.program, source.program, request.arch)));
  return 0;
}

} // namespace eider::cli
