//===- LowerTranspose.cpp - Blocks that are transposed, as tiles ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ProgramLowering.h"

#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;
namespace simt = eider::simt;

/// The passes in which a block of so many bytes goes through shared memory. At once where the
/// target has room for two blocks of its grid beside each other, or for as many as are resident.
static int64_t passesOf(int64_t bytes, const Domain &domain, const ScheduleKnobs &knobs) {
  constexpr int64_t mostAtOnce = 64 * 1024, mostOfPass = 32 * 1024;
  const int64_t beside = std::max<int64_t>(knobs.resident, 2);
  int64_t passes = 1;
  if (bytes > mostAtOnce || beside * bytes > domain.sharedOfBlock)
    while (bytes / passes > mostOfPass)
      passes *= 2;
  return passes;
}

/// Elements go through shared memory; a value a tile is the same of both.
LogicalResult ProgramLowering::transpose(TransposeOp op) {
  const Level from = *domain.levelOf(op.getInput().getType());
  Value value = map.lookup(op.getInput());
  if (domain.isValueOfTile(from)) {
    map.map(op.getResult(), value);
    return success();
  }
  if (from.kind != LevelKind::elements || from.transposed)
    return op.emitError() << "transposes " << op.getInput().getType()
                          << ": only elements of the program's matrix are, and values of the "
                          << "blocks that it reduces";
  const unsigned bits = cast<VectorType>(value.getType()).getElementTypeBitWidth();
  const int64_t bytes = tile.getRows() * tile.getColumns() * bits / 8,
                passes = passesOf(bytes, domain, program.getScheduleAttr().getKnobs());
  // As templates/memory/transposition.cuh has it: one memory for blocks of a size.
  constexpr int64_t mostTogether = mostStaticShared - 1024;
  if (bytes / passes > mostStaticShared)
    kernel.setShared(std::max<int64_t>(kernel.getShared(), bytes / passes));
  else
    turnedSizes.insert(bytes / passes);
  if (std::accumulate(turnedSizes.begin(), turnedSizes.end(), int64_t(0)) > mostTogether)
    return op.emitError(
        "transposes values of types whose blocks do not fit shared memory together; "
        "transpose values of one type, or use smaller blocks");
  // Wide elements are sent as soon as they are there, before what the rows want of them: one matrix
  // alone, for the next would meet it on its way.
  const auto point = builder.saveInsertionPoint();
  if (bits == 32 && llvm::hasSingleElement(program.getOps<TransposeOp>()))
    builder.setInsertionPointAfterValue(value);
  auto turning = simt::BeginTransposeOp::create(
      builder, op.getLoc(), simt::TurningType::get(builder.getContext()), value, passes, cursor);
  builder.restoreInsertionPoint(point);
  auto turned =
      simt::EndTransposeOp::create(builder, op.getLoc(), value.getType(), turning.getResult());
  map.map(op.getResult(), turned.getResult());
  return success();
}

/// Whether blocks may go down the matrix: where rows of the transpose may share sectors of memory
/// with the tile below, which no other rows do, and are bytes, of which all this was measured. Not
/// where the next tile, which is the one beside it, is loaded ahead.
bool ProgramLowering::mayGoDown() {
  constexpr int64_t sector = 32;
  const bool isContiguous = variant == VariantKind::contiguous || isUneven(variant);
  if (!domain.transposes || !isContiguous || loop.getOnly() || tile.segments() == 1 ||
      domain.width % sector != 0 || tile.getRows() % sector != 0 ||
      program.getScheduleAttr().getKnobs().prefetch)
    return false;
  return llvm::all_of(loop.getBlock().getOps<simt::StoreOp>(), [&](simt::StoreOp store) {
    return store.getAt() != transposedCursor || store.getAccess() != simt::Access::elements ||
           getElementTypeOrSelf(store.getValue()).getIntOrFloatBitWidth() == 8;
  });
}
