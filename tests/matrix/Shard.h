//===- matrix/Shard.h - A part of the cells ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_SHARD_H
#define EIDER_TESTS_MATRIX_SHARD_H

#include "eider/error.h"

#include <charconv>
#include <string>
#include <vector>

namespace eider::matrix {

/// Part `shard` (`I/N`: the I-th of N) of a list. Parts are contiguous, for neighbouring cells
/// share texts. Throws Error for another word.
template <class T> std::vector<T> partOf(const std::vector<T> &all, const std::string &shard) {
  size_t part = 0, parts = 0;
  const char *const last = shard.data() + shard.size();
  const auto [slash, wrong] = std::from_chars(shard.data(), last, part);
  const bool isPart = wrong == std::errc() && slash != last && *slash == '/';
  if (!isPart || std::from_chars(slash + 1, last, parts).ptr != last || part < 1 || part > parts)
    throw Error(ErrorKind::Request, "--shard cannot be '" + shard + "'", "matrix", "give 1/4");
  const size_t begin = all.size() * (part - 1) / parts, end = all.size() * part / parts;
  return {all.begin() + static_cast<long>(begin), all.begin() + static_cast<long>(end)};
}

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_SHARD_H
