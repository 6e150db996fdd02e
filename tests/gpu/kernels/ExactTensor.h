//===- ExactTensor.h - Memory that a sanitizer sees the ends of -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_GPU_KERNELS_EXACTTENSOR_H
#define EIDER_TESTS_GPU_KERNELS_EXACTTENSOR_H

#include "eider/compile.h"
#include "tests/matrix/Layout.h"

namespace eider::gpu {

/// A tensor in device memory that begins with its first element and ends with its last, so that an
/// access beyond it is one beyond an allocation. Nothing between its rows is ever written: who
/// reads it reads what is not initialised.
class ExactTensor {
public:
  /// `layout.padding` elements lie between two rows; `layout.shift` elements before the first.
  ExactTensor(const Device &device, DType dtype, std::vector<int64_t> shape,
              const matrix::Layout &layout);
  ~ExactTensor() { device.free(memory); }
  ExactTensor(const ExactTensor &) = delete;
  ExactTensor &operator=(const ExactTensor &) = delete;

  TensorArg argument() const { return {memory + first, strides}; }
  void upload(const std::vector<std::byte> &data);
  HostTensor download(const std::string &name) const;

private:
  /// Calls `visit(bytes from `memory`, bytes from a contiguous tensor's begin, bytes)`.
  template <class Visit> void eachPiece(Visit visit) const;

  Device device;
  DType dtype;
  std::vector<int64_t> shape, strides;
  size_t rows = 1, rowBytes = 0, pitchBytes = 0, first = 0;
  std::byte *memory = nullptr;
};

} // namespace eider::gpu

#endif // EIDER_TESTS_GPU_KERNELS_EXACTTENSOR_H
