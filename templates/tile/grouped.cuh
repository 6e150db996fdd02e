//===- eider/tile/grouped.cuh - A block of rows in groups -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TILE_GROUPED_CUH
#define EIDER_TILE_GROUPED_CUH

#include "eider/tile/block.cuh"

namespace eider {

/// So many groups of rows, one after the other: each ends where `ends` says, but not before the one
/// before it, and not beyond the matrix. Rows after the last are one more group, of no weights.
template <int groups, class I> struct RowGroups {
  const I *ends;
  int64 rows; ///< Of the matrix.
  arch::Site at;

  /// Of a tile of some rows: its group (negative: there is no such tile), and rows of that.
  struct Place {
    int64 group, first_row, end;
  };

  /// Where tile `number` is, of those that all groups have one after the other: a lane of the warp
  /// counts those of one group. All 32 lanes call it together.
  template <int rows_of_tile> EIDER_DEVICE Place place_of(int64 number) const {
    const int lane = arch::thread_index() % 32;
    // The last tile of each group may have few rows, but it has one.
    const int64 most = (rows + rows_of_tile - 1) / rows_of_tile + groups;
    if (number >= (rows < most ? rows : most))
      return {-1, 0, 0};
    int64 begin = 0; // of the first lane's group
    for (int first = 0; first <= groups; first += 32) {
      const int64 given = first + lane < groups ? static_cast<int64>(ends[first + lane]) : rows;
      int64 end = given < begin ? begin : given > rows ? rows : given;
      over_lanes(lane, end, [](int64 own, int64 before) { return before > own ? before : own; });
      const int64 before = from_lane(end, lane - 1), start = lane == 0 ? begin : before;
      const int64 own = (end - start + rows_of_tile - 1) / rows_of_tile;
      int64 tiles = own; // of this group and those of the lanes before
      over_lanes(lane, tiles, [](int64 own, int64 before) { return own + before; });
      if (const int64 all = from_lane(tiles, 31); number >= all) {
        number -= all;
        begin = from_lane(end, 31);
        continue;
      }
      int found = 0;
      EIDER_UNROLL
      for (int step = 16; step > 0; step /= 2)
        found += from_lane(tiles, found + step - 1) <= number ? step : 0;
      const int64 tile = number - from_lane(tiles - own, found);
      return {first + found, from_lane(start, found) + tile * rows_of_tile, from_lane(end, found)};
    }
    return {-1, 0, 0};
  }

private:
  EIDER_DEVICE int64 from_lane(int64 value, int lane) const {
    const auto bits = static_cast<uint64>(value);
    const uint64 high = arch::shuffle(static_cast<uint32>(bits >> 32), lane & 31, at);
    return static_cast<int64>(high << 32 | arch::shuffle(static_cast<uint32>(bits), lane & 31, at));
  }

  /// Each lane's value joined with those of all lanes before it.
  template <class Join>
  EIDER_DEVICE void over_lanes(int lane, int64 &value, const Join &join) const {
    EIDER_UNROLL
    for (int distance = 1; distance < 32; distance *= 2) {
      const int64 before = from_lane(value, lane - distance);
      if (lane >= distance)
        value = join(value, before);
    }
  }
};

/// So many groups of as many rows each, one after the other, but for what the last lack.
template <int groups> struct EqualGroups {
  int64 rows; ///< Of the matrix.

  using Place = typename RowGroups<groups, int64>::Place;

  /// Where tile `number` is, of those that all groups have one after the other.
  template <int rows_of_tile> EIDER_DEVICE Place place_of(int64 number) const {
    const int64 of_each = (rows + groups - 1) / groups;
    const int64 tiles = (of_each + rows_of_tile - 1) / rows_of_tile;
    if (number >= tiles * groups)
      return {-1, 0, 0};
    const int64 group = number / tiles, begin = group * of_each,
                end = begin + of_each < rows ? begin + of_each : rows;
    const int64 first = begin + number % tiles * rows_of_tile;
    if (first >= end) // nor have those after it rows
      return {-1, 0, 0};
    return {group, first, end};
  }
};

/// A BlockTile whose rows are of one of so many groups; `cluster` of them lie below each other.
template <int threads, int vector, int tile_rows, int tile_columns, int64 columns, int groups,
          int cluster = 1>
class GroupedTile
    : public BlockTile<threads, vector, tile_rows, tile_columns, columns, 1, 1, cluster> {
  using Block = BlockTile<threads, vector, tile_rows, tile_columns, columns, 1, 1, cluster>;

public:
  /// The tiles of this CUDA block in groups of rows: grid-stride.
  template <class Groups> struct Tiles {
    Groups rows;

    struct Iterator {
      Groups rows;
      int64 number;
      typename Groups::Place place;

      EIDER_DEVICE void find() {
        constexpr int64 tiles_of_row = (columns + tile_columns - 1) / tile_columns;
        place = rows.template place_of<tile_rows * cluster>(number / (tiles_of_row * cluster));
      }
      EIDER_DEVICE GroupedTile operator*() const { return GroupedTile(number, place); }
      EIDER_DEVICE void operator++() {
        number += arch::grid_size();
        find();
      }
      EIDER_DEVICE bool operator!=(EndOfTiles) const { return place.group >= 0; }
    };
    EIDER_DEVICE Iterator begin() const {
      Iterator first{rows, arch::block_index(), {}};
      first.find();
      return first;
    }
    EIDER_DEVICE EndOfTiles end() const { return {}; }
  };
  /// Of a matrix of `total` rows, whose groups end at `ends` [groups]. No rows are beyond the
  /// matrix, whatever the ends are.
  template <class I>
  static EIDER_DEVICE Tiles<RowGroups<groups, I>> over(const I *ends, int64 total,
                                                       arch::Site at = arch::Site::current()) {
    return {{ends, total, at}};
  }
  /// Of one whose groups have as many rows each.
  static EIDER_DEVICE Tiles<EqualGroups<groups>> over(int64 total) { return {{total}}; }

  /// The group of the tile's rows, and whether it is one of the matrix's: those after the last have
  /// none.
  EIDER_DEVICE int64 group() const { return group_; }
  EIDER_DEVICE bool has_group() const { return group_ < groups; }

private:
  int64 group_;

  template <class Place>
  EIDER_DEVICE GroupedTile(int64 number, const Place &place)
      : Block(number, place.first_row, place.end), group_(place.group) {}
};

} // namespace eider

#endif // EIDER_TILE_GROUPED_CUH
