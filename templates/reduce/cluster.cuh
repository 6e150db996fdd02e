//===- eider/reduce/cluster.cuh - Reduction across blocks -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_CLUSTER_CUH
#define EIDER_REDUCE_CLUSTER_CUH

#include "eider/reduce/threads.cuh"

namespace eider {

/// Combines what `own()` gives in each thread of a cluster of `blocks` blocks of `threads` threads;
/// each gets the result, the same bits in each. Every warp tells every block its value, so that
/// what is read is the block's own: no block waits for readers before it ends.
/// arch::Exchange::prepare() was called before the kernel's first.
template <class Operation, int threads, int blocks, class Own>
EIDER_DEVICE float reduce_cluster(Own own, arch::Site site) {
  static_assert(threads % 32 == 0, "a block of a cluster is whole warps");
  static_assert(blocks <= 32, "a warp tells each block its value by a lane");
  constexpr int warps = threads / 32, values = warps * blocks;
  const int lane = arch::thread_index() % 32, warp = arch::thread_index() / 32;
  const int rank = static_cast<int>(arch::block_index() % blocks);

  // All blocks have begun, and have what the exchange before brought: loads that `own` waits for
  // hide that.
  arch::Exchange exchange(site);
  constexpr int slots = Shares<values>::slots;
  float *partial = arch::shared<Operation, float, 2 * slots>() + exchange.half() * slots;
  const float value = reduce_lanes<Operation, 32, threads>(own(), site);
  exchange.open(values * static_cast<int>(sizeof(float)), site);
  if (lane < blocks)
    exchange.send(&partial[rank * warps + warp], lane, value, site);
  exchange.wait(site);

  // Each warp combines all the values, in an order that depends on none of block, warp and time.
  return combine_shared<Operation, values, threads>(partial, site);
}

} // namespace eider

#endif // EIDER_REDUCE_CLUSTER_CUH
