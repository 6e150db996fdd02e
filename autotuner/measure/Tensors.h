//===- measure/Tensors.h - What the candidates of a cell run on -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_TENSORS_H
#define EIDER_AUTOTUNER_MEASURE_TENSORS_H

#include "eider/compile.h"

#include <vector>

namespace eider::tuning {

/// Device memory of a cell: equal sets of tensors to time on, as many as leave nothing in the L2
/// for the next launch where that can be, and one set to check on, with what the incumbent wrote
/// beside it.
class Tensors {
public:
  /// `kernel`: any of the program's, for the shapes. Throws Error.
  Tensors(const Device &device, const Kernel &kernel, const Signature &signature, const Dims &dims);
  ~Tensors();
  Tensors(const Tensors &) = delete;
  Tensors &operator=(const Tensors &) = delete;

  struct Tensor {
    std::string name;
    DType dtype;
    Signature::Role role;
    std::vector<int64_t> shape;
    std::vector<std::string> extents; ///< The shape's expressions.
    size_t bytes = 0;
    void *pristine = nullptr; ///< Inputs and in-outs: what a launch is given.
    void *checked = nullptr;  ///< The rest: what a checked launch writes.
    void *golden = nullptr;   ///< What the incumbent wrote.
    bool endsGroups = false;  ///< Rows of the matrix are in groups, which end there.
  };
  const std::vector<Tensor> &all() const { return tensors; }

  /// Bytes that a launch moves: inputs and outputs once, in-outs twice.
  size_t traffic() const { return traffic_; }
  /// Whether all the sets together are too small to displace each other from the L2.
  bool needFlush() const { return flush; }

  const std::vector<std::vector<TensorArg>> &sets() const { return sets_; }
  const std::vector<TensorArg> &checkedSet() const { return checked; }
  /// At least so large; stays until the end.
  void *workspace(size_t bytes);

  /// Gives the in-outs of every set their old values; enqueued on `stream`.
  void restore(Stream stream) const;
  /// Poisons outputs and restores in-outs of the set to check on.
  void prepareCheck() const;
  /// Keeps what was just written there as the incumbent's.
  void keepGolden() const;

private:
  void *allocate(size_t bytes);
  void describe(const Kernel &kernel, const Signature &signature, const Dims &dims);
  void makeSets();

  Device device;
  std::vector<void *> memory;
  std::vector<Tensor> tensors;
  std::vector<std::vector<TensorArg>> sets_;
  std::vector<TensorArg> checked;
  size_t traffic_ = 0, workspaceBytes = 0;
  void *workspace_ = nullptr;
  bool flush = false;
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_TENSORS_H
