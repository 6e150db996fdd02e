//===- tools/eider/ProgramSource.cpp - The program a request names --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/ProgramSource.h"

#include "autotuner/BuildCommand.h"
#include "tools/eider/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace eider::cli {

namespace {

double parseNumber(const std::string &name, const std::string &text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    throw Error(ErrorKind::Request, "'" + text + "' is beyond what a double holds",
                "--set " + name + "=" + text, "give one of magnitude 1e-300 to 1e300, 0, or inf");
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(ErrorKind::Request, "'" + text + "' is not a number", "--set " + name + "=" + text);
  return value;
}

/// The program's scalar of a name; null for another name.
const Signature::Scalar *findScalar(const Program &program, const std::string &name) {
  const auto &scalars = program.signature().scalars;
  auto found = std::ranges::find(scalars, name, &Signature::Scalar::name);
  return found == scalars.end() ? nullptr : &*found;
}

double valueOf(const Signature::Scalar &scalar, const std::string &text) {
  const double value = parseNumber(scalar.name, text);
  if (scalar.dtype == DType::i64 && (value != std::trunc(value) || std::abs(value) > 0x1p53))
    throw Error(ErrorKind::Request, "'" + text + "' is no integer of magnitude up to 2^53",
                "--set " + scalar.name + "=" + text);
  return value;
}

/// The settings that are scalars of `program`; the others are left in `settings`.
std::map<std::string, double> takeScalars(const Program &program,
                                          std::map<std::string, std::string> &settings) {
  std::map<std::string, double> scalars;
  for (auto it = settings.begin(); it != settings.end();) {
    const Signature::Scalar *scalar = findScalar(program, it->first);
    if (!scalar) {
      ++it;
      continue;
    }
    scalars[it->first] = valueOf(*scalar, it->second);
    it = settings.erase(it);
  }
  return scalars;
}

/// The settings that are an op's own; the others are left in `settings`.
std::map<std::string, std::string> takeSettings(const std::string &op,
                                                std::map<std::string, std::string> &settings) {
  std::map<std::string, std::string> own;
  for (const OpInfo &info : libraryOps())
    if (info.name == op)
      for (const OpSetting &setting : info.settings)
        if (auto given = settings.extract(setting.name))
          own.insert(std::move(given));
  return own;
}

/// The options of an op's parameters, and their values.
std::vector<std::pair<const char *, const std::string *>> optionsOf(const OpParameters &p) {
  return {{"--dtype", &p.dtype},
          {"--format", &p.format},
          {"--block", &p.block},
          {"--from-format", &p.fromFormat},
          {"--from-block", &p.fromBlock},
          {"--from-scale", &p.fromScale},
          {"--from-scale-layout", &p.fromScaleLayout},
          {"--scale", &p.scale},
          {"--scale-layout", &p.scaleLayout},
          {"--scale-source", &p.scaleSource},
          {"--mode", &p.mode},
          {"--index", &p.index},
          {"--copy", &p.copy},
          {"--transposed", &p.transposed},
          {"--amax", &p.amax}};
}

ProgramSource readProgram(const ProgramRequest &request) {
  for (const auto &[option, value] : optionsOf(request.parameters))
    if (!value->empty())
      throw Error(ErrorKind::Request, "a program from a file has its own types and numerics",
                  option, "leave it out, or change " + request.source);
  Program program = parseProgram(readText(request.source), request.source);
  std::map<std::string, std::string> settings = request.settings;
  std::map<std::string, double> scalars = takeScalars(program, settings);
  if (!settings.empty())
    throw Error(ErrorKind::Request, "the program has no such scalar",
                "--set " + settings.begin()->first);
  return {std::move(program), std::move(scalars), {request.source}};
}

} // namespace

ProgramSource makeProgram(const ProgramRequest &request) {
  if (request.source.ends_with(".mlir"))
    return readProgram(request);
  OpParameters parameters = request.parameters;
  std::map<std::string, std::string> settings = request.settings;
  parameters.settings = takeSettings(request.source, settings);
  // It adds scalars, which other settings may be.
  if (auto rounding = settings.find("rounding"); rounding != settings.end())
    parameters.numerics.insert(*rounding);
  Program program = libraryOp(request.source, parameters);
  std::map<std::string, double> scalars = takeScalars(program, settings);
  if (settings.empty())
    return {std::move(program), std::move(scalars)};
  parameters.numerics = std::move(settings);
  return {libraryOp(request.source, parameters), std::move(scalars)};
}

CompileOptions optionsFor(const ProgramRequest &request, const Program &program,
                          const std::string &target) {
  std::vector<std::string> names;
  for (const Signature::NamedDim &dim : program.signature().dims)
    names.push_back(dim.name);
  for (const auto &[name, extent] : request.dims)
    if (std::ranges::find(names, name) == names.end())
      throw Error(ErrorKind::Request, "the program has no such dim", "--dim " + name,
                  "it has " + join(names));
  CompileOptions options;
  options.target = target;
  options.codec = request.codec;
  options.schedule = request.schedule;
  options.dims = request.dims;
  return options;
}

void report(const std::vector<tuning::TunedRange> &tuned, const std::string &target) {
  for (const tuning::TunedRange &range : tuned)
    note(target + (range.ranges.empty() ? "" : ", " + toText(range.ranges)) + ": " +
         range.schedule + ", by a tuning record");
}

std::string argumentsOf(const ProgramRequest &request) {
  std::string text = shellWord(request.source);
  for (const auto &[option, value] : optionsOf(request.parameters))
    if (!value->empty())
      text += std::string(" ") + option + " " + shellWord(*value);
  for (const auto &[name, value] : request.settings)
    text += " --set " + shellWord(name + "=" + value);
  return text;
}

} // namespace eider::cli
