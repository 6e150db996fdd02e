//===- tools/eider/Progress.cpp - A bar on a terminal ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Progress.h"

#include <cstdio>
#include <unistd.h>

namespace eider::cli {

Progress::Progress(size_t total) : total(total), terminal(::isatty(STDERR_FILENO) == 1) {}

void Progress::advance(const std::string &current) {
  ++done;
  if (!terminal)
    return;
  constexpr size_t width = 24;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const auto left = static_cast<long>(passed.count() / static_cast<double>(done) *
                                      static_cast<double>(total - done));
  const size_t full = total ? width * done / total : width;
  const std::string bar = std::string(full, '#') + std::string(width - full, '.');
  std::fprintf(stderr, "\r\033[K[%s] %zu/%zu, %ld:%02ld left  %.40s", bar.c_str(), done, total,
               left / 60, left % 60, current.c_str());
  std::fflush(stderr);
  shown = true;
}

void Progress::clear() {
  if (shown)
    std::fputs("\r\033[K", stderr);
  shown = false;
}

} // namespace eider::cli
