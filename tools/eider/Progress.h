//===- tools/eider/Progress.h - A bar on a terminal -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_PROGRESS_H
#define EIDER_TOOLS_EIDER_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <string>

namespace eider::cli {

/// How far a long job is and how long it will take, on the last line of standard error; nothing
/// where that is no terminal. Not thread-safe.
class Progress {
public:
  explicit Progress(size_t total);

  /// One more is done; `current` is what was.
  void advance(const std::string &current);
  /// Takes the bar away, for another line to be printed.
  void clear();

private:
  const size_t total;
  const bool terminal;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  size_t done = 0;
  bool shown = false;
};

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_PROGRESS_H
