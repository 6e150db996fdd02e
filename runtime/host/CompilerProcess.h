//===- host/CompilerProcess.h - Finds and runs the C++ compiler -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_COMPILERPROCESS_H
#define EIDER_HOST_COMPILERPROCESS_H

#include <filesystem>
#include <string>
#include <vector>

namespace eider::host {

/// The machine's C++ compiler as the beginning of a command: the first that exists of EIDER_CXX
/// and CXX (words of a command, parted by spaces), `c++`, `g++` and `clang++` in PATH. Throws Error
/// of kind Machine that says which were tried; an EIDER_CXX that does not exist is not passed over.
std::vector<std::string> findCompiler();

/// What became of a process.
struct ProcessResult {
  int status;           ///< Exit status; 128 + signal if it was killed.
  std::string messages; ///< What it wrote to standard output and error.
};

/// Runs `command` without a shell, with messages in English. `directory` takes a file for the
/// messages. Throws Error of kind Machine when it cannot be started.
ProcessResult runProcess(const std::vector<std::string> &command,
                         const std::filesystem::path &directory);

} // namespace eider::host

#endif // EIDER_HOST_COMPILERPROCESS_H
