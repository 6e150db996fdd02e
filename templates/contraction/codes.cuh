//===- eider/contraction/codes.cuh - Codes times codes ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_CODES_CUH
#define EIDER_CONTRACTION_CODES_CUH

#include "eider/contraction/warpgroups.cuh"

namespace eider {

/// A block's rows of codes on their way to shared memory, as products read them: its threads copy
/// whole lines of a stage. `Cut` says which part of the length.
template <class Cut, class T, int rows_> class LinesOfCodes {
  static constexpr int rows = rows_, at_once = Cut::threads / 8;
  static constexpr int of_thread = (rows + at_once - 1) / at_once;
  using Stage = Panels<rows, Cut::stage>;
  const T *from_; // where the thread's first piece of the next stage is
  int64 left_;    // of the length, from there on
  int rows_left_, place_;

  static EIDER_DEVICE int line() { return arch::thread_index() / 8; }
  static EIDER_DEVICE int chunk() { return arch::thread_index() % 8; }

public:
  static constexpr int bytes = Stage::bytes;

  /// Of the matrix from row `first` on, of which so many are there; zeros are what is not.
  EIDER_DEVICE LinesOfCodes(const T *matrix, int64 first, int64 there)
      : from_(matrix + (first + line()) * Cut::length + Cut::first() + chunk() * 16),
        left_(Cut::length - Cut::first() - chunk() * 16),
        rows_left_(static_cast<int>(there < rows ? there : rows) - line()),
        place_(Stage::offset(line(), chunk())) {}

  /// Begins to copy the next stage.
  EIDER_DEVICE void begin(unsigned char *to) {
    EIDER_UNROLL
    for (int i = 0; i < of_thread; ++i)
      if (rows % at_once == 0 || line() + i * at_once < rows)
        begin_copy<16>(to + place_ + i * at_once * Cut::stage, from_ + i * at_once * Cut::length,
                       i * at_once < rows_left_ && (Cut::is_even || left_ > 0));
    from_ += Cut::stage;
    if constexpr (!Cut::is_even)
      left_ -= Cut::stage;
  }
};

/// The tile of x · wᵀ where both are codes, by the products that warpgroups have of such (sm_90a):
/// nothing is decoded. Of each 128 along the length the sums, of which a product keeps 13 bits
/// below its largest, are scaled and added up in f32; blocks of both are 128 of a row, or whole
/// rows, and of x one row, or all. The blocks of a `cluster` share the length, stages of which are
/// `ahead` on their way.
template <class Tile, int64 length, int64 block_rows, int64 block_columns, int rows, int cluster,
          int ahead, int64 x_block_rows, int64 x_block_columns>
class CodeProduct {
  using Cut = WarpgroupCut<Tile, length, block_rows, block_columns, rows, cluster, ahead>;
  using CutOfX = WarpgroupCut<Tile, length, x_block_rows, x_block_columns, rows, cluster, ahead>;
  using Sums = float[rows / 8][4];
  static constexpr int of_group = 64 * Cut::stage; // codes of a warpgroup's rows of a stage
  static constexpr int x_at = Cut::of_codes, slot_bytes = x_at + rows * Cut::stage;
  static constexpr int scales_at = ahead * slot_bytes;
  static constexpr int x_scales_at = scales_at + Cut::of_scales * Cut::width;
  static constexpr int on_way = x_scales_at + Cut::of_scales * rows;
  using AllSums = SumsOfCluster<Tile, Cut, CodeProduct, on_way>;
  static_assert(arch::has_warpgroups, "compile for sm_90a, and not for sm_90");

public:
  using OfGroup = WeightsOfGroup<Tile, length, block_rows, block_columns>;

  /// What each thread holds of the tile; rows start on multiples of 16 bytes. Every thread of the
  /// cluster takes part.
  template <class Code, class X, class W, class S, class XS>
  static EIDER_DEVICE Fragment<float, Tile::elements> of(const Tile &tile, const X *x, const W *w,
                                                         const S *w_scale, const XS *x_scale,
                                                         arch::Site at = arch::Site::current()) {
    constexpr int turns = Cut::turns;
    unsigned char *shared = shared_for_warpgroups<CodeProduct, AllSums::memory>();
    AllSums::begin(at);
    const int64 first = tile.first_row() - Cut::rank() * Tile::rows, // the cluster's
        there = tile.matrix_rows() - first;
    LinesOfCodes<Cut, W, Cut::width> weights(w, tile.first_column(),
                                             Tile::matrix_columns - tile.first_column());
    LinesOfCodes<Cut, X, rows> rows_of_x(x, first, there);
    auto scales = scales_of_warp<Cut>(tile, w_scale, shared + scales_at);
    // Rows past the end are the last one once more.
    const int thread = arch::thread_index();
    const int64 row = x_block_rows == all_rows ? 0 : first + (thread < there ? thread : there - 1);
    ScalesOnWay<CutOfX, XS, rows> x_scales(x_scale + row * CutOfX::blocks_of_row, thread < rows,
                                           thread, Cut::lane() % 4 * 2, shared + x_scales_at);
    auto begin_copies = [&](int turn) {
      if (turn < turns) {
        unsigned char *slot = shared + turn % ahead * slot_bytes;
        weights.begin(slot);
        rows_of_x.begin(slot + x_at);
        scales.begin(turn);
        x_scales.begin(turn);
      }
      arch::close_copies();
    };
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn)
      begin_copies(turn);

    Sums sums, totals = {};
    for (int turn = 0; turn < turns; ++turn) {
      arch::await_copies<ahead - 2>();
      arch::fence_async_proxy();
      arch::barrier(at); // this turn's codes are there, and the last turn's have been used
      begin_copies(turn + ahead - 1);
      const unsigned char *slot = shared + turn % ahead * slot_bytes;
      const arch::Swizzled<Cut::stage> of_w(slot + thread / 128 * of_group, 0),
          of_x(slot + x_at, 0);
      arch::open_products(sums);
      EIDER_UNROLL
      for (int s = 0; s < Cut::stage / 32; ++s)
        arch::begin_product<W, X>(sums, of_w.moved(s * 32), of_x.moved(s * 32), s > 0, at);
      arch::close_products();
      arch::await_products<0>(sums);
      const float of_rows[2] = {scales.take(turn, 0), scales.take(turn, 8)};
      EIDER_UNROLL
      for (int e = 0; e < rows / 4; ++e) {
        const float scale = x_scales.take(turn, e / 2 * 8 + e % 2);
        EIDER_UNROLL
        for (int half = 0; half < 2; ++half) {
          float &total = totals[e / 2][e % 2 + 2 * half];
          total = arch::fma(sums[e / 2][e % 2 + 2 * half], of_rows[half] * scale, total);
        }
      }
    }
    arch::await_copies<0>();
    arch::barrier(at); // what was in shared memory has been read
    return AllSums::dealt(tile, totals, shared, at);
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_CODES_CUH
