//===- sim/SanitizerDriver.cpp - A process for a sanitizer to watch -------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Linked once with AddressSanitizer and once with ThreadSanitizer: compiles the text of a kernel
// `void ENTRY(const float *x, float *y)` with the same one and runs it on one element a thread. The
// sanitizer speaks on standard error and sets the exit status.
//
//===----------------------------------------------------------------------===//
#include "eider/error.h"
#include "runtime/host/HostModule.h"
#include "runtime/host/Simulator.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

using namespace eider::host;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(char **arguments) {
  const std::string text = arguments[1], entry = arguments[2];
  const LaunchShape shape = {std::atoll(arguments[3]),
                             static_cast<unsigned>(std::atoi(arguments[4])),
                             static_cast<unsigned>(std::atoi(arguments[5]))};
  HostCompileOptions options;
  options.name = std::filesystem::path(text).filename();
  options.keepIn = std::filesystem::path(text).parent_path();
  options.sanitizer = EIDER_TEST_SANITIZER;
  if (arguments[6]) // TEMPLATE=FILE: use FILE in place of the library's TEMPLATE
    options.replacedTemplates[arguments[6]] = readFile(arguments[7]);
  const auto module = HostModule::compile(readFile(text), {entry}, options);

  const size_t elements = static_cast<size_t>(shape.grid) * shape.block;
  const auto x = std::make_unique<float[]>(elements);
  const auto y = std::make_unique<float[]>(elements);
  for (size_t i = 0; i < elements; ++i)
    x[i] = 1;
  const float *in = x.get();
  float *out = y.get();
  void *parameters[] = {&in, &out};
  // On one host thread all that happens between the threads of resident blocks must be found; of
  // blocks that are over ThreadSanitizer forgets what their threads did, as it gives new ones their
  // numbers. On two host threads, again: the first launch is over.
  launch(module->kernel(entry), shape, parameters, {.seed = 1, .threads = 1});
  launch(module->kernel(entry), shape, parameters, {.seed = 2, .threads = 2});
  std::printf("%g\n", static_cast<double>(y[elements - 1]));
}

} // namespace

/// TEXT.cu ENTRY GRID BLOCK CLUSTER [TEMPLATE FILE]. Prints the last element of y.
int main(int count, char **arguments) {
  if (count != 6 && count != 8)
    return 2;
  try {
    run(arguments);
  } catch (const eider::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
