//===- eider/reduce/arrivals.cuh - Who of some blocks comes last -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_ARRIVALS_CUH
#define EIDER_REDUCE_ARRIVALS_CUH

#include "eider/arch/arch.h"

namespace eider {

/// A word by which some blocks of a grid know which of them comes last, once a launch; none waits
/// for another. Nobody has to clear it: above a mark it counts the blocks that have come, and the
/// last leaves a count of 0. Any other word is memory that was used otherwise, and the first block
/// to see it mends it; but a count that a launch left which was cut off is none.
class Arrivals {
public:
  /// Of one launch at a time.
  explicit EIDER_DEVICE Arrivals(int64 *word) : word_(reinterpret_cast<uint64 *>(word)) {}

  /// What the word is before the block has counted itself, of which thread 0 alone knows.
  EIDER_DEVICE uint64 look() const {
    return arch::thread_index() == 0 ? arch::load_word(word_) : 0;
  }

  /// Makes what was found a word that counts up to `count`: once by each block, before it counts
  /// itself. Where another has been faster, nothing happens.
  EIDER_DEVICE void mend(uint64 found, int64 count) const {
    if (arch::thread_index() != 0)
      return;
    if ((found & ~counted) != idle || (found & counted) >= static_cast<uint64>(count))
      arch::replace_word(word_, found, idle);
  }

  /// Counts the block, of `count`. Whether it is the last: what all of them wrote before is there
  /// for it to read. `shared` is a word of the block's own that nobody reads or writes meanwhile.
  /// Every thread of the CUDA block takes part.
  EIDER_DEVICE bool is_last(int64 count, uint32 *shared, arch::Site at) const {
    arch::barrier(at); // all threads have written
    if (arch::thread_index() == 0) {
      const uint64 before = arch::count_in_word(word_);
      const bool last = (before & counted) + 1 == static_cast<uint64>(count);
      if (last)
        arch::replace_word(word_, before + 1, idle);
      *shared = last ? 1 : 0;
    }
    arch::barrier(at);
    return *shared != 0;
  }

private:
  // The upper half of the mark is a NaN that no arithmetic gives, should the memory have held
  // floats. There are at most 65536 blocks.
  static constexpr uint64 idle = 0xffa64b1d5c3e0000ull, counted = 0xffffull;

  uint64 *word_;
};

} // namespace eider

#endif // EIDER_REDUCE_ARRIVALS_CUH
