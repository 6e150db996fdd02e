// rms_norm: y = quantize(x * rsqrt(mean(x * x) + eps) * weight)
// bf16 -> e4m3, scales f32 per 1x* · hidden = 100000 (static), tokens (dynamic)
// schedule row<threads = 1024, vector = 8, cluster = 4>
#include "eider/tile/row.cuh"
#include "eider/formats/e4m3.cuh"

using namespace eider;

extern "C" __global__ __cluster_dims__(4, 1, 1) __launch_bounds__(1024) void rms_norm(
    const bf16 *x, const bf16 *weight, float eps, e4m3 *y, float *y_scale, int64 tokens) {
  using Row = RowTile</*threads=*/1024, /*vector=*/8, /*columns=*/100000, /*rows=*/1, /*loads=*/4,
                      /*cluster=*/4>;
  using E4m3 = Codec<e4m3, software>;
  for (const Row row : Row::over(tokens)) {
    const auto h = eider::to<float>(row.load(x));
    const float mean_square = row.sum_of_products(h, h) / 100000.0f;
    const auto n = h * eider::rsqrt(mean_square + eps) * eider::to<float>(row.load_columns(weight));
    const float ratio = row.amax(n) / 448.0f;
    const float scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_rows(y_scale, scale);
    row.store(y, E4m3::encode_bounded_quotient(n, scale));
  }
}
