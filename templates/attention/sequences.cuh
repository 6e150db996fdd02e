//===- eider/attention/sequences.cuh - Whose rows a block has ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_SEQUENCES_CUH
#define EIDER_ATTENTION_SEQUENCES_CUH

#include "eider/arch/arch.h"

namespace eider {

/// Sequences, one after the other: `starts` are `count`, the token that each begins with, and at
/// last `tokens`, how many all have together.
template <class Start> struct PackedSequences {
  const Start *starts;
  int64 count, tokens;
};
template <class Start>
EIDER_DEVICE PackedSequences<Start> packed(const Start *starts, int64 count, int64 tokens) {
  return {starts, count, tokens};
}
template <class Tokens> inline constexpr bool are_packed = false;
template <class Start> inline constexpr bool are_packed<PackedSequences<Start>> = true;

/// A CUDA block's rows: from `first` on, in a sequence of so many tokens, the first of which is
/// token `start` of all.
struct BlockRows {
  int64 start;
  int tokens, first;
};

/// Those of the CUDA block, `rows` at a time for each of `heads`, of one sequence. The last, which
/// may have the most work, are the first block's.
template <int rows, int heads> EIDER_DEVICE BlockRows rows_of_block(int64 count) {
  const int tokens = static_cast<int>(count);
  return {0, tokens,
          ((tokens + rows - 1) / rows - 1 - static_cast<int>(arch::block_index() / heads)) * rows};
}

/// The same of several. Tiles of sequence i are numbered from starts[i] / rows + i on: no number
/// needs the lengths of those before, and there is room for each, now and then for one that has no
/// rows, whose `first` is not below `tokens`. Starts that do not rise from 0 give some rows of the
/// sequences' tokens, or none.
template <int rows, int heads, class Start>
EIDER_DEVICE BlockRows rows_of_block(const PackedSequences<Start> &all) {
  const int64 tile = all.tokens / rows + all.count - 2 - arch::block_index() / heads;
  int64 sequence = 0, end = all.count - 1;
  while (end - sequence > 1) {
    const int64 middle = (sequence + end) / 2;
    if (all.starts[middle] / rows + middle <= tile)
      sequence = middle;
    else
      end = middle;
  }
  auto within = [&](int64 from, int64 start) {
    return start < from ? from : start < all.tokens ? start : all.tokens;
  };
  const int64 start = within(0, all.starts[sequence]);
  const int64 length = within(start, all.starts[sequence + 1]) - start;
  const int64 first = (tile - (start / rows + sequence)) * rows;
  return {start, static_cast<int>(length), static_cast<int>(first < 0 ? length : first)};
}

} // namespace eider

#endif // EIDER_ATTENTION_SEQUENCES_CUH
