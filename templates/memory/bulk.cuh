//===- eider/memory/bulk.cuh - A warp's chunks, stored at once --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_BULK_CUH
#define EIDER_MEMORY_BULK_CUH

#include "eider/memory/chunk.cuh"

namespace eider {

/// Stores in bulk of a kernel, one object a thread (sm_90 and up).
using BulkStores = arch::CopiesInBulk;

/// Stores chunks that lie side by side for the lanes of a warp, and `together` of a warp's after
/// each other: each warp of a block of `threads` writes its chunks to shared memory, whence those
/// that lie together are copied as a whole. `to(c)` is where the thread's chunk c goes, that of the
/// first lane a multiple of 16 bytes; `is_inside(c)`, whether it is in the matrix, as all chunks
/// are that it is copied with. All 32 lanes of the warp call it together.
template <int threads, int vector, int chunks, int together, class T, int count, class To,
          class IsInside>
EIDER_DEVICE void store_warps_chunks(BulkStores &stores, To to, IsInside is_inside,
                                     const Fragment<T, count> &values, arch::Site at) {
  static_assert(threads % 32 == 0, "whole warps");
  constexpr int of_lane = bytes_of<T>(vector);
  struct alignas(16) Chunk { // of a warp
    unsigned char of[32 * of_lane];
  };
  Chunk *own = arch::shared<Fragment<T, count>, Chunk, threads / 32 * chunks>() +
               arch::thread_index() / 32 * chunks;
  const int lane = arch::thread_index() % 32;
  stores.await_reads(); // of what was stored from there before
  arch::warp_barrier(at);
  EIDER_UNROLL
  for (int c = 0; c < chunks; ++c)
    store_whole_chunk<vector, 16, cached>(reinterpret_cast<T *>(own[c].of + lane * of_lane), values,
                                          c * vector);
  arch::fence_async_proxy();
  arch::warp_barrier(at);
  if (lane == 0) {
    EIDER_UNROLL
    for (int c = 0; c < chunks; c += together)
      if (is_inside(c))
        stores.begin<sizeof(Chunk) * together>(to(c), own[c].of);
    stores.close();
  }
}

} // namespace eider

#endif // EIDER_MEMORY_BULK_CUH
