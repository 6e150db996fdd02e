//===- tools/eider/Text.cpp - Small jobs on text --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Text.h"

#include "eider/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace eider::cli {

std::string join(const std::vector<std::string> &words, std::string_view separator) {
  std::string text;
  for (const std::string &word : words) {
    if (!text.empty())
      text += separator;
    text += word;
  }
  return text;
}

std::string shapeText(std::span<const int64_t> shape) {
  std::vector<std::string> extents;
  for (int64_t extent : shape)
    extents.push_back(std::to_string(extent));
  return "[" + join(extents) + "]";
}

std::string padded(std::string_view text, size_t width) {
  auto columns =
      static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  return std::string(text) + std::string(width > columns ? width - columns : 0, ' ');
}

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Extracting nothing from an empty file sets failbit; a directory opens, but cannot be read.
  if (!file || (file.peek() != EOF && !(text << file.rdbuf())) || file.bad())
    throw Error(ErrorKind::Request, std::string("cannot read it: ") + std::strerror(errno), path);
  return text.str();
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(ErrorKind::Machine, std::string("cannot write: ") + std::strerror(errno),
                "standard output");
}

void note(const std::string &line) { std::fprintf(stderr, "eider: %s\n", line.c_str()); }

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

} // namespace eider::cli
