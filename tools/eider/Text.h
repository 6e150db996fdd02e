//===- tools/eider/Text.h - Small jobs on text ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_TEXT_H
#define EIDER_TOOLS_EIDER_TEXT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eider::cli {

/// `a, b, c`.
std::string join(const std::vector<std::string> &words, std::string_view separator = ", ");

/// `[4096, 7168]`.
std::string shapeText(std::span<const int64_t> shape);

/// `text` and blanks up to `width` columns (code points; none of ours is wider than one).
std::string padded(std::string_view text, size_t width);

/// The whole of a text file. Throws Error (Request) that names it.
std::string readText(const std::string &path);

/// Standard output, checked: throws Error (Machine) when it cannot take `text`.
void print(std::string_view text);

/// A line on standard error that is no complaint.
void note(const std::string &line);

/// The parts of `text` between `separator`s; one, perhaps empty, where there is none.
std::vector<std::string> split(const std::string &text, char separator);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_TEXT_H
