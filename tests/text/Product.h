//===- Product.h - Every text that the op library can give ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_TEXT_PRODUCT_H
#define EIDER_TESTS_TEXT_PRODUCT_H

#include "tests/matrix/Cell.h"

#include <string>
#include <vector>

namespace eider::text {

/// Every op × dtype × format × block × codec × scale source × (isRepresentative) numerics that goes
/// together, the widths in turn. Rows, memory and values decide nothing about a text: each is its
/// axis's first.
std::vector<matrix::Cell> productOfTexts();

/// Those of `cells` whose text differs on an axis that a text depends on, each once.
std::vector<matrix::Cell> withoutRepeats(const std::vector<matrix::Cell> &cells);

/// The text of a cell for a target: all variants in one. `hardware` codecs become `software` where
/// the target has no such instructions. Throws Error.
std::string textOf(const matrix::Cell &cell, const std::string &target);

/// The text without its comment lines, which name the target.
std::string withoutHeaders(const std::string &text);

} // namespace eider::text

#endif // EIDER_TESTS_TEXT_PRODUCT_H
