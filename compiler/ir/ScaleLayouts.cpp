//===- ScaleLayouts.cpp - Where the scales of a tensor lie ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/ScaleLayouts.h"

#include "compiler/ir/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace eider;
using namespace eider::ir;

/// The extent rounded up to a multiple.
static std::string roundedUp(const DimExpr &dim, int64_t multiple) {
  const DimExpr groups = dim.blocks(multiple);
  if (!groups.name)
    return std::to_string(groups.extent(0) * multiple);
  return groups.contractExpression() + " * " + std::to_string(multiple);
}

static std::string nameOf(Type scale) { return findElementType(scale)->name.str(); }

//===-- Shapes ------------------------------------------------------------===//

static std::vector<std::string> transposed(const ScaleGrid &grid) {
  return {grid.columns.contractExpression(), roundedUp(grid.rows, 4)};
}

static std::vector<std::string> packed(const ScaleGrid &grid) {
  return {grid.columns.blocks(4).contractExpression(), roundedUp(grid.rows, 4)};
}

static std::vector<std::string> tiled(const ScaleGrid &grid) {
  const DimExpr tiles = grid.columns.blocks(4);
  return {grid.rows.blocks(128).contractExpression(), tiles.name
                                                          ? tiles.contractExpression() + " * 512"
                                                          : std::to_string(512 * tiles.extent(0))};
}

/// Blocks of one row each are a GEMM's rows of activations, transposed; others are a weight's.
static std::vector<std::string> readyForGemm(const ScaleGrid &grid) {
  if (grid.rows.divisor == 1)
    return transposed(grid);
  return {grid.rows.contractExpression(), roundedUp(grid.columns, 4)};
}

//===-- What scales a layout has ------------------------------------------===//

static std::string nothing(const ScaleGrid &) { return ""; }

static std::string problemUnlessF32(const ScaleGrid &grid) {
  return grid.scale.isF32() ? ""
                            : "scale layout mn_major_aligned holds f32 scales, not " +
                                  nameOf(grid.scale) + "; take f32 scales, or row_major";
}

static std::string problemUnlessE8m0(const ScaleGrid &grid) {
  return isa<Float8E8M0FNUType>(grid.scale)
             ? ""
             : "scale layout packed_ue8m0 packs e8m0 scales, not " + nameOf(grid.scale) +
                   "; take e8m0 scales, or mn_major_aligned for f32";
}

static std::string problemUnlessByte(const ScaleGrid &grid) {
  return grid.scale.getIntOrFloatBitWidth() == 8
             ? ""
             : "scale layout swizzled_128x4 holds scales of one byte, not " + nameOf(grid.scale) +
                   "; take e8m0 scales, or mn_major_aligned for f32";
}

static std::string problemUnlessGemm(const ScaleGrid &grid) {
  if (!grid.scale.isF32())
    return "scale layout te_gemm_ready holds f32 scales, not " + nameOf(grid.scale) +
           "; take f32 scales, or swizzled_128x4 for e8m0";
  const std::pair<int64_t, int64_t> block = {grid.rows.divisor, grid.columns.divisor};
  const bool isWhole = grid.columns == DimExpr();
  if (block != std::pair<int64_t, int64_t>(1, 128) &&
      block != std::pair<int64_t, int64_t>(128, 128) &&
      (block != std::pair<int64_t, int64_t>(128, 1) || isWhole))
    return "scale layout te_gemm_ready is one of 1x128, 128x128 and 128x1 blocks; take one of "
           "these, or row_major";
  return "";
}

//===-- The table ---------------------------------------------------------===//

static constexpr ScaleLayoutInfo table[] = {
    {.layout = ScaleLayout::row_major,
     .name = "row_major",
     .text = "",
     .words = std::nullopt,
     .shape = nullptr,
     .problem = nothing},
    {.layout = ScaleLayout::mn_major_aligned,
     .name = "mn_major_aligned",
     .text = "MnMajorAligned",
     .words = std::nullopt,
     .shape = transposed,
     .problem = problemUnlessF32},
    {.layout = ScaleLayout::packed_ue8m0,
     .name = "packed_ue8m0",
     .text = "PackedUe8m0",
     .words = DType::i32,
     .shape = packed,
     .problem = problemUnlessE8m0},
    {.layout = ScaleLayout::swizzled_128x4,
     .name = "swizzled_128x4",
     .text = "Swizzled128x4",
     .words = std::nullopt,
     .shape = tiled,
     .problem = problemUnlessByte},
    {.layout = ScaleLayout::te_gemm_ready,
     .name = "te_gemm_ready",
     .text = "TeGemmReady",
     .words = std::nullopt,
     .shape = readyForGemm,
     .problem = problemUnlessGemm},
};

ArrayRef<ScaleLayoutInfo> ir::scaleLayouts() { return table; }

const ScaleLayoutInfo &ir::infoOf(ScaleLayout layout) {
  return *llvm::find_if(table, [&](const ScaleLayoutInfo &row) { return row.layout == layout; });
}

const ScaleLayoutInfo *ir::findScaleLayout(StringRef name) {
  const auto *row =
      llvm::find_if(table, [&](const ScaleLayoutInfo &row) { return row.name == name; });
  return row == std::end(table) ? nullptr : row;
}

std::string ir::namesOfScaleLayouts() {
  std::string names;
  for (const ScaleLayoutInfo &row : table)
    names += (names.empty() ? "" : ", ") + row.name.str();
  return names;
}

std::string ir::problemOfLayout(ScaleLayout layout, Type scale, ArrayRef<DimExpr> dims) {
  const ScaleLayoutInfo &info = infoOf(layout);
  if (layout == ScaleLayout::row_major)
    return "";
  if (dims.size() != 2)
    return "scale layout " + info.name.str() + " is one of a matrix, not of a tensor of rank " +
           std::to_string(dims.size()) + "; take row_major";
  return info.problem({scale, dims[0], dims[1]});
}

std::vector<std::string> ir::shapeInMemory(ScaleLayout layout, Type scale, ArrayRef<DimExpr> dims) {
  if (layout != ScaleLayout::row_major)
    return infoOf(layout).shape({scale, dims[0], dims[1]});
  std::vector<std::string> shape;
  for (const DimExpr &dim : dims)
    shape.push_back(dim.contractExpression());
  return shape;
}
