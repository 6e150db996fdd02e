//===- Recording.h - The module that a Builder writes -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The DSL's functions check their operands here, with errors in the user's words, and only then
// create ops: a recorded program always verifies.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DSL_RECORDING_H
#define EIDER_DSL_RECORDING_H

#include "compiler/ir/Eider.h"
#include "eider/dsl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

namespace eider::detail {

using Extents = llvm::SmallVector<ir::DimExpr, 2>;

/// A call of a DSL function: which, where, in which recording (none if not yet known). Makes its
/// errors.
struct Site {
  std::string function;
  std::source_location where;
  Recording *recording = nullptr;

  /// `op (file.cpp:12)`.
  std::string place() const;
  [[noreturn]] void fail(const std::string &what, const std::string &remedy) const;
};

class Recording : public std::enable_shared_from_this<Recording> {
public:
  /// `name` must be checked already.
  explicit Recording(const std::string &name);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ir::ProgramOp program;
  mlir::OpBuilder builder;
  mlir::Location unknown;

  //===-- Handles ---------------------------------------------------------===//

  Value wrap(mlir::Value value);
  Scaled wrap(mlir::Value value, const Block &block);

  /// The recording of the operands; fails when a value is empty, when they are of two Builders, or
  /// all numbers.
  static Site enter(const char *function, std::initializer_list<const Operand *> operands);
  static Site enter(const char *function, const Scaled &value, std::source_location where);

  /// The value of an operand as it is, which may be an integer; numbers become f32 constants.
  mlir::Value recorded(const Operand &operand, const Site &site);
  /// The same, but fails for an integer.
  mlir::Value plain(const Operand &operand, const Site &site);
  /// The value of an operand, widened to f32. Fails for an index.
  mlir::Value f32(const Operand &operand, const Site &site);
  /// Whether an operand is an index; a number may stand for one, too.
  static bool isIndex(const Operand &operand);
  /// The value of an index, widened to i64. Fails for anything else, but integers.
  mlir::Value index(const Operand &operand, const Site &site);
  /// An f32 constant; each is recorded once.
  mlir::Value constant(double number, const Site &site);
  mlir::Value scaled(const Scaled &value) const;
  /// The operands of a comparison, and its predicate.
  static const Operand &left(const Mask &mask) { return mask.left_; }
  static const Operand &right(const Mask &mask) { return mask.right_; }
  static mlir::arith::CmpFPredicate predicate(const Mask &mask);
  static mlir::arith::CmpIPredicate indexPredicate(const Mask &mask);
  static std::source_location whereOf(const Operand &operand) { return operand.where_; }
  static bool isEmpty(const Value &value) { return !value.recording_; }

  //===-- Functions -------------------------------------------------------===//

  /// A region for a function's body. It lives as long as the recording: handles of its values do.
  mlir::Region &addFunction();
  /// While it lives, what is recorded goes to a function's block, constants and widened values too.
  class Inside {
  public:
    Inside(Recording &recording, mlir::Block &block);
    ~Inside();
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

  private:
    Recording &recording;
    mlir::OpBuilder::InsertionGuard guard;
    llvm::DenseMap<uint32_t, mlir::Value> constants;
    llvm::DenseMap<mlir::Value, mlir::Value> wide;
  };

  //===-- Types and shapes ------------------------------------------------===//

  /// The dims of a type; none for a scalar.
  static Extents extentsOf(mlir::Type type);
  /// Checks that the dims are of this program, and the rank.
  Extents extentsOf(const Shape &shape, const Site &site, size_t mostDims = 2) const;
  Shape shapeOf(mlir::Type type) const;
  mlir::RankedTensorType tensorType(llvm::ArrayRef<ir::DimExpr> extents, mlir::Type element);
  mlir::Type elementType(DType type, const Site &site, const char *forWhat);
  /// The type of `value`, which stays, rounded to `type` where that is given.
  mlir::Value stored(mlir::Value value, std::optional<DType> type, const Site &site);
  /// The type of a scaled tensor. Fails when codes, scales, layout or block are not possible.
  ir::ScaledType scaledType(DType format, DType scale, ScaleLayout layout,
                            llvm::ArrayRef<ir::DimExpr> extents, const Block &block,
                            const Site &site);
  /// A layout of plain scales; null for row_major. Fails when they cannot have it.
  ir::LayoutAttr layoutAttr(ScaleLayout layout, mlir::RankedTensorType scales, const Site &site);
  /// Checks the block against a tensor's rank; `whole` becomes ShapedType::kDynamic.
  static llvm::SmallVector<int64_t> blockOf(const Block &block, llvm::ArrayRef<ir::DimExpr> extents,
                                            const Site &site);
  /// The shape over which both repeat; fails when there is none.
  static Extents common(const Extents &left, const Extents &right, const Site &site);
  /// `value` repeated over `extents`, to which it must broadcast.
  mlir::Value broadcast(mlir::Value value, const Extents &extents);
  /// `value` (f32) in `element`, nearest even.
  mlir::Value narrowed(mlir::Value value, mlir::Type element);
  /// `value` in f32.
  mlir::Value widened(mlir::Value value);

  //===-- Names -----------------------------------------------------------===//

  /// Fails when `name` is no name, or taken; takes it.
  void takeName(const std::string &name, const Site &site);

private:
  llvm::StringSet<> names;
  llvm::DenseMap<uint32_t, mlir::Value> constants;
  llvm::DenseMap<mlir::Value, mlir::Value> wide;
  std::vector<std::unique_ptr<mlir::Region>> functions;
};

/// `[tokens, 2 * hidden]`.
std::string textOf(llvm::ArrayRef<ir::DimExpr> extents);

} // namespace eider::detail

#endif // EIDER_DSL_RECORDING_H
