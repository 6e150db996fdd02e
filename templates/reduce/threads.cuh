//===- eider/reduce/threads.cuh - Reduction across threads ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_THREADS_CUH
#define EIDER_REDUCE_THREADS_CUH

#include "eider/reduce/operations.cuh"

namespace eider {

/// Combines the values of `lanes` neighbouring lanes of a warp (a power of two up to 32); each gets
/// the result, the same bits in each. `block` is the number of threads of the block: all of its
/// lanes take part.
template <class Operation, int lanes, int block>
EIDER_DEVICE float reduce_lanes(float value, arch::Site site) {
  static_assert(lanes <= 32 && (lanes & (lanes - 1)) == 0, "lanes: a power of two up to 32");
  static_assert(block % 32 == 0 || block < 32, "a block is whole warps, or a part of one");
  if constexpr (lanes == 32 && Operation::ordered_as_bits && arch::has_warp_maximum)
    return arch::as_float(arch::warp_maximum(arch::as_bits(value), site));
  constexpr uint32 members = block >= 32 ? 0xffffffffu : (1u << block % 32) - 1;
  EIDER_UNROLL
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = Operation::combine(value, arch::shuffle_xor(value, distance, members, site));
  return value;
}

/// The fewest lanes, a power of two, that hold `count` values by `each`; a tree has two at least.
constexpr EIDER_DEVICE int lanes_for(int count, int each) {
  int lanes = 2;
  while (lanes * each < count)
    lanes *= 2;
  return lanes;
}

/// How `lanes` lanes share `count` values in shared memory: `each` values a lane, read at once; of
/// few values one, for what holds most registers has few warps.
/// `slots` is what the values are given: a lane may read all of its own, though the last have
/// values to spare.
template <int count> struct Shares {
  static constexpr int each = count > 128 ? 8 : count > 4 ? 4 : 1;
  static constexpr int lanes = lanes_for(count, each), slots = each * lanes;
  static_assert(lanes <= 32, "a warp combines at most 256 values");
};

/// Combines the `count` values that begin the Shares<count>::slots at `p` in shared memory, the
/// same in each thread of a block of `block`. Few lanes have several values each, for what takes
/// the longest is to ask another lane. Not all by each thread alone: of values that it knows to be
/// the same in every lane NVRTC 13.0 died in some kernels.
template <class Operation, int count, int block>
EIDER_DEVICE float combine_shared(const float *p, arch::Site site) {
  using Share = Shares<count>;
  const int first = arch::thread_index() % Share::lanes * Share::each;
  const auto read = [&](int i) {
    const bool is_there = count == Share::slots || first + i < count;
    return is_there ? p[first + i] : Operation::identity();
  };
  const float value =
      tree<Share::each>(read, [](float a, float b) { return Operation::combine(a, b); });
  return reduce_lanes<Operation, Share::lanes, block>(value, site);
}

/// Combines the values of `threads` neighbouring threads, which are a part of a warp, a warp, or
/// the whole block; of several values a thread, each.
template <class Operation, int threads, int block, int count>
EIDER_DEVICE Fragment<float, count> reduce_threads(const Fragment<float, count> &values,
                                                   arch::Site site) {
  constexpr int lanes = threads < 32 ? threads : 32;
  Fragment<float, count> result;
  EIDER_UNROLL
  for (int i = 0; i < count; ++i)
    result.fill(i, reduce_lanes<Operation, lanes, block>(values[i], site));
  if constexpr (threads > 32) {
    static_assert(threads == block, "a row of several warps has the block to itself");
    constexpr int warps = threads / 32;
    constexpr int slots = Shares<warps>::slots;
    float *partial = arch::shared<Fragment<Operation, count>, float, slots * count>();
    const int lane = arch::thread_index() % 32, warp = arch::thread_index() / 32;

    arch::barrier(site); // the readers of the reduction before this one are done
    if (lane == 0) {
      EIDER_UNROLL
      for (int i = 0; i < count; ++i)
        partial[i * slots + warp] = result[i];
    }
    arch::barrier(site);

    // Each warp combines the partial values for itself, which saves a third barrier.
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      result.fill(i, combine_shared<Operation, warps, block>(partial + i * slots, site));
  }
  return result;
}
template <class Operation, int threads, int block>
EIDER_DEVICE float reduce_threads(float value, arch::Site site) {
  Fragment<float, 1> single;
  single.fill(0, value);
  return reduce_threads<Operation, threads, block>(single, site)[0];
}

} // namespace eider

#endif // EIDER_REDUCE_THREADS_CUH
