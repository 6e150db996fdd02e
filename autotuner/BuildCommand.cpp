//===- autotuner/BuildCommand.cpp - What would fill the cache -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/BuildCommand.h"

namespace eider {
std::string shellWord(const std::string &text) {
  constexpr const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
    return text;
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string buildCommand(const Program &program, const CompileOptions &options,
                         const std::string &source) {
  const std::string file = shellWord(program.name() + ".mlir");
  std::string command =
      source.empty() ? "save the program's text() as " + file + " and run: eider build " + file
                     : "run: eider build " + source;
  for (const auto &[name, value] : options.dims)
    command += " --dim " + shellWord(name + "=" + std::to_string(value));
  if (options.codec != "auto")
    command += " --codec " + shellWord(options.codec);
  if (!options.schedule.empty())
    command += " --schedule " + shellWord(options.schedule);
  return command + " --arch " + shellWord(options.target) + " --emit cache";
}

} // namespace eider
