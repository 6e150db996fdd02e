//===- Purity.h - Whether a text keeps to its vocabulary --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_TEXT_PURITY_H
#define EIDER_TESTS_TEXT_PURITY_H

#include <set>
#include <string>
#include <vector>

namespace eider::text {

/// The names that a text may use, by where they stand; docs/design/text.md says what they do.
struct Vocabulary {
  std::set<std::string> words;     ///< Keywords and types, anywhere.
  std::set<std::string> functions; ///< After `eider::`.
  std::set<std::string> members;   ///< After `row.` and `tile.`.
  std::set<std::string> statics;   ///< After `Row::` and `Tile::`.
  std::set<std::string> partials;  ///< After what `Row::partial_…()` gave.
  std::set<std::string> codec;     ///< After `E4m3::` and `E5m2::`.
};
const Vocabulary &vocabulary();

/// What is wrong with a CUDA text, a line each (`line 12: unknown name 'x'`); empty if it is pure:
/// control flow, arithmetic, names that it declares itself and names of the vocabulary. No `asm`,
/// no `__` but in its words, no number but plain decimals, no include but of the device library, no
/// other directive.
std::vector<std::string> impurities(const std::string &text);

/// The lines of a text that are wider than 110 columns.
std::vector<std::string> wideLines(const std::string &text);

} // namespace eider::text

#endif // EIDER_TESTS_TEXT_PURITY_H
