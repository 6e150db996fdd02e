//===- tools/eider/Emit.cpp - eider emit, eider explain -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/Offline.h"
#include "eider/tune.h"
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"
#include "tools/safetensors/WholeFile.h"

#include <cstdio>

namespace eider::cli {

int carryOut(const EmitRequest &request) {
  ProgramSource source = makeProgram(request.program);
  if (!request.output.empty())
    checkTextWritable(request.output, source.files);
  CompileOptions options = optionsFor(request.program, source.program, request.arch);
  options.timings = request.timings;
  std::string text;
  if (request.stage == Stage::Cuda) {
    OfflineBuild built = buildOffline(source.program, options, {});
    report(built.tuned, request.arch);
    text = std::move(built.text);
  } else {
    text = emit(source.program, options, request.stage);
  }
  if (request.output.empty()) {
    print(text);
    return 0;
  }
  writeText(request.output, text);
  return 0;
}

namespace {
/// What the tuning records say of a program, a line a schedule; nothing without a record.
std::string tunedText(const Program &program, const CompileOptions &options) {
  std::string text;
  for (const TunedRecord &record : tunedRecords(program, options)) {
    char line[600];
    std::snprintf(line, sizeof(line), "%s %s on %s: %.2f us%s, %s\n",
                  record.best ? "tuned    " : "measured ", record.dims.c_str(),
                  record.deviceName.c_str(), record.microseconds, record.best ? ", the best" : "",
                  record.schedule.c_str());
    text += line;
  }
  return text;
}
} // namespace

int carryOut(const ExplainRequest &request) {
  ProgramSource source = makeProgram(request.program);
  const CompileOptions options = optionsFor(request.program, source.program, request.arch);
  print(explain(source.program, options) + tunedText(source.program, options));
  return 0;
}

} // namespace eider::cli
