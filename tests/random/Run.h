//===- Run.h - Sketches on a device, against the reference ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_RUN_H
#define EIDER_TESTS_RANDOM_RUN_H

#include "tests/random/Sketch.h"

#include <functional>
#include <span>

namespace eider::sketch {

struct Outcome {
  enum class Kind { Passed, Refused, Failed } kind = Kind::Passed;
  /// Of a failure the first element that differs, or the error; of a refusal what the DSL or the
  /// compiler says.
  std::string message;
  int64_t elements = 0;  ///< Compared.
  int64_t different = 0; ///< Of them other bits, within their bounds or not.
};

struct Runner {
  std::string device = "host"; ///< `host`, `cuda`, or `reference`: the interpreter itself.
  uint64_t seed = 1;           ///< Of the order of threads on `host`.
  /// What is compiled in a sketch's place, to see whether a defect is found. Has its arguments and
  /// results.
  std::function<Sketch(const Sketch &)> defect = [](const Sketch &sketch) { return sketch; };

  /// Compiles all together, runs each and holds it against the reference. Throws Error (Machine)
  /// without the device.
  std::vector<Outcome> run(std::span<const Sketch> sketches) const;
};

/// Whether an error is a refusal: of the request, saying what and where.
bool isStated(const Error &error);

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_RUN_H
