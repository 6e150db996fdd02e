// quantize: y = quantize(x, scale)
// bf16 -> e5m2, one given scale · hidden = 4097 (static), tokens (dynamic)
// schedule row<threads = 128, vector = 8, loads = 2>: an odd width
#include "eider/tile/row.cuh"
#include "eider/formats/e5m2.cuh"

using namespace eider;
using Row = RowTile</*threads=*/128, /*vector=*/8, /*columns=*/4097, /*rows=*/1, /*loads=*/2>;
using E5m2 = Codec<e5m2, software>;

extern "C" __global__ __launch_bounds__(128) void quantize(
    const bf16 *x, const float *scale, e5m2 *y, int64 tokens) {
  const float s = eider::load_uniform(scale);
  for (const Row row : Row::over(tokens)) {
    const auto h = row.load<2>(x);
    row.store<1>(y, E5m2::encode_quotient(h, s));
  }
}
