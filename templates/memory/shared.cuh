//===- eider/memory/shared.cuh - Shared memory of a block -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_SHARED_CUH
#define EIDER_MEMORY_SHARED_CUH

#include "eider/arch/arch.h"

namespace eider {

/// `count` of T in shared memory, the block's own for `Owner`: as much as a kernel may declare, or
/// more, which the launch gives, as its contract says.
template <class Owner, class T, int count> EIDER_DEVICE T *shared_or_launched() {
  constexpr int most_declared = 48 * 1024;
  if constexpr (sizeof(T) * count > most_declared)
    return arch::launched_shared<Owner, T, count>();
  else
    return arch::shared<Owner, T, count>();
}

} // namespace eider

#endif // EIDER_MEMORY_SHARED_CUH
