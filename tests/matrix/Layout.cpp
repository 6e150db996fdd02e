//===- Layout.cpp - How a case's tensors lie in memory --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Layout.h"

#include <algorithm>
#include <cstring>

using namespace eider;
using namespace eider::matrix;

/// Guards on both sides: as wide as the widest access and a multiple of every alignment.
static constexpr size_t GuardBytes = 256;

Placement::Placement(DType dtype, std::vector<int64_t> extents, Layout layout)
    : dtype(dtype), shape(std::move(extents)), strides_(shape.size(), 1) {
  int64_t width = shape.empty() ? 1 : shape.back(), pitch = width;
  if (shape.size() > 1)
    pitch += layout.padding;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (axis + 1 < shape.size()) {
      strides_[axis] = axis + 2 == shape.size() ? pitch : strides_[axis + 1] * shape[axis + 1];
      rows *= shape[axis];
    }
  }
  size_t element = sizeOf(dtype);
  first = GuardBytes + static_cast<size_t>(layout.shift) * element;
  rowBytes = static_cast<size_t>(width) * element;
  pitchBytes = static_cast<size_t>(pitch) * element;
  imageBytes = first + pitchBytes * static_cast<size_t>(rows) + GuardBytes;
}

template <class Visit> void Placement::eachRow(Visit visit) const {
  for (int64_t row = 0; row < rows; ++row)
    visit(first + static_cast<size_t>(row) * pitchBytes, static_cast<size_t>(row) * rowBytes);
}

std::vector<std::byte> Placement::image(std::byte poison, const HostTensor *data) const {
  std::vector<std::byte> image(imageBytes, poison);
  if (data && rowBytes)
    eachRow([&](size_t at, size_t from) {
      std::memcpy(image.data() + at, data->data.data() + from, rowBytes);
    });
  return image;
}

HostTensor Placement::extract(const std::string &name, const std::vector<std::byte> &image) const {
  HostTensor tensor{name, dtype, shape, {}};
  tensor.data.resize(rowBytes * static_cast<size_t>(rows));
  if (rowBytes)
    eachRow([&](size_t at, size_t to) {
      std::memcpy(tensor.data.data() + to, image.data() + at, rowBytes);
    });
  return tensor;
}

bool Placement::guardsHold(const std::vector<std::byte> &image, std::byte poison) const {
  auto isPoison = [&](size_t begin, size_t end) {
    return std::all_of(image.begin() + static_cast<ptrdiff_t>(begin),
                       image.begin() + static_cast<ptrdiff_t>(end),
                       [&](std::byte byte) { return byte == poison; });
  };
  size_t end = 0;
  bool hold = true;
  eachRow([&](size_t at, size_t) {
    hold = hold && isPoison(end, at);
    end = at + rowBytes;
  });
  return hold && isPoison(end, imageBytes);
}
