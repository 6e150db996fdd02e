//===- Names.cpp - What may be called what --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Names.h"

#include "compiler/ir/ElementTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

/// Keywords of C++20, words of the emitted text but for its element types (docs/design/text.md) and
/// the functions of the contract's expressions.
static const llvm::StringSet<> &reservedWords() {
  static const llvm::StringSet<> words = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char8_t",
                                          "char16_t",
                                          "char32_t",
                                          "class",
                                          "compl",
                                          "concept",
                                          "const",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "const_cast",
                                          "continue",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq",
                                          "int32",
                                          "int64",
                                          "uint32",
                                          "uint64",
                                          "eider",
                                          "std",
                                          "main",
                                          "ceildiv",
                                          "min",
                                          "max",
                                          "dynamic_cast",
                                          "static_cast",
                                          "NULL",
                                          "thread_local",
                                          "static_assert",
                                          "reinterpret_cast"};
  return words;
}

std::string eider::detail::problemOfName(std::string_view name) {
  std::string quoted = "'" + std::string(name.substr(0, 64)) + "'";
  if (name.empty())
    return "a name is empty";
  if (name.size() > 64)
    return "the name " + quoted + "… is longer than 64 characters";
  bool plain = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!plain || !llvm::isAlpha(name[0]) || name.find("__") != std::string_view::npos)
    return "the name " + quoted + " is not an identifier";
  const llvm::StringRef word(name.data(), name.size());
  if (reservedWords().contains(word) || ir::isWordOfText(word))
    return "the name " + quoted + " is a word of CUDA C++ or of Eider";
  return "";
}
