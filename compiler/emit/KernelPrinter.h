//===- KernelPrinter.h - The text of one kernel -----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMIT_KERNELPRINTER_H
#define EIDER_EMIT_KERNELPRINTER_H

#include "compiler/emit/Names.h"
#include "compiler/emit/Operators.h"
#include "compiler/emit/Pieces.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace eider::text {

struct Expression {
  std::string text;
  Binding binding = Primary;
  /// The text where at least `needed` is asked.
  std::string at(Binding needed) const { return binding < needed ? "(" + text + ")" : text; }
};

inline mlir::StringRef elementName(mlir::Type type) {
  return eider::ir::findElementType(mlir::getElementTypeOrSelf(type))->text();
}

/// The alias of a format's codec in a kernel: a kernel has one path a format.
inline std::string codecAlias(mlir::Type element) {
  return eider::ir::findElementType(element)->codec();
}

/// One kernel.
class KernelPrinter {
public:
  KernelPrinter(simt::KernelOp kernel, llvm::raw_ostream &os) : kernel(kernel), os(os) {}
  mlir::LogicalResult print();

private:
  simt::KernelOp kernel;
  llvm::raw_ostream &os;
  Names names;
  llvm::DenseMap<mlir::Value, Expression> expressions;
  llvm::DenseMap<mlir::Value, std::string>
      carried;                                 ///< of loads ahead: the variable that keeps them
  std::map<std::string, std::string> products; ///< types of products and of parts: their aliases
  TileNames words;                             ///< Of the loop that is printed.
  std::string indent = "  ";

  void printComment(llvm::StringRef text);
  void printStatement(llvm::StringRef statement);
  void printSignature();
  void printTile(simt::TileAttr tile);
  void printCodecs();
  void printProducts();
  void printAttention();
  mlir::LogicalResult printLoop(simt::ForTilesOp loop);
  void printCarried(simt::ForTilesOp loop);
  mlir::LogicalResult printOp(mlir::Operation &op);
  mlir::FailureOr<Expression> expressionOf(mlir::Operation &op);
  Expression loadText(simt::LoadOp op);
  std::string storeText(simt::StoreOp op);
  Expression reduceText(simt::ReduceOp op);
  Expression rowsAheadText(simt::RowsAheadOp op);
  Expression encodeText(simt::EncodeOp op);
  Expression productText(simt::ContractOp op);
  mlir::FailureOr<std::string> printScore(mlir::Region &score, mlir::ValueRange captured);
  std::string queriesText(mlir::Value queries, const std::string &score);
  mlir::FailureOr<std::string> attendText(simt::AttendOp op);
  mlir::FailureOr<std::string> attendRowsText(simt::AttendRowsOp op);
  template <class Op>
  std::string attendCall(llvm::StringRef method, Op op, int64_t scales,
                         llvm::ArrayRef<std::string> arguments, bool isApart = false);
  Expression layoutText(simt::ScaleLayoutOp op);
  mlir::FailureOr<Expression> arithmeticText(mlir::Operation &op);
  std::string derivedName(mlir::Operation &op);
  bool standsAlone(mlir::Operation &op, const Expression &expression);
  Expression operand(mlir::Value value, bool fragmentNeeded = false);
  std::string tileText(mlir::Value at);
  std::string callOnTile(mlir::Value at, const llvm::Twine &method,
                         llvm::ArrayRef<std::string> parameters,
                         llvm::ArrayRef<std::string> arguments);
};

/// The type that knows the parts of attention, of what leaves or combines them.
template <class Op> std::string partsTypeOf(Op op) {
  return partsType(op.getHeads(), op.getKvHeads(), op.getValueDim(), op.getPlaces(), op.getTiles());
}

} // namespace eider::text

#endif // EIDER_EMIT_KERNELPRINTER_H
