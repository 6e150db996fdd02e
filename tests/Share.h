//===- Share.h - How much a quick run tests ---------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_SHARE_H
#define EIDER_TESTS_SHARE_H

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace eider {

/// N of EIDER_TEST_SHARE, where a quick run takes every N-th of what is much alike; 1, all of it,
/// without. Throws std::invalid_argument where that is no number from 1 on.
inline size_t testShare() {
  const char *given = std::getenv("EIDER_TEST_SHARE");
  const int share = given ? std::atoi(given) : 1;
  if (share < 1)
    throw std::invalid_argument("EIDER_TEST_SHARE: '" + std::string(given) +
                                "' is no number from 1 on; say 3 for a third, or unset it for all");
  return static_cast<size_t>(share);
}

/// Whether a quick run takes the i-th of many: one of each N, at another place among them each
/// time, so that what repeats every few is met too.
inline bool isInShare(size_t i) { return (i + i / testShare()) % testShare() == 0; }

} // namespace eider

#endif // EIDER_TESTS_SHARE_H
