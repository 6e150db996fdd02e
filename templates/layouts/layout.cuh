//===- eider/layouts/layout.cuh - What layouts of scales share --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_LAYOUTS_LAYOUT_CUH
#define EIDER_LAYOUTS_LAYOUT_CUH

#include "eider/memory/chunk.cuh"

namespace eider {

constexpr EIDER_DEVICE int64 rounded_up(int64 count, int64 multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// A number of columns that no text knows.
inline constexpr int64 at_launch = 0;

/// Of a matrix of `total` rows; `columns` of scales, where the launch alone knows them.
struct ScaleExtents {
  int64 total, columns;
  EIDER_DEVICE ScaleExtents(int64 total, int64 columns = at_launch)
      : total(total), columns(columns) {}
};

/// Scales in `static_columns` columns, a row of them for each `block` rows of the matrix. In memory
/// both counts are rounded up, to multiples of `row_multiple` and `column_multiple`, and what has
/// no scale is padding. A layout derives from this and says where a scale is, as an offset in
/// scales:
///   offset(row, column)   each below its rounded count; four columns from a multiple of four on
///                         are neighbours where column_multiple is 4
template <int64 static_columns, int block, int row_multiple, int column_multiple_>
struct PaddedScales {
  static constexpr int column_multiple = column_multiple_;
  int64 rows, padded_rows;

  EIDER_DEVICE explicit PaddedScales(ScaleExtents of)
      : rows((of.total + block - 1) / block), padded_rows(rounded_up(rows, row_multiple)),
        columns_at_launch_(of.columns) {}

  EIDER_DEVICE int64 columns() const {
    return static_columns == at_launch ? columns_at_launch_ : static_columns;
  }
  EIDER_DEVICE int64 padded_columns() const { return rounded_up(columns(), column_multiple); }

private:
  int64 columns_at_launch_;
};

/// A layout of one row of scales, which every row of the matrix has; to read.
template <class Layout> struct OfEveryRow : Layout {
  using OfOneRow = Layout;
  using Layout::Layout;
  EIDER_DEVICE int64 offset(int64, int64 column) const { return Layout::offset(0, column); }
};

/// Where a scale is: under a pitch, rows lie one after another; a layout knows by itself.
EIDER_DEVICE int64 offset_of(int64 pitch, int64 row, int64 column) { return row * pitch + column; }
template <class Layout>
requires requires(Layout layout) { layout.offset(0, 0); }
EIDER_DEVICE int64 offset_of(const Layout &layout, int64 row, int64 column) {
  return layout.offset(row, column);
}

/// Writes zeros to a layout's padding: all threads of the grid share it, `threads` in a block.
/// Nothing orders that and the stores of scales, which are elsewhere.
template <int threads, int alignment, class T, class Layout>
EIDER_DEVICE void clear_padding_of(T *p, const Layout &layout) {
  static_assert(
      !requires { typename Layout::OfOneRow; }, "what is written has rows of its own");
  const int64 columns = layout.columns(), spare_columns = layout.padded_columns() - columns;
  // Rows without scales are cleared four columns at a time where these are neighbours.
  constexpr int together = Layout::column_multiple;
  const int64 pieces = layout.padded_columns() / together;
  const int64 first = arch::block_index() * threads + arch::thread_index();
  const int64 stride = arch::grid_size() * threads;
  for (int64 i = first; i < (layout.padded_rows - layout.rows) * pieces; i += stride)
    store_whole_chunk<together, alignment, cached>(
        p + layout.offset(layout.rows + i / pieces, i % pieces * together), Fragment<T, together>{},
        0);
  for (int64 i = first; i < layout.rows * spare_columns; i += stride)
    p[layout.offset(i / spare_columns, columns + i % spare_columns)] = T{};
}

} // namespace eider

#endif // EIDER_LAYOUTS_LAYOUT_CUH
