// The text of a product of matrices: one op multiplies, and what follows is elementwise as in any tile. A launch of few
// rows has a tile of as many.
//
// RUN: eider emit matmul_skinny --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s
// RUN: eider emit matmul_skinny --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s --check-prefix=STRIDED
// RUN: eider emit matmul_skinny --dim n=4096 --dim k=14336 --arch sm_90a | FileCheck %s --check-prefix=WARPGROUPS

// CHECK:      #include "eider/contraction/product.cuh"
// CHECK:      contiguous, aligned · at most 8 rows
// CHECK:      void matmul_skinny_rows_8(
// CHECK-NEXT:   const e4m3 *w, const float *w_scale, const bf16 *x, bf16 *y, int64 m) {
// CHECK-NEXT:   using Tile = BlockTile</*threads=*/{{[0-9]+}}, /*vector=*/1, /*rows=*/8, /*columns=*/16, /*width=*/4096>;
// CHECK-NEXT:   using E4m3 = Codec<e4m3, hardware>;
// CHECK-NEXT:   using Multiply = Product<Tile, /*length=*/14336, /*block=*/1, 128,
// CHECK:        for (const Tile tile : Tile::over(m)) {
// CHECK-NEXT:     const auto product = Multiply::of<E4m3>(tile, x, w, w_scale);
// CHECK-NEXT:     tile.store(y, eider::to<bf16>(product));
// CHECK:      void matmul_skinny_rows_16(
// CHECK:      void matmul_skinny_rows_32(
// CHECK:      void matmul_skinny(
// CHECK:        using Tile = BlockTile<{{.*}}/*rows=*/64,

// STRIDED:      void matmul_skinny_strided(
// STRIDED:        Multiply::of<E4m3, 1, 2>(tile, x, w, w_scale, x_stride, w_stride,
// STRIDED-NEXT:     w_scale_stride);

// By warpgroups rows of bf16 become f16 before, but of any number of rows.
// WARPGROUPS:      void matmul_skinny_f16_rows_64(
// WARPGROUPS:        arch::allow_next_launch();
// WARPGROUPS:      void matmul_skinny_rows_64(
// WARPGROUPS-NEXT:   const e4m3 *w, const float *w_scale, const f16 *x_f16, const float *x_unit, bf16 *y,
// WARPGROUPS:        /*awaits=*/true>;
// WARPGROUPS:        const auto part = Multiply::of<E4m3>(tile, x_f16, w, w_scale);
// WARPGROUPS:      void matmul_skinny(
// WARPGROUPS-NEXT:   const e4m3 *w, const float *w_scale, const bf16 *x, bf16 *y, int64 m) {
