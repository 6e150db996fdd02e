//===- eider/memory/copy.cuh - Few bytes on their way -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_COPY_CUH
#define EIDER_MEMORY_COPY_CUH

#include "eider/arch/arch.h"

namespace eider {

/// Begins to copy `bytes` (1, 2, 4, 8 or 16) aligned ones to shared memory, zeros where `condition`
/// does not hold. One and two, for which there is no such copy, are there at once.
template <int bytes>
EIDER_DEVICE void begin_copy(unsigned char *to, const void *from, bool condition) {
  if constexpr (bytes >= 4) {
    arch::begin_copy<bytes>(to, from, condition);
  } else {
    uint32 word = 0;
    if (condition)
      arch::load_words<bytes>(from, &word);
    arch::store_words<bytes>(to, &word);
  }
}

} // namespace eider

#endif // EIDER_MEMORY_COPY_CUH
