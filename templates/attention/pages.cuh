//===- eider/attention/pages.cuh - A sequence's tokens, in pages -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_PAGES_CUH
#define EIDER_ATTENTION_PAGES_CUH

#include "eider/arch/arch.h"

namespace eider {

/// The table of a cache without pages, whose sequences have their tokens one after the other.
EIDER_DEVICE const int *no_pages() { return nullptr; }

/// Rows of keys or values of one head, in pages; pitches in elements.
template <class W> struct PagedRows {
  const W *base;
  int64 page_pitch, pitch;
};

/// What a CUDA block reads of a cache for one sequence: the last `window` of its `length` tokens,
/// or all (0), in steps of 16, of which a lane has one. Without pages (`page` 0) rows begin with
/// the sequence's.
template <int page, int window, class Index, class W> struct PagedTokens {
  static constexpr int tokens = 16;
  static constexpr bool has_whole_steps = page % tokens == 0;

  int64 length;
  const Index *table; ///< The sequence's pages.
  PagedRows<W> keys, values;
  PagedRows<float> scales; ///< Where tokens have them: lanes of 16 of keys, the others of values.

  /// The page of the lane's token of a step; any where that is not met.
  EIDER_DEVICE uint32 pages_of(int step) const {
    if constexpr (page == 0)
      return 0;
    const int token = has_whole_steps ? 0 : own_token();
    const bool is_met =
        has_whole_steps ? left_of(step) > 0 : skipped_of(step) <= token && token < left_of(step);
    return is_met ? static_cast<uint32>(table[page_number(step)]) : 0u;
  }
  /// The same before the length has come, of a table with so many pages a sequence.
  EIDER_DEVICE uint32 pages_of(int step, int64 table_pitch) const {
    const int64 number = page_number(step);
    return number < table_pitch ? static_cast<uint32>(table[number]) : 0u;
  }

  /// The first token that is met.
  EIDER_DEVICE int64 begin() const { return window == 0 || length <= window ? 0 : length - window; }
  /// How many of a step's tokens are before it.
  EIDER_DEVICE int skipped_of(int step) const {
    if constexpr (window == 0)
      return 0;
    const int64 skipped = begin() - static_cast<int64>(step) * tokens;
    return skipped > 0 ? static_cast<int>(skipped) : 0;
  }
  /// How many of a step's tokens are there, at most all.
  EIDER_DEVICE int left_of(int step) const {
    const int64 left = length - static_cast<int64>(step) * tokens;
    return left < tokens ? static_cast<int>(left) : tokens;
  }

  /// Where in its page a token of the sequence lies.
  static EIDER_DEVICE int64 place_of(int64 token) {
    if constexpr (page == 0)
      return token;
    else
      return token % page;
  }
  /// The same of a step's first, of whole steps.
  static EIDER_DEVICE int64 place_of_step(int step) {
    if constexpr (page == 0)
      return static_cast<int64>(step) * tokens;
    else
      return step % (page / tokens) * tokens;
  }

private:
  static EIDER_DEVICE int own_token() { return arch::nonnegative_thread_index() % tokens; }
  /// Of the lane's token of a step, which page of the sequence's it is.
  static EIDER_DEVICE int64 page_number(int step) {
    if constexpr (page == 0)
      return 0;
    else
      return has_whole_steps ? step / (page / tokens)
                             : (static_cast<int64>(step) * tokens + own_token()) / page;
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_PAGES_CUH
