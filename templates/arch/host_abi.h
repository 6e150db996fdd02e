//===- arch/host_abi.h - What a simulated kernel asks of its scheduler ----===//
//
// Part of Eider, under the Apache License v2.0.
//
// The kernel's text, compiled as C++20, and the simulator's scheduler meet in this C ABI alone: the
// shared object of a kernel has no undefined symbol of Eider, and the scheduler knows no template.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_HOST_ABI_H
#define EIDER_ARCH_HOST_ABI_H

extern "C" {

/// Where a collective stands in the source; printed by the simulator's errors.
struct EiderHostSite {
  const char *file;
  int line;
};

/// The CUDA coordinates of the running fiber. All one-dimensional: Eider's kernels launch 1-D grids
/// of 1-D blocks.
struct EiderHostPosition {
  unsigned thread;                ///< threadIdx.x
  unsigned block_size;            ///< blockDim.x
  long long block;                ///< blockIdx.x
  long long grid_size;            ///< gridDim.x
  unsigned long shared_of_launch; ///< Bytes of shared memory that the launch gives.
};

/// Services of the scheduler to the running fiber.
struct EiderHostAbi {
  /// Coordinates of the running fiber.
  const EiderHostPosition *(*position)();
  /// __syncthreads(): returns when every live thread of the block has arrived.
  void (*barrier)(EiderHostSite site);
  /// A warp collective: contributes `bytes` (at most 64) bytes at `mine` and receives those of all
  /// lanes named in `mask` in `all` (32 slots of `bytes`; slots outside the mask are poisoned).
  /// Returns when all lanes of `mask` have arrived with the same mask. Orders no memory, as a
  /// shuffle; with 0 bytes it is __syncwarp(mask), and does.
  void (*exchange)(unsigned mask, const void *mine, void *all, unsigned bytes, EiderHostSite site);
  /// Shared memory of the running block for `key` (the address of a static), poisoned when first
  /// asked for in a block.
  void *(*shared)(const void *key, unsigned long bytes, unsigned long alignment);
  /// A thread's arrival at the barrier of its cluster, which are the blocks that run interleaved;
  /// returns at once.
  void (*cluster_arrive)(EiderHostSite site);
  /// Returns when every thread of the cluster has arrived; each waits once for each arrival.
  void (*cluster_wait)(EiderHostSite site);
  /// Where block number `rank` of the cluster has what the running block has at `address` in its
  /// shared memory.
  void *(*shared_of)(unsigned rank, const void *address, EiderHostSite site);
  /// Returns when some of the `bits` of a word, which other blocks change, are not those of `old`.
  void (*wait_for_word)(const unsigned long long *word, unsigned long long bits,
                        unsigned long long old, EiderHostSite site);
  /// Ends the launch with an error.
  void (*trap)(const char *message, EiderHostSite site);
};

/// What EIDER_HOST_ENTRY(kernel) defines in the shared object, one a kernel.
/// `parameters` is the CUDA kernelParams array: the address of each parameter's value.
typedef void (*EiderHostKernel)(const struct EiderHostAbi *abi, void **parameters);
}

#endif // EIDER_ARCH_HOST_ABI_H
