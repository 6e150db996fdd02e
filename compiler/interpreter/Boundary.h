//===- Boundary.h - Tensors in memory and a program's dims ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_BOUNDARY_H
#define EIDER_INTERPRETER_BOUNDARY_H

#include "compiler/interpreter/ScaleMemory.h"
#include "eider/compile.h"

#include <map>
#include <string>

namespace eider::interpreter {

/// The values of a program's dims: those it fixes, the others from the shapes of the tensors that
/// it is given. Throws Error when a tensor is missing, misshapen or of another dtype, or when two
/// disagree about a dim.
class Boundary {
public:
  Boundary(ir::ProgramOp program, const std::vector<HostTensor> &given);

  /// The extents of a tensor type of the program. Throws Error for a dim that no input tells.
  Extents extentsOf(mlir::Type type) const;
  Extents extentsInMemory(mlir::RankedTensorType type) const;

  /// ceil(factor · name / divisor).
  int64_t extentOf(const ir::DimExpr &dim) const;

  /// The given tensor of this name, as it is, as values (scales in the order of their blocks,
  /// wherever they lay) or as codes.
  const HostTensor &tensor(const std::string &name) const { return *tensors.at(name); }
  Tensor floats(const std::string &name) const;
  std::vector<uint8_t> codes(const std::string &name) const;

  /// The name of the program, for errors.
  const std::string &where() const { return where_; }

private:
  /// What a tensor must be.
  struct Expected {
    mlir::RankedTensorType type;
    ScalePlacement placement;
  };
  void take(const std::string &name, mlir::RankedTensorType type, ScaleLayout layout);
  void learnDim(const std::string &tensor, const ir::DimExpr &dim, int64_t extent);
  void checkShape(const std::string &name, const Expected &expected) const;
  Extents extentsOf(llvm::ArrayRef<ir::DimExpr> dims) const;

  std::string where_;
  std::map<std::string, const HostTensor *> tensors;
  std::map<std::string, Expected> types;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::string> sources; ///< Which tensor told a dim.
};

/// Where scales of this type lie in a layout.
ScalePlacement placementOf(mlir::RankedTensorType scales, ScaleLayout layout);

/// The values of a float tensor in memory. Throws Error when its bytes are not as many as its shape
/// says.
Tensor fromHost(const HostTensor &tensor, const std::string &where);

/// The tensor as bytes of its dtype.
HostTensor toHost(const std::string &name, const Tensor &tensor);
HostTensor toHost(const std::string &name, const CodeTensor &codes);

/// The extents of a tensor of codes in memory, where some formats are packed along the rows.
Extents extentsInMemory(DType format, Extents shape);

/// The codes in memory, one of each element.
std::vector<uint8_t> codesOf(const HostTensor &tensor);

/// The tensor `name` of a list, or null.
const HostTensor *findTensor(const std::vector<HostTensor> &tensors, const std::string &name);

/// `f32 [4, 128]`.
std::string describe(DType dtype, const Extents &shape);

/// Throws Error unless dtype, shape and number of bytes are these.
void requireTensor(const HostTensor &tensor, DType dtype, const Extents &shape,
                   const std::string &where);

/// The dtype of a float or code type of the dialect.
DType elementDType(mlir::Type element);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_BOUNDARY_H
