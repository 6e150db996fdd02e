//===- Names.h - Variable names of the text ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMIT_NAMES_H
#define EIDER_EMIT_NAMES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace eider::text {

/// `name` as a variable of the text: other characters become `_`, reserved words get one appended.
std::string identifier(llvm::StringRef name);

/// `name` as a kernel of the text, which moreover is called nothing that the toolkit declares.
std::string kernelName(llvm::StringRef name);

/// Text for a comment: one line, nothing that could end or continue it.
std::string commentText(llvm::StringRef text);

/// Hands out each name once: `scale`, `scale_2`, …
class Names {
public:
  std::string fresh(llvm::StringRef wanted);

private:
  llvm::StringSet<> taken;
};

} // namespace eider::text

#endif // EIDER_EMIT_NAMES_H
