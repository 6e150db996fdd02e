//===- ExactTensor.cpp - Memory that a sanitizer sees the ends of ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/gpu/kernels/ExactTensor.h"

using namespace eider;
using namespace eider::gpu;

ExactTensor::ExactTensor(const Device &device, DType dtype, std::vector<int64_t> extents,
                         const matrix::Layout &layout)
    : device(device), dtype(dtype), shape(std::move(extents)), strides(shape.size(), 1) {
  const int64_t width = shape.empty() ? 1 : shape.back();
  int64_t pitch = shape.size() > 1 ? width + layout.padding : width;
  const size_t element = sizeOf(dtype);
  rowBytes = static_cast<size_t>(width) * element;
  pitchBytes = static_cast<size_t>(pitch) * element;
  for (size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = pitch;
    pitch *= shape[axis - 1];
    rows *= static_cast<size_t>(shape[axis - 1]);
  }
  first = static_cast<size_t>(layout.shift) * element;
  const size_t extent = rows == 0 ? 0 : (rows - 1) * pitchBytes + rowBytes;
  memory = static_cast<std::byte *>(device.allocate(first + extent));
}

template <class Visit> void ExactTensor::eachPiece(Visit visit) const {
  if (rowBytes == 0 || rows == 0)
    return;
  if (rowBytes == pitchBytes)
    return visit(first, 0, rows * rowBytes);
  for (size_t row = 0; row < rows; ++row)
    visit(first + row * pitchBytes, row * rowBytes, rowBytes);
}

void ExactTensor::upload(const std::vector<std::byte> &data) {
  eachPiece([&](size_t at, size_t from, size_t bytes) {
    device.upload(memory + at, data.data() + from, bytes);
  });
}

HostTensor ExactTensor::download(const std::string &name) const {
  HostTensor tensor{name, dtype, shape, std::vector<std::byte>(rows * rowBytes)};
  eachPiece([&](size_t at, size_t to, size_t bytes) {
    device.download(tensor.data.data() + to, memory + at, bytes);
  });
  return tensor;
}
