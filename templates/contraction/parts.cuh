//===- eider/contraction/parts.cuh - Sums of parts, by memory ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_PARTS_CUH
#define EIDER_CONTRACTION_PARTS_CUH

#include "eider/reduce/arrivals.cuh"
#include "eider/tile/block.cuh"

namespace eider {

/// Where the blocks that share a tile leave their sums: of each part a tile's, four floats of each
/// thread after each other, so that a warp's lie side by side.
template <class Tile> struct SumsOfParts {
  static constexpr int pieces = Tile::elements / 4, piece = Tile::block_threads * 4; // in floats
  static_assert(Tile::elements % 4 == 0, "threads hold whole pieces");

  /// Where the thread's first piece of a part is.
  static EIDER_DEVICE int64 first(const Tile &tile, int part) {
    const int64 number = tile.number_of_part() * Tile::parts + part;
    return number * (pieces * piece) + arch::thread_index() * 4;
  }
};

/// Leaves the thread's sums of the tile's part in `left`, and counts the block in the word of
/// `arrivals` that its tile has. The tile of the block that comes last, and of each other one that
/// has nothing inside: nothing of what it computes from there on is written. No block waits for
/// another. Every thread of the CUDA block takes part.
template <class Tile>
EIDER_DEVICE Tile leave_sums(const Tile &tile, const Fragment<float, Tile::elements> &sums,
                             float *left, int64 *arrivals, arch::Site at = arch::Site::current()) {
  using Sums = SumsOfParts<Tile>;
  const Arrivals tile_arrivals(arrivals + tile.number_of_part());
  const uint64 found = tile_arrivals.look();
  float *to = left + Sums::first(tile, tile.part());
  EIDER_UNROLL
  for (int i = 0; i < Sums::pieces; ++i) {
    uint32 words[4];
    EIDER_UNROLL
    for (int j = 0; j < 4; ++j)
      words[j] = arch::as_bits(sums[i * 4 + j]);
    arch::store_words<16>(to + i * Sums::piece, words);
  }
  tile_arrivals.mend(found, Tile::parts);
  uint32 *is_last = arch::shared<Sums, uint32, 1>();
  return tile.only_if(tile_arrivals.is_last(Tile::parts, is_last, at));
}

/// The sums of all parts, added up in their order, as the threads of the tile that came last hold
/// them; 0 of any other.
template <class Tile>
EIDER_DEVICE Fragment<float, Tile::elements> all_sums(const Tile &last, const float *left) {
  using Sums = SumsOfParts<Tile>;
  Fragment<float, Tile::elements> result{};
  if (last.inside(0) == 0) // nor is a chunk below
    return result;
  EIDER_UNROLL
  for (int i = 0; i < Sums::pieces; ++i) {
    uint32 words[Tile::parts][4];
    EIDER_UNROLL
    for (int part = 0; part < Tile::parts; ++part) // all are on their way together
      arch::load_words<16>(left + Sums::first(last, part) + i * Sums::piece, words[part]);
    EIDER_UNROLL
    for (int j = 0; j < 4; ++j) {
      float sum = arch::as_float(words[0][j]);
      EIDER_UNROLL
      for (int part = 1; part < Tile::parts; ++part)
        sum += arch::as_float(words[part][j]);
      result.fill(i * 4 + j, sum);
    }
  }
  return result;
}

} // namespace eider

#endif // EIDER_CONTRACTION_PARTS_CUH
