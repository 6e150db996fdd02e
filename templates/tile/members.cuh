//===- eider/tile/members.cuh - What every tile can do ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_MEMBERS_CUH
#define EIDER_TILE_MEMBERS_CUH

#include "eider/index.cuh"
#include "eider/layouts/layout.cuh"
#include "eider/math.cuh"
#include "eider/memory/bulk.cuh"
#include "eider/memory/panels.cuh"
#include "eider/memory/shifted.cuh"
#include "eider/random.cuh"
#include "eider/reduce/cluster.cuh"
#include "eider/reduce/grid.cuh"
#include "eider/reduce/partial.cuh"
#include "eider/tile/groups.cuh"

namespace eider {

/// An index as what divides fastest.
EIDER_DEVICE uint32 unsigned_index(int index) { return static_cast<uint32>(index); }
EIDER_DEVICE uint64 unsigned_index(int64 index) { return static_cast<uint64>(index); }

/// The members of a tile whose threads hold `chunks` chunks of `vector` neighbouring elements each.
/// `Tile` derives from this and says where they are:
///   row(c), column(c)    the position of chunk c's first element
///   inside(c)            how many of its elements are in the matrix, 0 to vector
///   may_be_cut           whether that is ever between 0 and vector
///   always_whole         whether rows are never cut, so that reductions over groups and rows do
///                        not ask; then has_row() says whether the thread's row is there
///   is_whole()           else whether no element that a reduction combines is outside
///   inside_of_columns(c) static: the same of a column vector's chunk, in any tile
///   is_in_one_row        whether all chunks of the threads that hold a row together are in it
///   reduces              whether a reduction over the tile is one over its row or block
/// and where `columns` is 0, for the launch alone knows the row's width,
///   knows_width          whether it tells a chunk's neighbourhood itself:
///   before(c), left(c)   how many elements of its row are before chunk c, and from it on
/// Chunks of a thread lie one after the other along its row, or `below` each other.
template <class Tile, int vector, int chunks, int64 columns, int lanes, int team, int block,
          int cluster = 1, bool below = false>
struct TileMembers {
  static constexpr int elements = vector * chunks, neighbours = vector;
  using Floats = Fragment<float, elements>;
  static constexpr bool knows_width = columns > 0;
  template <int B> using GroupsOf = Groups<B, vector, chunks, lanes, below>;
  /// That a thread holds of a group.
  template <int B> static constexpr int elements_of_group = elements / GroupsOf<B>::count;

  //===-- Elements --------------------------------------------------------===//

  /// The tile's elements of the [rows, columns] matrix at p, 0 outside. Rows are `pitch` elements
  /// (bytes of packed ones) apart and start at multiples of `alignment` bytes.
  template <int alignment = 16, Caching caching = cached, class T>
  EIDER_DEVICE Fragment<T, elements> load(const T *p, int64 pitch = columns / packing<T>) const {
    constexpr bool in_one_row = Tile::is_in_one_row && team % 32 == 0;
    return load_chunks<T, vector, chunks, alignment, Tile::may_be_cut, Tile::knows_width,
                       in_one_row, caching>([&](int c) { return chunk(p, c, pitch); });
  }

  /// Writes the tile's elements, nothing outside.
  template <int alignment = 16, Caching caching = cached, class T>
  EIDER_DEVICE void store(T *p, const Fragment<T, elements> &values,
                          int64 pitch = columns / packing<T>,
                          arch::Site at = arch::Site::current()) const {
    // Lanes of a warp that hold neighbouring chunks of one row write each other's elements, once
    // all have read what was there.
    constexpr int together = lanes < 32 ? lanes : 32;
    constexpr bool shifts =
        Tile::knows_width && block % 32 == 0 && are_stored_shifted<T, vector, alignment, lanes>;
    if constexpr (shifts)
      arch::warp_barrier(at);
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      if constexpr (shifts)
        store_shifted<together, vector, alignment, caching>(chunk(p, c, pitch), values, c * vector,
                                                            at);
      else
        store_chunk<vector, alignment, Tile::may_be_cut, caching>(
            address(p, c, pitch), tile().inside(c), values, c * vector);
  }

  /// The same in bulk, of rows that begin at multiples of 16 bytes and that whole warps hold.
  template <class T>
  EIDER_DEVICE void store_in_bulk(BulkStores &stores, T *p, const Fragment<T, elements> &values,
                                  int64 pitch = columns / packing<T>,
                                  arch::Site at = arch::Site::current()) const {
    static_assert(Tile::is_in_one_row && lanes % 32 == 0 && columns % (32 * vector) == 0,
                  "a warp's chunks lie side by side, inside the matrix or not");
    constexpr bool follow = lanes == 32 && columns % (32 * elements) == 0;
    store_warps_chunks<block, vector, chunks, follow ? chunks : 1>(
        stores, [&](int c) { return address(p, c, pitch); },
        [&](int c) { return tile().inside(c) > 0; }, values, at);
  }

  /// Writes the elements, of 16 bits, as products of so many rows at a time read them; memory has
  /// room for whole tiles of these.
  template <int rows, class T>
  EIDER_DEVICE void store_for_products(T *p, const Fragment<T, elements> &values) const {
    using Order = RowsOfProducts<rows>;
    static_assert(sizeof(T) == 2 && columns % Order::stage == 0 && vector % 2 == 0 &&
                      Order::stage % vector == 0,
                  "chunks are whole pairs of a stage");
    auto *base = reinterpret_cast<unsigned char *>(p);
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c) {
      if (tile().inside(c) == 0)
        continue;
      const int64 row = tile().row(c);
      const int column = tile().column(c), of_tile = static_cast<int>(row % rows);
      unsigned char *stage = base + Order::tile(row - of_tile, columns) +
                             int64(column / Order::stage) * Order::Stage::bytes;
      EIDER_UNROLL
      for (int i = 0; i < vector; i += 2) {
        const int at = column % Order::stage + i;
        arch::store_words<4>(stage + Order::pair(Order::first_pair(of_tile, at / Order::chunk),
                                                 at % Order::chunk / 2),
                             &values.words[(c * vector + i) / 2]);
      }
    }
  }

  /// The random numbers of the tile's elements: functions of seed, offset and an element's number
  /// in the matrix, row by row.
  EIDER_DEVICE auto random(int64 seed, int64 offset) const {
    const auto index = [this](int i) {
      return static_cast<uint64>(tile().row(i / vector)) * columns + tile().column(i / vector) +
             i % vector;
    };
    return Draws<vector, draw_alignment(columns, vector), decltype(index)>{
        static_cast<uint64>(seed), static_cast<uint64>(offset), index};
  }

  //===-- Groups: one value for B neighbours in a row -----------------------===//

  // `where` is the pitch of the matrix, or the layout of scales.

  /// The group values that the thread touches of a [ceil(rows/R), ceil(columns/B)] matrix, 0
  /// outside.
  template <int B, int R = 1, class T, class Where = int64>
  EIDER_DEVICE auto load_groups(const T *p, const Where &where = (columns + B - 1) / B) const {
    using G = GroupsOf<B>;
    Fragment<T, G::count> groups{};
    EIDER_UNROLL
    for (int g = 0; g < G::count; ++g) {
      const int c = G::chunk(g);
      if (tile().inside(c) > G::offset(g))
        groups.fill(g, p[offset_of(where, static_cast<uint64>(tile().row(c)) / R, group<B>(g))]);
    }
    return groups;
  }

  /// Writes each group's value once, to a [rows, ceil(columns/B)] matrix: by the thread that holds
  /// the group's first element.
  template <int B, class T, class Where = int64>
  EIDER_DEVICE void store_groups(T *p, const Fragment<T, GroupsOf<B>::count> &groups,
                                 const Where &where = (columns + B - 1) / B) const {
    using G = GroupsOf<B>;
    EIDER_UNROLL
    for (int g = 0; g < G::count; ++g) {
      const int c = G::chunk(g);
      if (tile().inside(c) > G::offset(g) && unsigned_index(tile().column(0)) % B == 0)
        p[offset_of(where, tile().row(c), group<B>(g))] = groups[g];
    }
  }

  /// Writes zeros to the padding of a layout of scales, once; before or after the loop over tiles.
  /// The memory begins at a multiple of `alignment` bytes, and so do its rows.
  template <int alignment = 16, class T, class Layout>
  static EIDER_DEVICE void clear_padding(T *p, const Layout &layout) {
    clear_padding_of<block, alignment>(p, layout);
  }

  //===-- Columns ---------------------------------------------------------===//

  EIDER_DEVICE int before(int c) const { return nearby<columns>(tile().column(c)); }
  EIDER_DEVICE int left(int c) const { return nearby<columns>(columns - tile().column(c)); }

  /// The column of each element.
  EIDER_DEVICE Fragment<int32, elements> column_indices() const {
    Fragment<int32, elements> result;
    EIDER_UNROLL
    for (int i = 0; i < elements; ++i)
      result.fill(i, tile().column(i / vector) + i % vector);
    return result;
  }

  /// The elements of a [rows, period] matrix that are repeated along the tile's rows: column j has
  /// the one at column (j / each) mod period. 0 outside.
  template <int period, int each = 1, int alignment = 16, class T>
  EIDER_DEVICE Fragment<T, elements> load_repeated(const T *p, int64 pitch = period) const {
    Fragment<T, elements> values{};
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c) {
      const T *row = p + tile().row(c) * pitch;
      const uint32 column = tile().column(c);
      if constexpr (vector % each == 0 && period % (vector / each) == 0) {
        if (tile().inside(c) > 0) // A chunk is whole: the row is a number of periods.
          load_chunk_for_each<each, alignment>(row + column / each % period, values, c * vector);
      } else {
        EIDER_UNROLL
        for (int j = 0; j < vector; ++j)
          if (j < tile().inside(c))
            values.fill(c * vector + j, row[(column + j) / each % period]);
      }
    }
    return values;
  }

  /// Of each `over` neighbours in a row, the halves (a, b) as (-b, a).
  template <int over>
  EIDER_DEVICE Floats rotate_halves(const Floats &f, arch::Site at = arch::Site::current()) const {
    constexpr int half = over / 2;
    Floats result;
    if constexpr (half < vector) {
      static_assert(vector % over == 0, "a chunk is no whole number of pairs of halves");
      EIDER_UNROLL
      for (int i = 0; i < elements; ++i)
        result.fill(i, i % over < half ? -f[i + half] : f[i - half]);
    } else if constexpr (half % (lanes * vector) == 0) {
      constexpr int distance = half / lanes; // in elements of the thread
      static_assert(elements % (2 * distance) == 0, "a thread has no whole number of halves");
      EIDER_UNROLL
      for (int i = 0; i < elements; ++i)
        result.fill(i, i / distance % 2 == 0 ? -f[i + distance] : f[i - distance]);
    } else {
      constexpr int distance = half / vector; // in lanes
      static_assert(half % vector == 0 && lanes % (2 * distance) == 0 && distance <= 16,
                    "the lanes of a warp do not have both halves");
      constexpr uint32 members = block >= 32 ? 0xffffffffu : (1u << block % 32) - 1;
      const bool is_first = arch::thread_index() / distance % 2 == 0;
      EIDER_UNROLL
      for (int i = 0; i < elements; ++i) {
        const float other = arch::shuffle_xor(f[i], distance, members, at);
        result.fill(i, is_first ? -other : other);
      }
    }
    return result;
  }

  // A column vector, all of which the threads of a row hold together: its reductions give the same
  // bits to every thread, whatever its tile.

  /// The vector with zeros outside the matrix.
  template <class T, int count>
  static EIDER_DEVICE Fragment<T, count> inside_columns(const Fragment<T, count> &f) {
    return counted_columns<Sum>(f);
  }

  template <int count>
  static EIDER_DEVICE float sum_of_columns(const Fragment<float, count> &f,
                                           arch::Site at = arch::Site::current()) {
    return reduce_columns<Sum>(f, at);
  }
  /// The sum of a · b, each product added unrounded.
  template <int count>
  static EIDER_DEVICE float sum_of_columns_of_products(const Fragment<float, count> &a,
                                                       const Fragment<float, count> &b,
                                                       arch::Site at = arch::Site::current()) {
    return reduce_team<Sum>(
        [&] { return sum_products<count>(counted_columns<Sum>(a), counted_columns<Sum>(b)); }, at);
  }
  template <int count>
  static EIDER_DEVICE float max_of_columns(const Fragment<float, count> &f,
                                           arch::Site at = arch::Site::current()) {
    return reduce_columns<Maximum>(f, at);
  }
  template <int count>
  static EIDER_DEVICE float min_of_columns(const Fragment<float, count> &f,
                                           arch::Site at = arch::Site::current()) {
    return reduce_columns<Minimum>(f, at);
  }
  template <class T, int count>
  static EIDER_DEVICE float amax_of_columns(const Fragment<T, count> &f,
                                            arch::Site at = arch::Site::current()) {
    return reduce_columns<MaximumMagnitude>(f, at);
  }
  template <class T, int count>
  static EIDER_DEVICE float amax_number_of_columns(const Fragment<T, count> &f,
                                                   arch::Site at = arch::Site::current()) {
    return reduce_columns<MaximumMagnitudeOfNumbers>(f, at);
  }

  //===-- Reductions over groups ------------------------------------------===//

  /// One value a group. Sums are balanced trees; what is outside the matrix does not count.
  template <int B>
  EIDER_DEVICE auto sum_of_groups(const Floats &f, arch::Site at = arch::Site::current()) const {
    return reduce_groups<Sum, B>(f, at);
  }
  /// The sum of a · b, each product added unrounded.
  template <int B>
  EIDER_DEVICE auto sum_of_groups_of_products(const Floats &a, const Floats &b,
                                              arch::Site at = arch::Site::current()) const {
    return combine_groups<Sum, B>(
        [](int first, const Floats &c, const Floats &d) {
          return sum_products<elements_of_group<B>>(c, d, first, first);
        },
        at, a, b);
  }
  /// The largest and the smallest of a group; NaN if one is NaN.
  template <int B>
  EIDER_DEVICE auto max_of_groups(const Floats &f, arch::Site at = arch::Site::current()) const {
    return reduce_groups<Maximum, B>(f, at);
  }
  template <int B>
  EIDER_DEVICE auto min_of_groups(const Floats &f, arch::Site at = arch::Site::current()) const {
    return reduce_groups<Minimum, B>(f, at);
  }
  /// The largest magnitude of a group of float, bf16 or f16; NaN if one is NaN.
  template <int B, class T>
  EIDER_DEVICE auto amax_of_groups(const Fragment<T, elements> &f,
                                   arch::Site at = arch::Site::current()) const {
    return reduce_groups<MaximumMagnitude, B>(f, at);
  }
  /// The largest magnitude of those that are not NaN; 0 if all are.
  template <int B, class T>
  EIDER_DEVICE auto amax_number_of_groups(const Fragment<T, elements> &f,
                                          arch::Site at = arch::Site::current()) const {
    return reduce_groups<MaximumMagnitudeOfNumbers, B>(f, at);
  }

  //===-- Reductions over the row of a RowTile, the block of a BlockTile ----===//

  // Each gives the same bits to every thread of the row or block, and may be called by all of them
  // any number of times.

  EIDER_DEVICE float sum(const Floats &f, arch::Site at = arch::Site::current()) const {
    return reduce<Sum>(f, at);
  }
  /// The sum of a · b, each product added unrounded.
  EIDER_DEVICE float sum_of_products(const Floats &a, const Floats &b,
                                     arch::Site at = arch::Site::current()) const {
    return reduce_team<Sum>(
        [&] {
          return of_inside<Sum>(
              [](const Floats &c, const Floats &d) { return sum_products<elements>(c, d); }, a, b);
        },
        at);
  }
  /// The same of a · scale · b, where the elements of a group have a scale together.
  template <int count>
  EIDER_DEVICE float sum_of_scaled_products(const Floats &a, const Fragment<float, count> &scales,
                                            const Floats &b,
                                            arch::Site at = arch::Site::current()) const {
    return reduce_team<Sum>(
        [&] {
          return of_inside<Sum>(
              [&](const Floats &c, const Floats &d) {
                return sum_scaled_products<count>(c, scales, d);
              },
              a, b);
        },
        at);
  }
  /// The same as `Products` multiply codes and what they meet (contraction/lanes.cuh).
  template <class Products, class W, class X>
  EIDER_DEVICE float sum_of_products(const Fragment<W, elements> &a, const Fragment<X, elements> &b,
                                     arch::Site at = arch::Site::current()) const {
    return reduce_team<Sum>([&] { return Products::template own_sums<1>(a, b, at)[0]; }, at);
  }
  template <class Products, class W, class X, class S, int count>
  EIDER_DEVICE float sum_of_scaled_products(const Fragment<W, elements> &a,
                                            const Fragment<S, count> &scales,
                                            const Fragment<X, elements> &b,
                                            arch::Site at = arch::Site::current()) const {
    return reduce_team<Sum>(
        [&] {
          return Products::template own_scaled_sums<1, columns % (4 * vector) != 0>(a, scales, b,
                                                                                    at)[0];
        },
        at);
  }
  EIDER_DEVICE float max(const Floats &f, arch::Site at = arch::Site::current()) const {
    return reduce<Maximum>(f, at);
  }
  /// The largest x · factor, each rounded, of bf16 or f16.
  template <class T>
  EIDER_DEVICE float max_of_products(const Fragment<T, elements> &x, float factor,
                                     arch::Site at = arch::Site::current()) const {
    if constexpr (Tile::always_whole)
      return reduce_team<Maximum>([&] { return largest_product(x, factor); }, at);
    else
      return max(map(to<float>(x), [=](float value) { return value * factor; }), at);
  }
  EIDER_DEVICE float min(const Floats &f, arch::Site at = arch::Site::current()) const {
    return reduce<Minimum>(f, at);
  }
  template <class T>
  EIDER_DEVICE float amax(const Fragment<T, elements> &f,
                          arch::Site at = arch::Site::current()) const {
    return reduce<MaximumMagnitude>(f, at);
  }
  template <class T>
  EIDER_DEVICE float amax_number(const Fragment<T, elements> &f,
                                 arch::Site at = arch::Site::current()) const {
    return reduce<MaximumMagnitudeOfNumbers>(f, at);
  }

  //===-- Reductions over the whole matrix, of parts ------------------------===//

  // Each block sees its tiles, and stores its part, of which the kernel after that combines
  // `count`; or combines it into one value in memory; or the block that comes last does, of all.

  static EIDER_DEVICE Partial<Maximum, block> partial_max() { return {}; }
  static EIDER_DEVICE PartialOfLast<Maximum, block> partial_max(int64 *state) {
    return PartialOfLast<Maximum, block>(state);
  }
  static EIDER_DEVICE Partial<Minimum, block> partial_min() { return {}; }
  static EIDER_DEVICE PartialOfLast<Minimum, block> partial_min(int64 *state) {
    return PartialOfLast<Minimum, block>(state);
  }
  static EIDER_DEVICE Partial<MaximumMagnitude, block> partial_amax() { return {}; }
  static EIDER_DEVICE PartialOfLast<MaximumMagnitude, block> partial_amax(int64 *state) {
    return PartialOfLast<MaximumMagnitude, block>(state);
  }
  static EIDER_DEVICE Partial<MaximumMagnitudeOfNumbers, block> partial_amax_number() { return {}; }
  static EIDER_DEVICE PartialOfLast<MaximumMagnitudeOfNumbers, block>
  partial_amax_number(int64 *state) {
    return PartialOfLast<MaximumMagnitudeOfNumbers, block>(state);
  }

  template <int count>
  static EIDER_DEVICE float max_of_parts(const float *p, arch::Site at = arch::Site::current()) {
    return combine_parts<Maximum, count, block>(p, at);
  }
  template <int count>
  static EIDER_DEVICE float min_of_parts(const float *p, arch::Site at = arch::Site::current()) {
    return combine_parts<Minimum, count, block>(p, at);
  }
  template <int count>
  static EIDER_DEVICE float amax_of_parts(const float *p, arch::Site at = arch::Site::current()) {
    return combine_parts<MaximumMagnitude, count, block>(p, at);
  }
  template <int count>
  static EIDER_DEVICE float amax_number_of_parts(const float *p,
                                                 arch::Site at = arch::Site::current()) {
    return combine_parts<MaximumMagnitudeOfNumbers, count, block>(p, at);
  }

  //===-- Reductions over the whole matrix, in a cooperative kernel ---------===//

  // All blocks meet at `grid`, each with its only tile. The same bits in every thread of the grid.

  EIDER_DEVICE float max_of_grid(const Floats &f, const GridBarrier &grid,
                                 arch::Site at = arch::Site::current()) const {
    return grid.reduce<Maximum, block>(part_of<Maximum>(f), at);
  }
  EIDER_DEVICE float min_of_grid(const Floats &f, const GridBarrier &grid,
                                 arch::Site at = arch::Site::current()) const {
    return grid.reduce<Minimum, block>(part_of<Minimum>(f), at);
  }
  template <class T>
  EIDER_DEVICE float amax_of_grid(const Fragment<T, elements> &f, const GridBarrier &grid,
                                  arch::Site at = arch::Site::current()) const {
    return grid.reduce<MaximumMagnitude, block>(part_of<MaximumMagnitude>(f), at);
  }
  template <class T>
  EIDER_DEVICE float amax_number_of_grid(const Fragment<T, elements> &f, const GridBarrier &grid,
                                         arch::Site at = arch::Site::current()) const {
    return grid.reduce<MaximumMagnitudeOfNumbers, block>(part_of<MaximumMagnitudeOfNumbers>(f), at);
  }

  /// What the thread's elements in the matrix give a reduction; its identity where none is.
  template <class Operation, class T>
  EIDER_DEVICE float part_of(const Fragment<T, elements> &f) const {
    return tile().inside(0) > 0 ? reduce_own<Operation>(f) : Operation::identity();
  }

protected:
  template <class T> EIDER_DEVICE T *address(T *p, int c, int64 pitch) const {
    return p + tile().row(c) * pitch + tile().column(c) / packing<T>;
  }

private:
  EIDER_DEVICE const Tile &tile() const { return static_cast<const Tile &>(*this); }

  /// Which of its row's groups the thread's group g is. A thread's are whole groups apart, so that
  /// one is found by a division and the others lie at constants from it.
  template <int B> EIDER_DEVICE int64 group(int g) const {
    using G = GroupsOf<B>;
    const auto first = tile().column(0),
               further = tile().column(G::chunk(g)) + G::offset(g) - first;
    return static_cast<int64>(unsigned_index(first) / B) +
           static_cast<int64>(unsigned_index(further) / B);
  }

  template <class T> EIDER_DEVICE ChunkOfRow<T> chunk(T *p, int c, int64 pitch) const {
    return {p + tile().row(c) * pitch, tile().column(c), tile().inside(c), tile().before(c),
            tile().left(c)};
  }

  /// A whole chunk of which each value in memory stands for `each` elements.
  template <int each, int alignment, class T>
  static EIDER_DEVICE void load_chunk_for_each(const T *from, Fragment<T, elements> &to,
                                               int first) {
    if constexpr (each == 1) {
      load_whole_chunk<vector, alignment, cached>(from, to, first);
    } else {
      Fragment<T, vector / each> values{};
      load_whole_chunk<vector / each, alignment, cached>(from, values, 0);
      EIDER_UNROLL
      for (int j = 0; j < vector; ++j)
        to.fill(first + j, values[j / each]);
    }
  }

  template <class Operation, int B, class T>
  EIDER_DEVICE auto reduce_groups(const Fragment<T, elements> &f, arch::Site at) const {
    return combine_groups<Operation, B>(
        [](int first, const Fragment<T, elements> &counted) {
          return reduce_elements<Operation, elements_of_group<B>>(counted, first);
        },
        at, f);
  }

  /// Combines what own(first, fragments) gives in each lane of a group: of the thread's elements of
  /// it, from `first` on.
  template <class Operation, int B, class Own, class... Fragments>
  EIDER_DEVICE auto combine_groups(Own own, arch::Site at, const Fragments &...fragments) const {
    using G = GroupsOf<B>;
    static_assert(G::chunks_of_group * Tile::segments <= chunks * Tile::segments,
                  "a group reaches over several tiles");
    const auto parts_of_lane = of_inside<Operation>(
        [&](const Fragments &...counted) {
          Fragment<float, G::count> parts;
          EIDER_UNROLL
          for (int g = 0; g < G::count; ++g)
            parts.fill(g, own(g * elements_of_group<B>, counted...));
          return parts;
        },
        fragments...);
    Fragment<float, G::count> groups;
    EIDER_UNROLL
    for (int g = 0; g < G::count; ++g)
      groups.fill(g, reduce_lanes<Operation, G::lanes_of_group, block>(parts_of_lane[g], at));
    return groups;
  }

  template <class Operation, class T>
  EIDER_DEVICE float reduce(const Fragment<T, elements> &f, arch::Site at) const {
    static_assert(Tile::segments == 1, "a reduction along the row needs a tile that spans it");
    return reduce_team<Operation>([&] { return reduce_own<Operation>(f); }, at);
  }

  /// What the thread's elements give, those outside the matrix left out.
  template <class Operation, class T>
  EIDER_DEVICE float reduce_own(const Fragment<T, elements> &f) const {
    return of_inside<Operation>(
        [](const Fragment<T, elements> &counted) {
          return reduce_elements<Operation, elements>(counted, 0);
        },
        f);
  }

  template <class Operation, class T, int count>
  static EIDER_DEVICE float reduce_columns(const Fragment<T, count> &f, arch::Site at) {
    static_assert(Tile::segments == 1, "a column vector is held by tiles that span the row");
    return reduce_team<Operation>(
        [&] { return reduce_elements<Operation, count>(counted_columns<Operation>(f), 0); }, at);
  }

  /// The vector with the operation's identity outside the matrix.
  template <class Operation, class T, int count>
  static EIDER_DEVICE Fragment<T, count> counted_columns(const Fragment<T, count> &f) {
    Fragment<T, count> result{};
    EIDER_UNROLL
    for (int i = 0; i < count; ++i)
      result.fill(i, counted<Operation>(f[i], i % vector < Tile::inside_of_columns(i / vector)));
    return result;
  }

  /// An element, or the operation's identity if it is not inside.
  template <class Operation, class T> static EIDER_DEVICE T counted(T element, bool is_inside) {
    if constexpr (same<T, float>)
      return is_inside ? element : Operation::identity();
    else // Of these only magnitudes are reduced, whose identity is 0.
      return is_inside ? element : T{};
  }

  /// Combines what `own()` gives in each thread of the row or block.
  template <class Operation, class Own>
  static EIDER_DEVICE float reduce_team(Own own, arch::Site at) {
    if constexpr (cluster > 1)
      return reduce_cluster<Operation, team, cluster>(own, at);
    else
      return reduce_threads<Operation, team, block>(own(), at);
  }

  /// f of the fragments, with the operation's identity where they are outside the matrix. Most
  /// threads have nothing there, and no registers for a second copy.
  template <class Operation, class F, class... Fragments>
  EIDER_DEVICE auto of_inside(F f, const Fragments &...fragments) const {
    if constexpr (Tile::always_whole)
      return f(fragments...);
    else if (tile().is_whole())
      return f(fragments...);
    else
      return f(without_outside<Operation>(fragments)...);
  }

  template <class Operation, class T>
  EIDER_DEVICE Fragment<T, elements> without_outside(const Fragment<T, elements> &f) const {
    Fragment<T, elements> result{};
    EIDER_UNROLL
    for (int i = 0; i < elements; ++i)
      result.fill(i, counted<Operation>(f[i], i % vector < tile().inside(i / vector)));
    return result;
  }
};

/// The end of a range of tiles.
struct EndOfTiles {};

/// The tiles of this CUDA block, or of its cluster of blocks: from its own number on, every
/// grid_size-th.
template <class Tile, int cluster = 1> struct TilesOfBlock {
  int64 rows, tiles;

  struct Iterator {
    int64 rows, tiles, number;
    EIDER_DEVICE Tile operator*() const { return Tile(number, rows); }
    EIDER_DEVICE void operator++() { number += arch::grid_size() / cluster; }
    EIDER_DEVICE bool operator!=(EndOfTiles) const { return number < tiles; }
  };
  EIDER_DEVICE Iterator begin() const {
    if constexpr (cluster > 1)
      arch::Exchange::prepare();
    return {rows, tiles, arch::block_index() / cluster};
  }
  EIDER_DEVICE EndOfTiles end() const { return {}; }
};

/// The same by columns: of `across` tiles beside each other, the first of all rows, then the
/// second; or by rows after all. Of rows that are chosen more than once, a segment is in the cache
/// still.
template <class Tile, int64 across> struct TilesByColumns {
  int64 rows, tiles;
  bool go_by_rows = false;

  struct Iterator {
    int64 rows, tiles, number;
    bool go_by_rows;
    EIDER_DEVICE Tile operator*() const {
      if (go_by_rows)
        return Tile(number, rows);
      if (tiles < 1ll << 32)
        return of_column(static_cast<uint32>(number), static_cast<uint32>(tiles / across));
      return of_column(static_cast<uint64>(number), static_cast<uint64>(tiles / across));
    }
    EIDER_DEVICE void operator++() { number += arch::grid_size(); }
    EIDER_DEVICE bool operator!=(EndOfTiles) const { return number < tiles; }

  private:
    template <class Index> EIDER_DEVICE Tile of_column(Index n, Index below) const {
      const Index column = n / below, at = n - column * below;
      return Tile(static_cast<int64>(at) * across + column, rows);
    }
  };
  EIDER_DEVICE Iterator begin() const { return {rows, tiles, arch::block_index(), go_by_rows}; }
  EIDER_DEVICE EndOfTiles end() const { return {}; }
};

} // namespace eider

#endif // EIDER_TILE_MEMBERS_CUH
