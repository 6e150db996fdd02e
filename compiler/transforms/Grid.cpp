//===- Grid.cpp - Extents, and how many blocks a launch has ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ProgramLowering.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// ceil(factor · name / divisor): the kernel's rows, or those that an index chooses from.
Value ProgramLowering::extentOf(const DimExpr &dim) {
  int64_t extent = dim.extent(dim.name ? program.getDimValue(dim.name) : 0);
  if (!ShapedType::isDynamic(extent))
    return i64(extent);
  Value count = dims.lookup(dim.name);
  if (dim.factor != 1)
    count = arith::MulIOp::create(builder, program.getLoc(), count, i64(dim.factor));
  if (dim.divisor != 1) {
    count = arith::AddIOp::create(builder, program.getLoc(), count, i64(dim.divisor - 1));
    count = arith::DivSIOp::create(builder, program.getLoc(), count, i64(dim.divisor));
  }
  return count;
}

/// Blocks that keep every multiprocessor of today's GPUs busy.
static constexpr int64_t busyBlocks = 1024;

/// Blocks that count themselves (templates/reduce/arrivals.cuh).
static constexpr int64_t mostCounted = 65535;

/// Whether the grid is as many blocks as tiles. Of few rows there never are more tiles than a grid
/// may have blocks, and no block turns to another tile: to find out took a few per cent of them.
bool ProgramLowering::hasBlockPerTile() {
  if (isCooperative())
    return true;
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  const bool hasOtherGrid =
      domain.reducesWhole || domain.writesWhole || domain.rowGroups || domain.products;
  constexpr int64_t mostTiles = 1 << 24;
  return mostRows > 0 && !hasOtherGrid && !knobs.combine && !knobs.blocks && knobs.tiles <= 1 &&
         !knobs.prefetch && domain.rows.factor * mostRows <= mostTiles / tile.segments();
}

std::string ProgramLowering::gridExpression() {
  if (domain.width == 0)
    return "0";
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  if (domain.attends)
    return gridOfAttention();
  if (domain.prefills)
    return gridOfPrefill();
  if (domain.reducesWhole && !knobs.cooperative)
    return std::to_string(knobs.blocks); // Each leaves a part, whether it had a tile or not.
  int64_t across = tile.segments();
  std::string rows = domain.rows.contractExpression();
  if ((domain.writesWhole || knobs.combine) && !knobs.cooperative)
    rows = "max(1, " + rows + ")";
  const std::string tilesBelow =
      "ceildiv(" + rows + ", " + std::to_string(tile.rowsOfCluster()) + ")";
  if (domain.rowGroups) // The last of each, and of rows in none, may be partial.
    rows = "min(" + rows + ", " + tilesBelow + " + " + std::to_string(domain.rowGroups) + ")";
  else if (tile.rowsOfCluster() > 1)
    rows = tilesBelow;
  if (across > 1)
    rows = "(" + rows + ") * " + std::to_string(across);
  if (knobs.cooperative)
    return rows; // as many as tiles, of which no launch has more than run at once
  const int64_t cluster = tile.getCluster() * tile.getParts(); // `rows` counts these from here on
  if (knobs.blocks)
    rows = "min(" + rows + ", " + std::to_string(knobs.blocks / cluster) + ")";
  if (int64_t tiles = knobs.tiles; tiles > 1)
    // Few tiles are a block each: several in turn would leave multiprocessors idle.
    rows = "max(ceildiv(" + rows + ", " + std::to_string(tiles) + "), min(" + rows + ", " +
           std::to_string(busyBlocks / cluster) + "))";
  const int64_t most = knobs.combine ? mostCounted : 2147483647;
  const std::string blocks = "min(" + rows + ", " + std::to_string(most / cluster) + ")";
  return cluster > 1 ? blocks + " * " + std::to_string(cluster) : blocks;
}
