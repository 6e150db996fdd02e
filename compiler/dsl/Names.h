//===- Names.h - What may be called what ------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DSL_NAMES_H
#define EIDER_DSL_NAMES_H

#include <string>
#include <string_view>

namespace eider::detail {

/// Why `name` cannot name an op, a dim, an argument or a value; empty when it can. Names become
/// identifiers of CUDA C++ and of the contract's expressions.
std::string problemOfName(std::string_view name);

/// What to do about it.
inline constexpr const char *remedyOfName =
    "use letters, digits and single underscores, starting with a letter, and no word of CUDA C++";

} // namespace eider::detail

#endif // EIDER_DSL_NAMES_H
