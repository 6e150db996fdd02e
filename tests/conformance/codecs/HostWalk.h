//===- HostWalk.h - A check over its domain, on the host --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_HOSTWALK_H
#define EIDER_TESTS_HOSTWALK_H

#include "Outcome.h"

#include <span>

namespace eider::conformance {

/// A check of checks.def.
struct HostCheck {
  const char *name;
  int bits;       ///< Its domain is all numbers of so many bits.
  uint32_t bound; ///< How far off a result may be.
  uint32_t (*distance)(uint32_t number);
};

/// All of them, in the list's order.
std::span<const HostCheck> hostChecks();

/// The check on every `stride`-th number of its domain, on as many threads as the machine has
/// cores.
Outcome walk(const HostCheck &check, uint64_t stride);

} // namespace eider::conformance

#endif // EIDER_TESTS_HOSTWALK_H
