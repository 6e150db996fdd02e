//===- LargeCells.h - Programs on tensors beyond 2^31 elements --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_GPU_LARGE_LARGECELLS_H
#define EIDER_TESTS_GPU_LARGE_LARGECELLS_H

#include "tests/gpu/large/LongTensor.h"

#include "eider/compile.h"

#include <memory>
#include <string>
#include <vector>

namespace eider::large {

/// A program whose tensors grow along some dims, all by as many units.
struct LargeCell {
  std::string name;
  Program program;
  Dims dims;                      ///< Without those that grow.
  std::vector<std::string> along; ///< Those that grow.
  int64_t unitExtent = 1;         ///< Of a unit, along each of them.
  int64_t units = 0, period = 0;
  int64_t padding = 0;       ///< Elements between the rows of matrices.
  std::string schedule = {}; ///< Empty: chosen by the compiler.

  Dims dimsOf(int64_t count) const; ///< All dims, of so many units.
};

/// What decides how large cells are.
struct LargeSize {
  int64_t elements; ///< That `y` passes, once or twice.
  int64_t width;    ///< The most columns of a row, where it is the rows that are many.
};

std::vector<LargeCell> largeCells(const LargeSize &size);

/// A cell's tensors on a device, in the order of its program's signature.
class LargeTensors {
public:
  LargeTensors(const LargeCell &cell, const Device &device);

  /// What it needs of a device's memory.
  static size_t bytesFor(const LargeCell &cell);

  std::vector<TensorArg> arguments() const;

  /// What is wrong with the outputs after a launch; empty if nothing is. `limit`: elements, and
  /// bytes, around which units are compared with the reference, besides the first and the last.
  std::string judge(int64_t limit) const;

  /// Damages the last output of one or two bytes an element: a `unit` of it, the `gap` after that,
  /// or what lies `outside`.
  void spoil(const std::string &what) const;

private:
  bool isOutput(size_t i) const;
  void fill(size_t i);
  std::vector<int64_t> unitsFor(int64_t limit) const;
  HostTensor windowOf(size_t i, const std::vector<int64_t> &units,
                      std::vector<std::byte> data) const;
  std::vector<std::byte> inputOf(size_t i, const std::vector<int64_t> &units) const;
  int64_t mirrored(int64_t unit) const;

  const LargeCell &cell;
  Signature signature;
  std::vector<std::unique_ptr<LongTensor>> tensors;
  std::vector<std::vector<std::byte>> patterns; ///< Of inputs and in-outs.
};

} // namespace eider::large

#endif // EIDER_TESTS_GPU_LARGE_LARGECELLS_H
