//===- autotuner/BuildCommand.cpp - What would fill the cache -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/BuildCommand.h"

namespace eider {
namespace {

/// A word of a shell's command line.
std::string quoted(const std::string &word) {
  if (word.find_first_of(" \t\n'\"\\$`*?[]<>|&;()#~!{}") == std::string::npos)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

} // namespace

std::string buildCommand(const Program &program, const CompileOptions &options,
                         const std::string &source) {
  const std::string file = quoted(program.name() + ".mlir");
  std::string command =
      source.empty() ? "save the program's text() as " + file + " and run: eider build " + file
                     : "run: eider build " + source;
  for (const auto &[name, value] : options.dims)
    command += " --dim " + quoted(name + "=" + std::to_string(value));
  if (options.codec != "auto")
    command += " --codec " + quoted(options.codec);
  if (!options.schedule.empty())
    command += " --schedule " + quoted(options.schedule);
  return command + " --arch " + quoted(options.target) + " --emit cache";
}

} // namespace eider
