//===- Pieces.h - Literals, calls, types and lines of the text --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMIT_PIECES_H
#define EIDER_EMIT_PIECES_H

#include "compiler/ir/Simt.h"
#include "llvm/ADT/APFloat.h"

#include <optional>
#include <string>

namespace eider::text {

/// What a tile is called in the text.
struct TileNames {
  std::string alias, cursor, templateName;
  std::string elements = "_row", columns = "_row"; ///< Ends of what is loaded.
};
TileNames namesOf(simt::TileAttr tile);

/// The shortest text that reads back as this f32; of an infinity the function that is it.
std::string floatLiteral(const llvm::APFloat &value);

/// `method<parameters>(arguments)`.
std::string callOf(const llvm::Twine &method, llvm::ArrayRef<std::string> parameters,
                   llvm::ArrayRef<std::string> arguments);

/// Template parameters of an access, as far as they differ from the defaults.
llvm::SmallVector<std::string> accessParameters(simt::Access access, int64_t alignment,
                                                int64_t group, int64_t groupRows, bool streaming);

/// The member of a tile that makes an access: `load`, `store_groups`.
std::string methodOf(llvm::StringRef verb, simt::Access access);

/// Template parameters of a tile's type, each with its name, as far as they differ from the
/// defaults.
llvm::SmallVector<std::string> tileParameters(simt::TileAttr tile);

/// The type that multiplies two matrices.
std::string productType(simt::ContractOp op, llvm::StringRef tile);

/// The type that knows the parts of attention.
std::string partsType(int64_t heads, int64_t kvHeads, int64_t valueDim, int64_t places,
                      int64_t tiles);

/// The type that leaves those over a cache.
std::string decodeType(simt::AttendOp op, const std::string &parts);

/// The type that attends of a sequence over itself.
std::string prefillType(simt::AttendRowsOp op);

/// Whether the kernel writes the tensor; the others are const.
bool isWritten(mlir::Value pointer);

/// Where the next line of a statement begins: after the operator or comma that binds least, in the
/// fewest parentheses, else after a parenthesis that opens; of those the last within `room`
/// columns. Nothing if there is none.
std::optional<size_t> breakOf(llvm::StringRef statement, size_t room);

} // namespace eider::text

#endif // EIDER_EMIT_PIECES_H
