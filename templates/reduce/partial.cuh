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
/// block leaves a part, and the kernel after this one combines them; or it combines its part into
/// the value of all blocks, to which a kernel before has given the identity. No block waits for
/// another.
template <class Operation, int threads> class Partial {
  float value_ = Operation::identity();

public:
  /// Adds the fragment's elements that are in the matrix.
  template <class Tile, class Values>
  EIDER_DEVICE void add(const Tile &tile, const Values &values) {
    value_ = Operation::combine(value_, tile.template part_of<Operation>(values));
  }

  /// Adds what the same operation has made of the tile's elements: values of groups, or one.
  template <class Tile, int count>
  EIDER_DEVICE void add_reduced(const Tile &tile, const Fragment<float, count> &values) {
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      add_reduced(tile, values[i]);
  }
  template <class Tile> EIDER_DEVICE void add_reduced(const Tile &tile, float value) {
    if constexpr (Tile::always_whole) // else nothing outside was combined
      value = tile.has_row() ? value : Operation::identity();
    value_ = Operation::combine(value_, value);
  }

  /// Writes the block's part at its number. Every thread of the block takes part.
  EIDER_DEVICE void store(float *parts, arch::Site at = arch::Site::current()) const {
    const float part = reduce_threads<Operation, threads, threads>(value_, at);
    if (arch::thread_index() == 0)
      parts[arch::block_index()] = part;
  }

  /// Combines the block's part into `value`. Every thread of the block takes part. Most blocks
  /// find that theirs changes nothing, and write nothing.
  EIDER_DEVICE void combine_into(float *value, arch::Site at = arch::Site::current()) const {
    const float part = reduce_threads<Operation, threads, threads>(value_, at);
    if (arch::thread_index() != 0)
      return;
    auto *word = reinterpret_cast<uint32 *>(value);
    uint32 expected, found = arch::load_word(word);
    do {
      expected = found;
      const uint32 wanted = arch::as_bits(Operation::combine(arch::as_float(expected), part));
      if (wanted == expected)
        return;
      found = arch::replace_word(word, expected, wanted);
    } while (found != expected);
  }
};

/// As many parts as the grid has blocks, where a count of parts is asked for.
enum : int { blocks_of_grid = 0 };

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

/// Where blocks leave their parts in a grid's state: after 256 bytes of words.
EIDER_DEVICE float *parts_of(int64 *state) { return reinterpret_cast<float *>(state + 32); }

/// As Partial, but the block that comes last combines what all have left: what the value was before
/// does not matter. `state` is as GridBarrier's, in any state, for one launch at a time.
template <class Operation, int threads> class PartialOfLast : public Partial<Operation, threads> {
public:
  /// Asks for the word, so that it comes while the block works.
  explicit EIDER_DEVICE PartialOfLast(int64 *state)
      : arrivals_(state), parts_(parts_of(state)), found_(arrivals_.look()) {}

  EIDER_DEVICE void combine_into(float *value, arch::Site at = arch::Site::current()) const {
    this->store(parts_, at);
    const int64 blocks = arch::grid_size();
    arrivals_.mend(found_, blocks);
    if (!arrivals_.is_last(blocks, arch::shared<PartialOfLast, uint32, 1>(), at))
      return;
    const float all = combine_parts<Operation, blocks_of_grid, threads>(parts_, at);
    if (arch::thread_index() == 0)
      *value = all;
  }

private:
  Arrivals arrivals_;
  float *parts_;
  uint64 found_; // by thread 0
};

} // namespace eider

#endif // EIDER_REDUCE_PARTIAL_CUH
