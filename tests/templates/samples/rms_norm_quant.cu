// rms_norm_quant: y = quantize(rms_norm(x) * weight)
// bf16 -> e4m3, scales f32 per 1x128 · hidden = 8192 (static), tokens (dynamic)
// schedule row<threads = 512, vector = 16>
#include "eider/tile/row.cuh"
#include "eider/formats/e4m3.cuh"

using namespace eider;
using Row = RowTile</*threads=*/512, /*vector=*/16, /*columns=*/8192>;
using E4m3 = Codec<e4m3, software>;

extern "C" __global__ __launch_bounds__(512) void rms_norm_quant(
    const bf16 *x, const bf16 *weight, float eps, e4m3 *y, float *y_scale, int64 tokens) {
  const auto weight_row = Row::load_columns(weight);
  for (const Row row : Row::over(tokens)) {
    const auto h = eider::to<float>(row.load(x));
    const float mean = row.sum(h * h) / 8192.0f;
    const auto n = h * eider::rsqrt(mean + eps) * eider::to<float>(weight_row);
    const auto ratio = row.amax_of_groups<128>(n) / 448.0f;
    const auto scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_groups<128>(y_scale, scale);
    row.store(y, E4m3::encode_bounded_quotient(n, scale));
  }
}
