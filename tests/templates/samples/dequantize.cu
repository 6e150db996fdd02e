// dequantize: y = dequantize(x, x_scale)
// e4m3 -> bf16, scales f32 per 1x128; e5m2 -> f16, scales f32 per 128x128 · hidden = 7168 (static), tokens (dynamic)
// schedule row<threads = 448, vector = 16>
#include "eider/tile/row.cuh"
#include "eider/formats/e4m3.cuh"
#include "eider/formats/e5m2.cuh"

using namespace eider;
using Row = RowTile</*threads=*/448, /*vector=*/16, /*columns=*/7168>;
using E4m3 = Codec<e4m3, software>;
using E5m2 = Codec<e5m2, software>;

extern "C" __global__ __launch_bounds__(448) void dequantize(
    const e4m3 *x, const float *x_scale, bf16 *y, int64 tokens) {
  for (const Row row : Row::over(tokens)) {
    const auto scale = row.load_groups<128>(x_scale);
    row.store(y, eider::to<bf16>(E4m3::decode(row.load(x)) * scale));
  }
}

extern "C" __global__ __launch_bounds__(448) void dequantize_blocks(
    const e5m2 *x, const float *x_scale, f16 *y, int64 tokens) {
  for (const Row row : Row::over(tokens)) {
    const auto scale = row.load_groups<128, 128>(x_scale);
    row.store(y, eider::to<f16>(E5m2::decode(row.load(x)) * scale));
  }
}
