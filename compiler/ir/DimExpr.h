//===- DimExpr.h - Parameters of the dialect's attributes -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_IR_DIMEXPR_H
#define EIDER_IR_DIMEXPR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/bit.h"

namespace eider::ir {

/// ceil(factor · name / divisor); a constant ceil(factor / divisor) without a name.
struct DimExpr {
  mlir::StringAttr name;
  int64_t factor = 1;
  int64_t divisor = 1;

  bool operator==(const DimExpr &) const = default;

  /// The extent for a value of `name` (kDynamic gives kDynamic).
  int64_t extent(int64_t value) const {
    if (!name)
      return (factor + divisor - 1) / divisor;
    if (mlir::ShapedType::isDynamic(value))
      return value;
    return (factor * value + divisor - 1) / divisor;
  }
  bool isOne() const { return !name && factor == divisor; }
  /// One value for each `block` of this dim (kDynamic: for the whole of it).
  DimExpr blocks(int64_t block) const {
    if (mlir::ShapedType::isDynamic(block))
      return {nullptr, 1, 1};
    return {name, factor, divisor * block};
  }
  /// `2 * hidden`, `hidden / 128`, `56`.
  std::string str() const;
  /// As an expression of a kernel's contract: `ceildiv(hidden, 128)`.
  std::string contractExpression() const;
};

inline llvm::hash_code hash_value(const DimExpr &dim) {
  return llvm::hash_combine(dim.name.getAsOpaquePointer(), dim.factor, dim.divisor);
}

/// A float parameter of an attribute: hashable, which a plain float is not.
struct Bound {
  float value = 0;
  Bound(float value = 0) : value(value) {}
  operator float() const { return value; }
};

inline llvm::hash_code hash_value(const Bound &bound) {
  return llvm::hash_value(llvm::bit_cast<uint32_t>(bound.value));
}

} // namespace eider::ir

#endif // EIDER_IR_DIMEXPR_H
