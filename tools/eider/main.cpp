//===- tools/eider/main.cpp - The command line ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Exit status: 0 done; 1 a check failed; 2 the request is wrong; 3 the machine lacks something.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/CommandLine.h"
#include "tools/eider/Text.h"

#include <cstdio>

int main(int argc, char **argv) {
  auto complain = [](const std::string &line) {
    std::fprintf(stderr, "eider: %s\n", line.c_str());
  };
  try {
    eider::setLogHandler([&](const std::string &line) {
      complain(line.starts_with("cache miss: ") ? line : "warning: " + line); // --why-miss
    });
    std::string help;
    auto request = eider::cli::parseCommandLine(argc, argv, help);
    if (request)
      return std::visit([](const auto &chosen) { return eider::cli::carryOut(chosen); }, *request);
    eider::cli::print(help);
    return 0;
  } catch (const eider::Error &error) {
    complain(error.what());
    return error.kind() == eider::ErrorKind::Request ? 2 : 3;
  } catch (const std::bad_alloc &) {
    complain("not enough memory; give smaller tensors or a larger machine");
    return 3;
  } catch (const std::exception &error) {
    complain(std::string("internal error: ") + error.what());
    return 3;
  }
}
