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

#include <limits>

namespace eider::ir {

/// ceil(factor · name / divisor); a constant ceil(factor / divisor) without a name.
struct DimExpr {
  mlir::StringAttr name;
  int64_t factor = 1;
  int64_t divisor = 1;

  bool operator==(const DimExpr &) const = default;

  /// The extent for a value of `name` (kDynamic gives kDynamic); tooLarge where factor · value is
  /// beyond 64 bits, which eider.program refuses.
  int64_t extent(int64_t value) const {
    int64_t product = factor;
    if (name && mlir::ShapedType::isDynamic(value))
      return value;
    if (name && __builtin_mul_overflow(factor, value, &product))
      return tooLarge;
    return product / divisor + (product % divisor != 0);
  }
  static constexpr int64_t tooLarge = std::numeric_limits<int64_t>::max();
  bool isOne() const { return !name && factor == divisor; }
  /// One value for each `block` of this dim (kDynamic: for the whole of it). A block beyond 64 bits
  /// holds no more than the largest block does: everything.
  DimExpr blocks(int64_t block) const {
    if (mlir::ShapedType::isDynamic(block))
      return {nullptr, 1, 1};
    int64_t whole = 0;
    if (__builtin_mul_overflow(divisor, block, &whole))
      whole = std::numeric_limits<int64_t>::max();
    return {name, factor, whole};
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
