//===- ScaleLayouts.h - Where the scales of a tensor lie --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// One row a layout: whatever the compiler must know of it stands there. How a scale's place is
// computed stands in the layout's file in templates/layouts/, and nowhere else.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_IR_SCALELAYOUTS_H
#define EIDER_IR_SCALELAYOUTS_H

#include "compiler/ir/DimExpr.h"
#include "eider/dtype.h"
#include "eider/scale_layout.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace eider::ir {

/// The scales of a matrix: their type, how many rows and columns of them there are (of which the
/// divisors say how large a block is).
struct ScaleGrid {
  mlir::Type scale;
  DimExpr rows, columns;
};

struct ScaleLayoutInfo {
  ScaleLayout layout;
  llvm::StringLiteral name;
  llvm::StringLiteral text;   ///< Its type in the emitted text; empty: a pitch says all.
  std::optional<DType> words; ///< What the memory is of, if not of the scales' type.
  /// The memory's extents, as expressions of a kernel's contract.
  std::vector<std::string> (*shape)(const ScaleGrid &grid);
  /// Why it cannot have these scales: what is wrong; what to take. Empty if it can.
  std::string (*problem)(const ScaleGrid &grid);
};

llvm::ArrayRef<ScaleLayoutInfo> scaleLayouts();

const ScaleLayoutInfo &infoOf(ScaleLayout layout);

/// Null where no layout is called so.
const ScaleLayoutInfo *findScaleLayout(llvm::StringRef name);

/// `row_major, mn_major_aligned, …`
std::string namesOfScaleLayouts();

/// Why a tensor's scales cannot have a layout: what is wrong and, after a semicolon, what to take;
/// empty if they can. `dims`: of the scales, one an axis.
std::string problemOfLayout(ScaleLayout layout, mlir::Type scale, llvm::ArrayRef<DimExpr> dims);

/// The extents in memory of scales in a layout, as expressions of a kernel's contract.
std::vector<std::string> shapeInMemory(ScaleLayout layout, mlir::Type scale,
                                       llvm::ArrayRef<DimExpr> dims);

} // namespace eider::ir

#endif // EIDER_IR_SCALELAYOUTS_H
