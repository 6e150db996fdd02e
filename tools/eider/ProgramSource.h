//===- tools/eider/ProgramSource.h - The program a request names -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_PROGRAMSOURCE_H
#define EIDER_TOOLS_EIDER_PROGRAMSOURCE_H

#include "autotuner/Lookup.h"
#include "tools/eider/Requests.h"

namespace eider::cli {

/// A program, and the scalars that --set gave a value.
struct ProgramSource {
  Program program;
  std::map<std::string, double> scalars;
  std::vector<std::string> files = {}; ///< That were read for it.
};

/// The library's op with its parameters, or the program of a file. A --set that names one of the
/// program's scalars is its value; any other is a parameter of the numerics. Throws Error.
ProgramSource makeProgram(const ProgramRequest &request);

/// The program as a shell's command line names it: OP|FILE.mlir with the parameters that are not
/// the op's defaults. Dims, codec and schedule are left out.
std::string argumentsOf(const ProgramRequest &request);

/// Says on standard error which schedules tuning records gave for a target.
void report(const std::vector<tuning::TunedRange> &tuned, const std::string &target);

/// How `target` is to be compiled for; dims as the request gives them. Throws Error when the
/// program has no such dim.
CompileOptions optionsFor(const ProgramRequest &request, const Program &program,
                          const std::string &target);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_PROGRAMSOURCE_H
