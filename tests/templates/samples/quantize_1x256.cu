// quantize: y = quantize(x), x · (1/s), overflow as the format has it
// f32 -> e5m2, scales f32 per 1x256 · hidden = 1000 (static), tokens (dynamic)
// schedule row<threads = 64, vector = 8>: the last group is a part
#include "eider/tile/row.cuh"
#include "eider/formats/e5m2.cuh"

using namespace eider;
using Row = RowTile</*threads=*/64, /*vector=*/8, /*columns=*/1000>;
using E5m2 = Codec<e5m2, software>;

extern "C" __global__ __launch_bounds__(64) void quantize(
    const float *x, e5m2 *y, float *y_scale, int64 tokens) {
  for (const Row row : Row::over(tokens)) {
    const auto h = row.load(x);
    const auto ratio = row.amax_of_groups<256>(h) / 57344.0f;
    const auto scale = eider::select(ratio == 0.0f, 1.0f, ratio);
    row.store_groups<256>(y_scale, scale);
    row.store<8>(y, E5m2::encode_overflow(h * eider::rcp(scale)));
  }
}
