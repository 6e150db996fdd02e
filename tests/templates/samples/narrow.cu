// Narrow and odd matrices: several rows to a warp, one thread a row, groups wider than the row, a block that is cut both ways.
#include "eider/tile/block.cuh"
#include "eider/tile/row.cuh"
#include "eider/formats/e4m3.cuh"

using namespace eider;
using One = RowTile</*threads=*/1, /*vector=*/1, /*columns=*/1, /*rows=*/128>;
using Seven = RowTile</*threads=*/8, /*vector=*/1, /*columns=*/7, /*rows=*/16>;
using Hundred = RowTile</*threads=*/16, /*vector=*/8, /*columns=*/100, /*rows=*/8>;
using Cut = BlockTile</*threads=*/64, /*vector=*/4, /*rows=*/32, /*columns=*/32, 77>;
using E4m3 = Codec<e4m3, software>;

extern "C" __global__ __launch_bounds__(128) void quantize_one(
    const bf16 *x, e4m3 *y, float *y_scale, int64 tokens) {
  for (const One row : One::over(tokens)) {
    const auto h = row.load<2>(x);
    const auto ratio = row.amax_of_groups<128>(h) / 448.0f;
    const auto scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_groups<128>(y_scale, scale);
    row.store<1>(y, E4m3::encode_bounded_quotient(h, scale));
  }
}

extern "C" __global__ __launch_bounds__(128) void quantize_seven(
    const f16 *x, e4m3 *y, float *y_scale, int64 tokens) {
  for (const Seven row : Seven::over(tokens)) {
    const auto h = row.load<2>(x);
    const float ratio = row.amax(h) / 448.0f;
    const float scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_rows(y_scale, scale);
    row.store<1>(y, E4m3::encode_bounded_quotient(h, scale));
  }
}

extern "C" __global__ __launch_bounds__(128) void quantize_hundred(
    const float *x, e4m3 *y, float *y_scale, int64 tokens) {
  for (const Hundred row : Hundred::over(tokens)) {
    const auto h = row.load(x);
    const auto ratio = row.amax_of_groups<64>(h) / 448.0f;
    const auto scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_groups<64>(y_scale, scale);
    row.store<4>(y, E4m3::encode_bounded_quotient(h, scale));
  }
}

extern "C" __global__ __launch_bounds__(64) void quantize_cut(
    const float *x, e4m3 *y, float *y_scale, int64 tokens) {
  for (const Cut block : Cut::over(tokens)) {
    const auto h = block.load<4>(x);
    const float ratio = block.amax(h) / 448.0f;
    const float scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    block.store_block(y_scale, scale);
    block.store<1>(y, E4m3::encode_bounded_quotient(h, scale));
  }
}
