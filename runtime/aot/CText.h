//===- aot/CText.h - Pieces of a C text -------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_AOT_CTEXT_H
#define EIDER_RUNTIME_AOT_CTEXT_H

#include <set>
#include <string>
#include <vector>

namespace eider::aot {

/// The identifiers in a C text.
std::set<std::string> identifiersOf(const std::string &text);

/// ASCII letters in upper case.
std::string upperCase(std::string text);

/// `text` with each `@key@` of `values` replaced, in the order of the keys.
std::string filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>> &values);

/// `opening`, the parts with the separator after all but the last, `closing`: in lines of about a
/// hundred columns, aligned with the first part unless one is too long for that.
std::string wrapped(const std::string &opening, const std::vector<std::string> &parts,
                    const std::string &closing, const std::string &separator = ",");

/// A comment that divides a file.
std::string section(const std::string &title);

} // namespace eider::aot

#endif // EIDER_RUNTIME_AOT_CTEXT_H
