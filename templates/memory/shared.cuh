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

/// The same in `bytes` bytes from a multiple of 1024 on, as the swizzle of what warpgroups multiply
/// wants it.
template <class Owner, int bytes> EIDER_DEVICE unsigned char *shared_for_warpgroups() {
  struct alignas(1024) Piece {
    unsigned char of[1024];
  };
  return shared_or_launched<Owner, Piece, (bytes + 1023) / 1024>()->of;
}

} // namespace eider

#endif // EIDER_MEMORY_SHARED_CUH
