// silu_mul_quant: y = quantize(silu(gate) * up)
// bf16 -> e4m3, scales f32 per 1x128 · hidden = 8192 (static), tokens (dynamic)
// schedule row<threads = 256, vector = 16, loads = 1>: segments of 4096 columns
#include "eider/tile/row.cuh"
#include "eider/formats/e4m3.cuh"

using namespace eider;
using Row = RowTile</*threads=*/256, /*vector=*/16, /*columns=*/8192, /*rows=*/1, /*loads=*/1>;
using E4m3 = Codec<e4m3, software>;

extern "C" __global__ __launch_bounds__(256) void silu_mul_quant(
    const bf16 *x, e4m3 *y, float *y_scale, int64 x_pitch, int64 tokens) {
  for (const Row row : Row::over(tokens)) {
    const auto gate = eider::to<float>(row.load(x, x_pitch));
    const auto up = eider::to<float>(row.load(x + 8192, x_pitch));
    const auto h = gate * eider::sigmoid(gate) * up;
    const auto ratio = row.amax_of_groups<128>(h) / 448.0f;
    const auto scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_groups<128>(y_scale, scale);
    row.store(y, E4m3::encode_bounded_quotient(h, scale));
  }
}
