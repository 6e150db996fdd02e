//===- Eider.h - The eider dialect ------------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_IR_EIDER_H
#define EIDER_IR_EIDER_H

#include "compiler/ir/DimExpr.h"
#include "compiler/ir/ElementTypes.h"
#include "compiler/ir/ScaleLayouts.h"
#include "compiler/ir/ScheduleKnobs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/ir/EiderDialect.h.inc"
#include "compiler/ir/EiderEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/EiderAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/EiderTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/EiderOps.h.inc"

namespace eider::ir {

/// The tensor type with these dims as encoding; shape from the dims' values in `program` (dynamic
/// without one).
mlir::RankedTensorType tensorType(DimsAttr dims, mlir::Type elementType, ProgramOp program);

/// The dims of a tensor or scaled type; null if it has none.
DimsAttr dimsOf(mlir::Type type);

/// The layout of an argument or result: `row_major` unless it says another.
inline ScaleLayout layoutOf(LayoutAttr attr) {
  return attr ? attr.getValue() : ScaleLayout::row_major;
}

/// The type of what a caller gives to an input, an in-out or a scatter (of whose value the codes);
/// null for other ops.
mlir::Type givenType(mlir::Operation &op);

/// Whether a scatter's value is scaled and its scales go with it: unless they were given.
bool storesScales(ScatterOp op);
/// The tensor that they go into.
mlir::RankedTensorType scalesInto(ScatterOp op);

/// The extents of a tensor in memory: its dims, but the last in units where elements are packed.
llvm::SmallVector<DimExpr> dimsInMemory(mlir::RankedTensorType type);

/// Whether a tensor is one value: all of its dims are 1.
bool isOneValue(mlir::RankedTensorType type);

/// Why the scales of a quantisation, computed from amax and stored in `scaleType`, cannot have
/// these numerics: what is wrong and, after a semicolon, what to take; empty if they can.
std::string problemOfNumerics(NumericsAttr numerics, mlir::Type scaleType);

/// The integer by which stochastic rounding to a format rounds an element: twice a code's bits.
mlir::Type drawTypeOf(mlir::Type format);

/// The type that a reduction over `block` gives.
mlir::RankedTensorType reducedType(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> block);

/// What a score function is given before what it captures: the score, the positions of query and
/// key, and the query's head.
inline constexpr const char *scoreArgumentNames[] = {"score", "query", "key", "head"};
constexpr unsigned scoreArguments = std::size(scoreArgumentNames);

/// Whether a region is a score function: of f32 alone, which it is given and yields.
mlir::LogicalResult verifyScore(mlir::Operation *op, mlir::Region &score,
                                mlir::ValueRange captured);

/// Whether softmax takes other scores than q · k / √d.
bool changesScores(mlir::Region &score);

/// Whether an op computes numbers of numbers, as a score function may.
bool isElementwise(mlir::Operation &op);

/// The type of a matrix with rows and columns exchanged.
mlir::RankedTensorType transposedType(mlir::RankedTensorType type);

} // namespace eider::ir

#endif // EIDER_IR_EIDER_H
