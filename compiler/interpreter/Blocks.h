//===- Blocks.h - Which block an element belongs to -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_BLOCKS_H
#define EIDER_INTERPRETER_BLOCKS_H

#include "compiler/interpreter/Tensor.h"

namespace eider::interpreter {

/// The extents of a block on a tensor of this shape: `*` (kDynamic) is the whole extent.
Extents blockExtents(llvm::ArrayRef<int64_t> block, const Extents &shape);

/// One value a block: extents [ceil(shape / block)], where `*` leaves 1.
Extents blockGrid(llvm::ArrayRef<int64_t> block, const Extents &shape);

/// For each element of `shape`, row-major, the index of its block in the row-major grid of blocks.
std::vector<int64_t> blockOfElement(const Extents &shape, const Extents &extents);

/// eider.reduce, in f32. A sum accumulates in double; its range allows for any order of f32
/// additions up to ExtraAdditions + log2 n deep. A maximum or minimum of NaN is NaN, but for
/// amax_number, which ignores it (0 of nothing else).
Tensor reduce(ir::Reduction kind, const Tensor &input, llvm::ArrayRef<int64_t> block);

/// What products of codes may lose on tensor cores: 32 meet at a time, of which each, and the sum
/// before, is cut off 2^-13 below the largest.
double lostOfCodes(const double *left, const double *right, int64_t count);

/// As what some kernel's tensor cores multiply: pairs of 16-bit floats, which may be f16 of rows of
/// bf16, or codes as they are; or no kernel's.
enum class Met { asFloats, asPairs, asF16, asCodes };

/// What is multiplied: values, and one scale an element where they are scaled.
struct Factor {
  Tensor values;
  std::optional<Tensor> scales;

  double scaleOf(int64_t element) const { return scales ? scales->values[element] : 1; }
};

/// eider.contract: one sum a row of weights · vector, whose products are exact in double. The range
/// allows for any order of f32 additions as a sum's does, and for a scale to come before or after
/// that of its group; and for what tensor cores cut off, or lose of codes. Of a matrix, so is each
/// row.
Tensor contract(const Factor &weights, const Factor &vector, Met met);

/// The same of weights [g, n, k], of which rows up to `ends` [g] of the matrix meet one after the
/// other, or without them as many rows each; rows after the last end are zeros.
Tensor contractGroups(const Factor &weights, const Factor &matrix, const Tensor *ends, Met met);

/// eider.broadcast: each dim of the operand is the result's, 1, absent, or one value a block of the
/// result's. `extents`: of such a block.
Tensor broadcast(const Tensor &input, const Extents &shape, const Extents &extents);

/// eider.transpose.
Tensor transpose(const Tensor &input);
CodeTensor transpose(const CodeTensor &input);

/// eider.half.
Tensor half(const Tensor &input, ir::Half which);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_BLOCKS_H
