// The text of a product whose rows are in groups: a tile has rows of one, and meets its weights. What serves few rows
// does so by their mean in a group.
//
// RUN: eider emit grouped_matmul --dim groups=8 --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s
// RUN: eider emit grouped_matmul --dim groups=8 --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s --check-prefix=STRIDED
// RUN: eider emit grouped_scaled_matmul --dim groups=8 --dim n=4096 --dim k=14336 --arch sm_89 | FileCheck %s --check-prefix=CODES
// RUN: eider emit grouped_scaled_matmul --from-block '1x*' --dim groups=8 --dim n=4096 --dim k=14336 --arch sm_90a | FileCheck %s --check-prefix=WARPGROUPS
// RUN: eider emit batched_matmul --dim batches=8 --dim n=4096 --dim k=14336 --arch sm_90 | FileCheck %s --check-prefix=BATCHES

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

// CODES:      void grouped_scaled_matmul(
// CODES:        using Multiply = GroupedProduct<Product<Tile, /*length=*/14336, /*block=*/1, 128,
// CODES:          /*x_block=*/1, 128, /*meets_codes=*/true>>;
// CODES:        for (const Tile tile : Tile::over(ends, m)) {
// CODES-NEXT:     const auto product = Multiply::of<E4m3>(tile, x, w, w_scale, x_scale);
// CODES:      void grouped_scaled_matmul_strided(
// CODES:          Multiply::of<E4m3, 1, 1>(tile, x, w, w_scale, x_scale, x_stride,
// CODES-NEXT:     w_stride_1, w_scale_stride_1, x_scale_stride, w_stride, w_scale_stride);

// WARPGROUPS: GroupedProduct<CodeProduct<Tile, /*length=*/14336, /*block=*/1, 128,
// WARPGROUPS:   /*x_block=*/1, 14336>>;

// BATCHES:      #include "eider/contraction/grouped.cuh"
// BATCHES:      void batched_matmul(
// BATCHES:        using Tile = GroupedTile<{{.*}}
// BATCHES:        using Multiply = GroupedProduct<Product<Tile, /*length=*/14336, /*block=*/1, 128,
// BATCHES:        for (const Tile tile : Tile::over(m)) {
// BATCHES-NEXT:     const auto product = Multiply::of<E4m3>(tile, x, w, w_scale);
