//===- ElementTypes.h - The element types of tensors ------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// One row a type: whatever the compiler must know of a format stands in it.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_IR_ELEMENTTYPES_H
#define EIDER_IR_ELEMENTTYPES_H

#include "eider/dtype.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace eider::ir {

/// The conversion instructions of GPUs, by what they convert to and from floats.
enum class Instructions { none, fp8, fp4 };

struct ElementType {
  DType dtype;
  mlir::Type (*get)(mlir::MLIRContext *);
  llvm::StringLiteral name; ///< On the command line.
  bool isValue = false;     ///< Of the tensors that are computed with.
  bool isCode = false;      ///< Of the codes of a scaled tensor,
  bool isScale = false;     ///< and of its scales.
  bool isIndex = false;     ///< Of positions, and of what chooses rows.
  bool isTwoLevel = false; ///< Scales of the type are multiplied with one f32 for the whole tensor.
  Instructions instructions = Instructions::none;

  /// Its name in the emitted text.
  llvm::StringRef text() const;
  /// What the emitted text calls its codec: `E4m3`.
  std::string codec() const;
};

llvm::ArrayRef<ElementType> elementTypes();

/// The row of a type, null for one that no tensor has.
const ElementType *findElementType(mlir::Type type);
const ElementType *findElementType(DType type);

/// Whether the emitted text calls a type or a codec so.
bool isWordOfText(llvm::StringRef word);

/// Whether a type is that of values (f32, bf16, f16), codes, scales, indices (i32, i64).
bool isValueType(mlir::Type type);
bool isCodeType(mlir::Type type);
bool isScaleType(mlir::Type type);
bool isIndexType(mlir::Type type);
/// Whether scales of the type are the lower of two levels.
bool isTwoLevelType(mlir::Type type);

/// Elements in one unit of memory: `packingOf` of the type's DType.
int64_t packingOf(mlir::Type type);

/// The names of the types that a tensor has in a use: `namesOfTypes(&ElementType::isCode)` is
/// `e4m3, e5m2, …`.
std::string namesOfTypes(bool ElementType::*use);

/// The largest finite value of a float type, exact in f32.
float largestOf(mlir::Type type);

} // namespace eider::ir

#endif // EIDER_IR_ELEMENTTYPES_H
