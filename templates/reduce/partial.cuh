//===- eider/reduce/partial.cuh - Reduction over the matrix -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_PARTIAL_CUH
#define EIDER_REDUCE_PARTIAL_CUH

#include "eider/reduce/arrivals.cuh"
#include "eider/reduce/threads.cuh"

namespace eider {

/// What a thread, of a block of `threads`, has seen of a reduction over the whole matrix. Each
/// block leaves a part, and the kernel after this one combines them, or the last block: no block
/// waits for another, and nothing has to be zero before.
template <class Operation, int threads> class Partial {
  float value_ = Operation::identity();

public:
  /// Adds the fragment's elements that are in the matrix.
  template <class Tile, class Values>
  EIDER_DEVICE void add(const Tile &tile, const Values &values) {
    value_ = Operation::combine(value_, tile.template part_of<Operation>(values));
  }

  /// Adds what the same operation has made of the elements: values of groups, or one.
  template <int count> EIDER_DEVICE void add_reduced(const Fragment<float, count> &values) {
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      value_ = Operation::combine(value_, values[i]);
  }
  EIDER_DEVICE void add_reduced(float value) { value_ = Operation::combine(value_, value); }

  /// Writes the block's part at its number. Every thread of the block takes part.
  EIDER_DEVICE void store(float *parts, arch::Site at = arch::Site::current()) const {
    const float part = reduce_threads<Operation, threads, threads>(value_, at);
    if (arch::thread_index() == 0)
      parts[arch::block_index()] = part;
  }
};

/// The block of the grid that comes last, once a launch; `word` is of one launch at a time, in any
/// state.
class LastBlock {
public:
  /// Asks for the word, so that it comes while the block works.
  explicit EIDER_DEVICE LastBlock(int64 *word) : arrivals_(word), found_(arrivals_.look()) {}

  /// Whether this block is it: what all others wrote before is there for it to read. Every thread
  /// of the block takes part.
  EIDER_DEVICE bool is_this(arch::Site at = arch::Site::current()) const {
    arrivals_.mend(found_, arch::grid_size());
    return arrivals_.is_last(arch::grid_size(), arch::shared<LastBlock, uint32, 1>(), at);
  }

private:
  Arrivals arrivals_;
  uint64 found_; // by thread 0
};

/// As many parts as the grid has blocks, where a count of parts is asked for.
constexpr int blocks_of_grid = 0;

/// The reduction of `count` parts, the same in every thread of a block of `threads`.
template <class Operation, int count, int threads>
EIDER_DEVICE float combine_parts(const float *parts, arch::Site at) {
  float own = Operation::identity();
  if constexpr (count == blocks_of_grid) {
    for (int64 i = arch::thread_index(); i < arch::grid_size(); i += threads)
      own = Operation::combine(own, parts[i]);
  } else {
    constexpr int each = (count + threads - 1) / threads;
    own = tree<each>(
        [&](int i) {
          const int number = i * threads + arch::thread_index();
          return number < count ? parts[number] : Operation::identity();
        },
        [](float a, float b) { return Operation::combine(a, b); });
  }
  return reduce_threads<Operation, threads, threads>(own, at);
}

} // namespace eider

#endif // EIDER_REDUCE_PARTIAL_CUH
