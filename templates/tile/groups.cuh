//===- eider/tile/groups.cuh - How groups lie in a tile ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_GROUPS_CUH
#define EIDER_TILE_GROUPS_CUH

#include "eider/arch/arch.h"

namespace eider {

/// Groups of B neighbouring columns in a tile where `lanes` neighbouring threads hold `chunks`
/// chunks of `vector` elements of a row each. A group is a part of a chunk (vector >= B), a chunk
/// of several lanes, or several chunks of all lanes; of more than these where chunks lie `below`
/// each other, each in a row of its own, what a tile has of it.
template <int B, int vector, int chunks, int lanes, bool below = false> struct Groups {
  static constexpr int span = vector * lanes; // columns of a chunk of all lanes
  static constexpr int chunks_needed = !below && B > span ? B / span : 1;
  static constexpr int chunks_of_group = chunks_needed < chunks ? chunks_needed : chunks;
  static constexpr int groups_of_chunk = vector > B ? vector / B : 1;
  static constexpr int lanes_of_group = B > span ? lanes : B > vector ? B / vector : 1;

  /// How many groups a thread touches.
  static constexpr int count = chunks / chunks_of_group * groups_of_chunk;

  static_assert(B % vector == 0 || vector % B == 0, "groups do not begin where chunks do");
  static_assert(B > span ? B % span == 0 : lanes % lanes_of_group == 0,
                "groups do not begin where rows of threads do");
  static_assert(chunks % chunks_of_group == 0, "a thread's chunks are no whole number of groups");
  static_assert(lanes_of_group <= 32, "a group reaches over more lanes than a warp has");

  /// The chunk that group g begins in, and at which of its elements.
  static constexpr EIDER_DEVICE int chunk(int g) { return g / groups_of_chunk * chunks_of_group; }
  static constexpr EIDER_DEVICE int offset(int g) { return g % groups_of_chunk * B; }
};

} // namespace eider

#endif // EIDER_TILE_GROUPS_CUH
