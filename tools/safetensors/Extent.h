//===- tools/safetensors/Extent.h - Size of a tensor in bytes ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_SAFETENSORS_EXTENT_H
#define EIDER_TOOLS_SAFETENSORS_EXTENT_H

#include "eider/dtype.h"

#include <cstdint>
#include <optional>
#include <span>

namespace eider::safetensors {

/// Bytes of a tensor; nothing when an extent is negative or when the product of the extents other
/// than zero leaves 63 bits (so that strides computed from an accepted shape never overflow, even
/// when another extent is zero).
inline std::optional<uint64_t> bytesOf(std::span<const int64_t> shape, DType type) {
  int64_t bytes = static_cast<int64_t>(sizeOf(type));
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

} // namespace eider::safetensors

#endif // EIDER_TOOLS_SAFETENSORS_EXTENT_H
