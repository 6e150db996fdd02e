//===- ProgramLowering.h - A program on its way to a kernel -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_PROGRAMLOWERING_H
#define EIDER_TRANSFORMS_PROGRAMLOWERING_H

#include "compiler/ir/Simt.h"
#include "compiler/transforms/Domain.h"
#include "compiler/transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>
#include <set>

namespace eider::transforms {

using namespace mlir;
using namespace eider::ir;

/// One program on its way to a kernel.
class ProgramLowering {
public:
  /// `mostRows`: of launches that the variant serves; 0: any number.
  ProgramLowering(ProgramOp program, Domain domain, simt::TileAttr tile, VariantKind variant,
                  int64_t mostRows);

  LogicalResult run();

private:
  ProgramOp program;
  Domain domain;
  simt::TileAttr tile;
  VariantKind variant;
  int64_t mostRows;
  OpBuilder builder;
  simt::KernelOp kernel;
  simt::ForTilesOp loop;
  IRMapping map; ///< tensor values to what a thread holds of them
  llvm::StringMap<Value> pointers, strides, dims;
  llvm::StringMap<SmallVector<Value>> pitches; ///< Strides of all axes but the last.
  llvm::StringMap<Value> layouts;              ///< of scales that lie otherwise than row by row
  llvm::StringMap<int64_t> alignments;
  DenseMap<Operation *, Value> gridStates; ///< of reductions for which all blocks meet, or count
  Value parts, arrivals; ///< what blocks leave to the last of them, and where they count
  Value cursor;
  Value transposedCursor;        ///< Null where no value is of the transposed matrix.
  std::set<int64_t> turnedSizes; ///< Bytes of shared memory, of what is transposed.

  bool isStrided() const { return transforms::isStrided(variant); }
  /// The bytes on which rows of so many begin, up to 16; of one element in the general variant.
  int64_t alignmentOf(int64_t bytesOfRow, int64_t bytesOfElement) const {
    return variant == VariantKind::general ? bytesOfElement : std::gcd<int64_t>(16, bytesOfRow);
  }
  /// Whether rows of codes come two by two, through shared memory, to blocks that stay.
  bool comesAhead() {
    return tile.getKind() == simt::TileKind::rows &&
           program.getScheduleAttr().getKnobs().prefetch > 1;
  }
  bool isCooperative() { return program.getScheduleAttr().getKnobs().cooperative != 0; }
  Type heldType(Type tensor) const;
  void addArguments();
  void addGridStates(function_ref<Value(const Twine &, Type, const Twine &)> addArgument);
  Value extentOf(const DimExpr &dim);
  std::string gridExpression();
  bool hasBlockPerTile();
  bool mayGoDown();
  std::string gridOfAttention();
  SmallVector<Value> pitchesWithoutPages(ir::AttentionOp op, const Attention &it);
  std::string gridOfPrefill();
  Value firstTile();
  SmallVector<Attribute> header();

  void createKernel();
  void setAlignments();
  LogicalResult lower(Operation &op);
  LogicalResult load(Operation &op);
  LogicalResult loadHalf(HalfOp op);
  LogicalResult store(Operation &op);
  LogicalResult elementwise(Operation &op);
  LogicalResult broadcast(BroadcastOp op);
  LogicalResult reduce(ReduceOp op);
  int64_t alignmentOfRows(llvm::StringRef name, mlir::RankedTensorType type);
  LogicalResult multiply(ContractOp op);
  LogicalResult contract(ContractOp op);
  int64_t alignAttended(mlir::ValueRange values, SmallVectorImpl<Value> &apart);
  SmallVector<Value> capturedOf(mlir::ValueRange values, Region &score);
  LogicalResult lowerScore(Region &from, Region &to);
  void addParts(function_ref<Value(const Twine &, Type, const Twine &)> addArgument);
  LogicalResult attend();
  LogicalResult attendRows();
  LogicalResult combineAttention(InputOp op);
  /// The factors of a product that is summed, which need no rounding of its own; else the value.
  std::pair<Value, Value> summed(ReduceOp op);
  void reduceColumns(ReduceOp op);
  ReduceOp reducedAlready(ReduceOp op);
  LogicalResult reduceWhole(ReduceOp op);
  void reduceGrid(ReduceOp op);
  LogicalResult combineParts(InputOp op);
  void storeUniform(OutputOp op);
  void storeAt(Operation &op, Value tile, Value layout = {});
  LogicalResult transpose(TransposeOp op);
  void encode(EncodeOp op);
  template <class Function, class Op> LogicalResult function(Op op);
  LogicalResult random(RandomOp op);

  // LowerIndices.cpp
  bool lowerIndex(Operation &op, LogicalResult &result);
  LogicalResult position(PositionOp op);
  LogicalResult gather(GatherOp op);
  void column(ColumnOp op);
  void repeat(RepeatOp op);
  LogicalResult scatter(ScatterOp op);
  Value rowChosen(Value index, DimExpr rows);

  /// Where and how a tensor's level is accessed.
  struct Place {
    simt::Access access;
    int64_t group = 0, groupRows = 1;
    Value pitch = {};
    int64_t alignment = 16;
  };
  Place placeOf(StringRef name, Type type, Level level);
  Value layoutOf(Operation &op, Type type, Level level);
  void clearPadding(OutputOp op);
  Value at(const Level &level) const { return level.transposed ? transposedCursor : cursor; }
  Value pitchOfTranspose(const Level &level);
  Value columnsOfBlocks(const Level &level);
  Value i64(int64_t value) {
    return arith::ConstantOp::create(builder, program.getLoc(), builder.getI64IntegerAttr(value));
  }
};

/// In variants of rows that lie apart: warpgroups read contiguous ones that begin on 16 bytes.
void leaveWarpgroups(ProgramOp program, const Domain &domain);

/// Rows that begin anywhere are loaded where they are multiplied.
void leaveAhead(ProgramOp program);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_PROGRAMLOWERING_H
