//===- aot/CText.cpp - Pieces of a C text ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CText.h"

#include <algorithm>
#include <cctype>

namespace eider::aot {

std::set<std::string> identifiersOf(const std::string &text) {
  std::set<std::string> words;
  auto letter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    while (i < text.size() && letter(text[i]))
      ++i;
    if (i != begin && !std::isdigit(static_cast<unsigned char>(text[begin])))
      words.insert(text.substr(begin, i - begin));
    i += i == begin;
  }
  return words;
}

std::string upperCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>> &values) {
  for (const auto &[key, value] : values) {
    const std::string mark = "@" + key + "@";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

/// A call that no line holds, as its own parts between commas.
static std::vector<std::string> cut(const std::vector<std::string> &parts, size_t columns) {
  std::vector<std::string> pieces;
  for (const std::string &part : parts) {
    size_t begin = 0;
    if (part.size() > columns)
      for (size_t end; (end = part.find(", ", begin)) != std::string::npos; begin = end + 2)
        pieces.push_back(part.substr(begin, end - begin));
    pieces.push_back(part.substr(begin));
  }
  return pieces;
}

std::string wrapped(const std::string &opening, const std::vector<std::string> &given,
                    const std::string &closing, const std::string &separator) {
  constexpr size_t columns = 98; // room for what a caller appends
  constexpr size_t indented = 8; // columns before a line's first part, at least
  const std::vector<std::string> parts =
      separator == "," ? cut(given, columns - indented) : given; // else no call's commas separate
  const size_t start = opening.rfind('\n') == std::string::npos ? 0 : opening.rfind('\n') + 1;
  std::string text = opening;
  size_t column = opening.size() - start;
  size_t longest = 0;
  for (const std::string &part : parts)
    longest = std::max(longest, part.size() + std::max(separator.size(), closing.size()));
  const std::string indent(std::min(column, columns - std::min(longest, columns - 4)), ' ');
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 < parts.size() ? separator : closing);
    if (i > 0 && column + 1 + part.size() > columns) {
      text += "\n" + indent;
      column = indent.size();
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += part;
    column += part.size();
  }
  return parts.empty() ? text + closing : text;
}

std::string section(const std::string &title) {
  std::string line = "/*===-- " + title + " ";
  line.resize(75, '-');
  return line + "===*/\n\n";
}

} // namespace eider::aot
