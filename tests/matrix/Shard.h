//===- matrix/Shard.h - A part of the cells ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_SHARD_H
#define EIDER_TESTS_MATRIX_SHARD_H

#include "eider/error.h"

#include <cstdio>
#include <string>
#include <vector>

namespace eider::matrix {

/// Part `shard` (`I/N`: the I-th of N) of a list. Parts are contiguous, for neighbouring cells
/// share texts. Throws Error for another word.
template <class T> std::vector<T> partOf(const std::vector<T> &all, const std::string &shard) {
  unsigned part = 0, parts = 0;
  if (std::sscanf(shard.c_str(), "%u/%u", &part, &parts) != 2 || part < 1 || part > parts)
    throw Error(ErrorKind::Request, "--shard cannot be '" + shard + "'", "matrix", "give 1/4");
  const size_t begin = all.size() * (part - 1) / parts, end = all.size() * part / parts;
  return {all.begin() + static_cast<long>(begin), all.begin() + static_cast<long>(end)};
}

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_SHARD_H
