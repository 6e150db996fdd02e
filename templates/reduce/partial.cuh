//===- eider/reduce/partial.cuh - Reduction over the matrix -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_PARTIAL_CUH
#define EIDER_REDUCE_PARTIAL_CUH

#include "eider/reduce/threads.cuh"

namespace eider {

/// What a thread, of a block of `threads`, has seen of a reduction over the whole matrix. Each
/// block leaves a part, and the kernel after this one combines them: no block waits for another,
/// and nothing has to be zero before.
template <class Operation, int threads> class Partial {
  float value_ = Operation::identity();

public:
  /// Adds the fragment's elements that are in the matrix.
  template <class Tile, class Values>
  EIDER_DEVICE void add(const Tile &tile, const Values &values) {
    value_ = Operation::combine(value_, tile.template part_of<Operation>(values));
  }

  /// Writes the block's part at its number. Every thread of the block takes part.
  EIDER_DEVICE void store(float *parts, arch::Site at = arch::Site::current()) const {
    const float part = reduce_threads<Operation, threads, threads>(value_, at);
    if (arch::thread_index() == 0)
      parts[arch::block_index()] = part;
  }
};

/// The reduction of `count` parts, the same in every thread of a block of `threads`.
template <class Operation, int count, int threads>
EIDER_DEVICE float combine_parts(const float *parts, arch::Site at) {
  constexpr int each = (count + threads - 1) / threads;
  const float own = tree<each>(
      [&](int i) {
        const int number = i * threads + arch::thread_index();
        return number < count ? parts[number] : Operation::identity();
      },
      [](float a, float b) { return Operation::combine(a, b); });
  return reduce_threads<Operation, threads, threads>(own, at);
}

} // namespace eider

#endif // EIDER_REDUCE_PARTIAL_CUH
