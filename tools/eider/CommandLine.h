//===- tools/eider/CommandLine.h - From arguments to a request --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_COMMANDLINE_H
#define EIDER_TOOLS_EIDER_COMMANDLINE_H

#include "tools/eider/Requests.h"

#include <optional>
#include <string>

namespace eider::cli {

/// The request of a command line. Nothing when it asks for help or the version, which is then in
/// `help`. Throws Error (Request) that says what is wrong with the arguments.
std::optional<Request> parseCommandLine(int argc, const char *const *argv, std::string &help);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_COMMANDLINE_H
