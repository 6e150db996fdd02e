//===- Layout.h - How a case's tensors lie in memory ------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_LAYOUT_H
#define EIDER_TESTS_MATRIX_LAYOUT_H

#include "eider/compile.h"

namespace eider::matrix {

/// Where rows begin. Tensors of rank 1 are only moved.
struct Layout {
  int64_t padding = 0; ///< Elements between the end of a row and the next.
  int64_t shift = 0;   ///< Elements between an address of alignment 256 and the first element.
};
/// Of rows that lie apart: each aligned, or anywhere. Launches of a variant each.
inline constexpr Layout apart[] = {{/*padding=*/16, /*shift=*/0}, {/*padding=*/3, /*shift=*/1}};

/// One tensor's memory with guards before, between and after its rows: a poisoned image that is
/// uploaded before a launch and inspected after it.
class Placement {
public:
  Placement(DType dtype, std::vector<int64_t> shape, Layout layout);

  /// Bytes of the whole image.
  size_t bytes() const { return imageBytes; }
  /// Bytes from the image's begin to the first element.
  size_t offset() const { return first; }
  /// In elements, one an axis.
  const std::vector<int64_t> &strides() const { return strides_; }

  /// The image of a tensor: guards and elements filled with `poison`, then the given data, if any.
  std::vector<std::byte> image(std::byte poison, const HostTensor *data) const;
  /// The tensor in an image.
  HostTensor extract(const std::string &name, const std::vector<std::byte> &image) const;
  /// Whether every byte outside the elements still is `poison`.
  bool guardsHold(const std::vector<std::byte> &image, std::byte poison) const;

private:
  template <class Visit> void eachRow(Visit visit) const;

  DType dtype;
  std::vector<int64_t> shape, strides_;
  int64_t rows = 1;
  size_t first = 0, rowBytes = 0, pitchBytes = 0, imageBytes = 0;
};

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_LAYOUT_H
