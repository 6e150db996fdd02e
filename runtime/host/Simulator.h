//===- host/Simulator.h - Runs a kernel on the CPU, one fiber a thread ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_SIMULATOR_H
#define EIDER_HOST_SIMULATOR_H

#include "templates/arch/host_abi.h"

#include <cstdint>

namespace eider::host {

/// The most threads that run interleaved. Each takes two mappings, of which Linux grants a process
/// 65,530.
inline constexpr int64_t maxFibers = 16384;

/// How to simulate. The results of a correct kernel depend on none of it.
struct SimulatorOptions {
  uint64_t seed = 0;    ///< Orders the threads of a block; the same seed repeats the same order.
  unsigned threads = 0; ///< Host threads that run blocks; 0: as many as the machine has.
};

/// What is launched: a 1-D grid of 1-D blocks.
struct LaunchShape {
  int64_t grid = 0;                  ///< Blocks; 0 launches nothing.
  unsigned block = 1;                ///< Threads a block, 1 to 1024.
  unsigned residentBlocks = 1;       ///< Neighbouring blocks that run interleaved: a cluster,
                                     ///< or all of a cooperative grid.
  uint64_t sharedBytes = UINT64_MAX; ///< Of shared memory, that the launch gives beside what the
                                     ///< kernel declares.
};

/// Runs `kernel` to its end. `parameters` is the CUDA kernelParams array: the address of each
/// parameter's value; kernel memory is the caller's.
///
/// Every thread of a block is a fiber; whenever threads are ready to run, they run in an order
/// shuffled from the seed. Nothing orders two blocks but atomics, the barriers of their cluster and
/// the end of the launch. Shared
/// memory is new for each block and filled with 0xff (a NaN in every format).
///
/// Throws Error of kind Internal, `file:line: block 3, thread 17: …`, for a collective whose mask
/// never fills or on which lanes disagree, a lane outside its own mask, a barrier that some threads
/// left by returning or that waits at two places at once, of a block or of a cluster, a reach for
/// the shared memory of a block that may not be there, more shared memory than the launch gives,
/// and a trap; of kind Request for a shape that cannot be launched; of kind Machine when there is
/// no memory for the stacks. Thread-safe.
void launch(EiderHostKernel kernel, const LaunchShape &shape, void **parameters,
            const SimulatorOptions &options = {});

} // namespace eider::host

#endif // EIDER_HOST_SIMULATOR_H
