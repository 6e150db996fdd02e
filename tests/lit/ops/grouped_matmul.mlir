// The text of a product whose rows are in groups: a tile has rows of one, and meets its weights. What serves few rows
// does so by their mean in a group.
//
// RUN: eider emit grouped_matmul --dim groups=8 --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s
// RUN: eider emit grouped_matmul --dim groups=8 --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s --check-prefix=STRIDED

// CHECK:      #include "eider/contraction/grouped.cuh"
// CHECK-NEXT: #include "eider/contraction/product.cuh"
// CHECK:      #include "eider/tile/grouped.cuh"
// CHECK:      contiguous, aligned · at most 32 rows
// CHECK:      void grouped_matmul_rows_8(
// CHECK-NEXT:   const e4m3 *w, const float *w_scale, const bf16 *x, const int64 *ends, bf16 *y, int64 m) {
// CHECK-NEXT:   using Tile = GroupedTile<{{.*}}/*rows=*/8,
// CHECK-NEXT:      /*groups=*/8>;
// CHECK:        using Multiply = GroupedProduct<Product<Tile, /*length=*/14336, /*block=*/1, 128,
// CHECK:        for (const Tile tile : Tile::over(ends, m)) {
// CHECK-NEXT:     const auto product = Multiply::of<E4m3>(tile, x, w, w_scale);
// CHECK-NEXT:     tile.store(y, eider::to<bf16>(product));
// CHECK:      at most 64 rows
// CHECK:      void grouped_matmul_rows_16(
// CHECK:      at most 128 rows
// CHECK:      void grouped_matmul_rows_32(
// CHECK:      void grouped_matmul(

// STRIDED:      void grouped_matmul_strided(
// STRIDED:        Multiply::of<E4m3, 1, 2>(tile, x, w, w_scale, x_stride, w_stride_1,
// STRIDED-NEXT:     w_scale_stride_1, w_stride, w_scale_stride);
