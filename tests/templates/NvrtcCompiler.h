//===- NvrtcCompiler.h - Texts over the templates, by NVRTC -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// For the tests of the templates, which must not depend on the runtime that is built upon them.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_NVRTCCOMPILER_H
#define EIDER_TESTS_NVRTCCOMPILER_H

#include "templates/EmbeddedTemplates.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace eider::testing {

/// NVRTC, opened at run time. Thread-safe.
class NvrtcCompiler {
public:
  struct Result {
    std::vector<char> cubin; ///< Empty if the text does not compile.
    std::string log;         ///< Errors, and what ptxas says of registers and memory.
    double milliseconds;
  };

  /// From CUDA_HOME, /usr/local/cuda or the linker's path; null with the reason in `error` where
  /// there is none.
  static std::shared_ptr<const NvrtcCompiler> open(std::string &error);

  /// All targets from sm_75 on, with the `a` forms: `sm_90`, `sm_90a`.
  std::vector<std::string> targets() const;

  /// The text with the templates and `headers` as named headers, under the options that Eider uses.
  Result compile(const std::string &source, const std::string &target,
                 std::span<const EmbeddedTemplate> headers = {}) const;

private:
  struct Functions;
  std::shared_ptr<const Functions> functions;
};

} // namespace eider::testing

#endif // EIDER_TESTS_NVRTCCOMPILER_H
