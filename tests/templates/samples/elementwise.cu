// Every elementwise function, scalar and on fragments, and every reduction of a tile.
#include "eider/tile/block.cuh"
#include "eider/tile/row.cuh"

using namespace eider;
using Row = RowTile</*threads=*/64, /*vector=*/4, /*columns=*/256>;
using Block = BlockTile</*threads=*/64, /*vector=*/4, /*rows=*/8, /*columns=*/64, 256>;

extern "C" __global__ __launch_bounds__(64) void functions(
    const float *x, const f16 *w, float *y, float limit, int64 tokens) {
  for (const Row row : Row::over(tokens)) {
    const auto a = row.load(x);
    const auto b = eider::to<float>(row.load_columns(w));
    const auto c = eider::fma(eider::exp(a), eider::exp2(b), eider::log(a));
    const auto d = eider::tanh(c) + eider::erf(a) - eider::sqrt(eider::abs(b));
    const auto e = eider::select(a < b, eider::max(a, limit), eider::min(b, limit));
    const auto f = eider::select(d >= e, eider::max_number(d, e), eider::min_number(a, b));
    const float g = eider::rsqrt(limit) + eider::rcp(eider::to<float>(eider::to<bf16>(limit)));
    row.store(y, f * g + eider::select(limit == 0.0f, a, b) * eider::select(a != b, 1.0f, limit));
  }
}

extern "C" __global__ __launch_bounds__(64) void reductions(
    const float *x, float *y, float *rows, float *groups, int64 tokens) {
  for (const Row row : Row::over(tokens)) {
    const auto a = row.load(x);
    const float shifted = row.sum(a) + row.max(a) - row.min(a) + row.amax_number(a);
    row.store_rows(rows, shifted + row.load_rows(rows));
    const auto b = row.sum_of_groups<16>(a) + row.max_of_groups<16>(a) - row.min_of_groups<16>(a);
    row.store_groups<16>(groups, b);
    row.store(y, eider::select(a > b, a, shifted));
  }
}

extern "C" __global__ __launch_bounds__(64) void block_reductions(
    const float *x, const float *w, float *y, float *rows, float *blocks, int64 tokens) {
  for (const Block block : Block::over(tokens)) {
    const auto a = block.load(x) * block.load_columns(w) + block.load_rows(rows);
    const float b = block.sum(a) + block.max(a) - block.min(a) + block.load_block(blocks);
    block.store_block(blocks, b);
    block.store_rows(rows, block.sum_of_groups<64>(a));
    block.store(y, a - block.load_groups<32, 8>(w) + b);
  }
}
