//===- ScaleMemory.h - Scales in the layouts of memory ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The reference's own account of where scales lie, from the definitions in docs/design; it shares
// nothing with the templates nor with what the compiler says of a buffer's shape.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_SCALEMEMORY_H
#define EIDER_INTERPRETER_SCALEMEMORY_H

#include "compiler/interpreter/Tensor.h"
#include "eider/compile.h"
#include "eider/scale_layout.h"

#include <string>

namespace eider::interpreter {

/// How scales lie in memory.
struct ScalePlacement {
  ScaleLayout layout = ScaleLayout::row_major;
  bool perRow = true; ///< A row of scales is one of the matrix: blocks are one row high.
};

/// The memory of a grid of scales: its dtype, its shape, and for each scale, row by row, its number
/// among the scales that fit there.
struct ScaleMemory {
  DType dtype;
  Extents shape;
  std::vector<int64_t> places;

  ScaleMemory(ScalePlacement placement, DType scale, const Extents &grid);
};

/// The scales as they lie in memory, zeros between them.
HostTensor toHost(const std::string &name, const Tensor &scales, ScalePlacement placement);

/// The scales of a tensor whose dtype and shape are a ScaleMemory's.
Tensor scalesFromHost(const HostTensor &tensor, ScalePlacement placement, DType scale,
                      const Extents &grid);

/// The first byte that is no scale's and not zero, as `y_scale[3, 5]`; empty: there is none.
std::string dirtyPadding(const HostTensor &tensor, ScalePlacement placement, DType scale,
                         const Extents &grid);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_SCALEMEMORY_H
