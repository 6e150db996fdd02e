//===- Harness.h - Many small kernels, compiled together --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_HARNESS_H
#define EIDER_TESTS_MATRIX_HARNESS_H

#include "eider/compile.h"
#include "runtime/contract/Contract.h"
#include "tests/matrix/Layout.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace eider::matrix {

/// The device that EIDER_TEST_DEVICE names; else `host`.
std::string testDevice();

/// A program on given inputs in a given layout.
struct Case {
  Program program;
  CompileOptions options; ///< `target` is the harness's.
  std::vector<HostTensor> inputs;
  Dims dims;
  Layout layout = {};
  std::map<std::string, float> scalars = {};
  /// Without the variants for few rows and for small matrices, so that these test the others;
  /// unless a schedule is given.
  bool forAnyRows = false;
  bool forSomeRows = false; ///< Without those for few rows alone.
  bool forManyRows = false; ///< By what many rows have, however few they are.
  std::string values = {};  ///< What kind of ValueSource the inputs are, where that is known.
};

/// What the case's program is compiled to for a target, its variants being those that it asks for.
/// Throws Error.
contract::Contract contractOf(const Case &given, const std::string &target);

/// Runs cases on a device through the runtime's own kernels and calls. On `host` the texts that the
/// cases need are compiled many to a translation unit, each text once.
class Harness {
public:
  /// `host` or `cuda`. Throws Error (Machine) without the device. `seed`: the order of threads on
  /// `host`.
  explicit Harness(const std::string &device, uint64_t seed = 0);
  ~Harness();

  /// Compiles the case to text and remembers it; gives its number. Throws Error.
  size_t add(Case added);

  /// Compiles the texts of all cases so far, on all processors. Throws Error.
  void build();

  /// Launches a case and gives its outputs and the new values of its in-outs. Throws Error when it
  /// writes outside its outputs, or changes an input.
  std::vector<HostTensor> run(size_t number) const;

  /// Which variant the case takes: `contiguous`, `general`.
  const std::string &variantOf(size_t number) const;
  /// Distinct texts of all cases.
  size_t texts() const;
  /// `host`, `sm_90`.
  const std::string &target() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_HARNESS_H
