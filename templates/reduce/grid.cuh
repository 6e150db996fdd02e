//===- eider/reduce/grid.cuh - Reduction across all blocks ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_GRID_CUH
#define EIDER_REDUCE_GRID_CUH

#include "eider/reduce/partial.cuh"

namespace eider {

/// Where all blocks of a grid meet, once a launch. All of them run at once: the launch is
/// cooperative. `state` is 256 bytes and 4 for each block, for one launch at a time; what is in it
/// when a launch begins does not matter, so that nobody has to clear it.
///
/// The last word of the 256 bytes, where what else is written at an allocation's begin hardly
/// reaches, counts the blocks that have come. Below a mark, bit 16 is the phase: it turns when the
/// last block comes, whichever that is, for block 0 adds what the others leave missing. After a
/// launch the word is as before but for its phase: ready for the next, of any grid. Any other word
/// is memory that was used otherwise, and the first blocks to see it mend it. Bit 17 is what the
/// count borrows from while the phase turns back.
class GridBarrier {
public:
  /// Asks for the word, so that it comes while the block loads its tile.
  explicit EIDER_DEVICE GridBarrier(int64 *state)
      : state_(reinterpret_cast<uint64 *>(state) + counter), parts_(parts_of(state)),
        found_(arch::thread_index() == 0 ? arch::load_word(state_) : idle) {}

  /// Combines the values of all threads of the grid, of blocks of `threads`; each gets the result,
  /// the same bits in each.
  template <class Operation, int threads>
  EIDER_DEVICE float reduce(float value, arch::Site site) const {
    value = reduce_threads<Operation, threads, threads>(value, site);
    if (arch::thread_index() == 0) {
      if (!is_state(found_))
        arch::replace_word(state_, found_, idle);
      const uint64 before = is_state(found_) ? found_ & phase : 0;
      parts_[arch::block_index()] = value;
      arch::add_to_word(state_, arch::block_index() == 0 ? last_of_all(before) : 1);
      arch::wait_for_word(state_, phase, before, site);
    }
    arch::barrier(site);
    return combine_parts<Operation, blocks_of_grid, threads>(parts_, site);
  }

private:
  // The upper half of the mark is a NaN that no arithmetic gives, should the memory have held
  // floats. No GPU holds 2^15 blocks at once.
  static constexpr uint64 idle = 0xffa5c3e95d2e0000ull, phase = 1ull << 16;
  static constexpr int marked_from = 18, counter = 31;

  uint64 *state_;
  float *parts_;
  uint64 found_; // by thread 0: the phase cannot turn before its block has come

  /// Whether a word has the mark, and a count as it is while blocks of this grid come.
  static EIDER_DEVICE bool is_state(uint64 word) {
    const uint64 count = word & (phase - 1), most = static_cast<uint64>(arch::grid_size());
    return word >> marked_from == idle >> marked_from && (count < most || count >= phase - most);
  }

  /// What turns the phase when all other blocks have added 1.
  static EIDER_DEVICE uint64 last_of_all(uint64 before) {
    return (before == 0 ? phase : 0 - phase) - static_cast<uint64>(arch::grid_size() - 1);
  }
};

} // namespace eider

#endif // EIDER_REDUCE_GRID_CUH
