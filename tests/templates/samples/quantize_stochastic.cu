// Stochastic rounding where a thread's chunks begin at a Philox, within one, and anywhere.
#include "eider/tile/block.cuh"
#include "eider/tile/row.cuh"
#include "eider/formats/e2m1.cuh"
#include "eider/formats/e4m3fnuz.cuh"
#include "eider/formats/e5m2.cuh"

using namespace eider;
using Even = RowTile</*threads=*/128, /*vector=*/16, /*columns=*/4096, /*rows=*/1>;
using Four = RowTile</*threads=*/32, /*vector=*/8, /*columns=*/1028, /*rows=*/4>;
using Odd = BlockTile</*threads=*/64, /*vector=*/4, /*rows=*/32, /*columns=*/32, 77>;
using E2m1 = Codec<e2m1, software>;
using E5m2 = Codec<e5m2, software>;
using E4m3fnuz = Codec<e4m3fnuz, software>;

extern "C" __global__ __launch_bounds__(128) void quantize_even(
    const bf16 *x, int64 seed, int64 offset, e2m1 *y, int64 tokens) {
  for (const Even row : Even::over(tokens)) {
    const auto random = row.random(seed, offset);
    row.store<8>(y, E2m1::encode_stochastic(eider::to<float>(row.load<16>(x)), random));
  }
}

extern "C" __global__ __launch_bounds__(128) void quantize_four(
    const float *x, int64 seed, int64 offset, e5m2 *y, int64 tokens) {
  for (const Four row : Four::over(tokens)) {
    const auto random = row.random(seed, offset);
    row.store<4>(y, E5m2::encode_number_stochastic(row.load<16>(x), random));
  }
}

extern "C" __global__ __launch_bounds__(64) void quantize_odd(
    const float *x, int64 seed, int64 offset, e4m3fnuz *y, int64 tokens) {
  for (const Odd block : Odd::over(tokens)) {
    const auto random = block.random(seed, offset);
    block.store<1>(y, E4m3fnuz::encode_stochastic(block.load<4>(x), random));
  }
}
