// The text of a product of codes by codes: as they are by warpgroups, and by warps where there are none, or rows begin
// anywhere; by warps as they are, too, where a target multiplies such: blocks are of 128 or whole rows, and the codec is its own.
//
// RUN: eider emit scaled_matmul --from-block '1x*' --dim m=32 --dim n=4096 --dim k=14336 --arch sm_90a | FileCheck %s
// RUN: eider emit scaled_matmul --dim m=64 --dim n=4096 --dim k=14336 --arch sm_90a | FileCheck %s --check-prefix=PARTS
// RUN: eider emit scaled_matmul --from-block '*x*' --dim m=64 --dim n=4096 --dim k=14336 --arch sm_80 | FileCheck %s --check-prefix=WARPS
// RUN: eider emit scaled_matmul --dim m=64 --dim n=4096 --dim k=14336 --arch sm_89 | FileCheck %s --check-prefix=CODES
// RUN: eider emit scaled_matmul --dim m=64 --dim n=4096 --dim k=14336 --arch sm_120 | FileCheck %s --check-prefix=CODES
// RUN: eider emit scaled_matmul --dim m=64 --dim n=4096 --dim k=14336 --arch sm_89 --codec software | FileCheck %s --check-prefix=HALVES
// RUN: eider emit scaled_matmul --dim m=64 --dim n=4096 --dim k=14336 --arch sm_89 --block 1x64 | FileCheck %s --check-prefix=HALVES

// CHECK:      #include "eider/contraction/codes.cuh"
// CHECK:      void scaled_matmul(
// CHECK-NEXT:   const e4m3 *w, const float *w_scale, const e4m3 *x, const float *x_scale, bf16 *y) {
// CHECK:        using Multiply = CodeProduct<Tile, /*length=*/14336, /*block=*/1, 128,
// CHECK-SAME:     /*rows=*/32,
// CHECK:          /*x_block=*/1, 14336>;
// CHECK:          const auto product = Multiply::of<E4m3>(tile, x, w, w_scale, x_scale);
// CHECK:      void scaled_matmul_strided(
// CHECK:        using Multiply = Product<Tile,
// CHECK:          Multiply::of<E4m3, 1, 1>(tile, x, w, w_scale, x_scale, x_stride, w_stride,
// CHECK-NEXT:     w_scale_stride, x_scale_stride);

// Parts of a long length, which the last of their blocks adds up.
// PARTS:      void scaled_matmul(
// PARTS-NEXT:   const e4m3 *w, const float *w_scale, const e4m3 *x, const float *x_scale, bf16 *y,
// PARTS-NEXT:   float *product_parts, int64 *arrivals) {
// PARTS:          /*cluster=*/1, /*parts=*/4>;
// PARTS:          const auto part = Multiply::of<E4m3>(tile, x, w, w_scale, x_scale);
// PARTS-NEXT:     const Tile last = eider::leave_sums(tile, part, product_parts, arrivals);
// PARTS-NEXT:     const auto product = eider::all_sums(last, product_parts);
// PARTS-NEXT:     last.store(y, eider::to<bf16>(product));
// PARTS:      void scaled_matmul_strided(
// PARTS-NOT:    product_parts

// WARPS-NOT:  CodeProduct
// WARPS:      using E4m3 = Codec<e4m3, software>;
// WARPS:      /*x_block=*/all_rows, 14336>;
// WARPS-NOT:  meets_codes

// CODES:      void scaled_matmul(
// CODES:        using Multiply = Product<Tile, /*length=*/14336, /*block=*/1, 128,
// CODES:          /*x_block=*/1, 128, /*meets_codes=*/true>;
// CODES:          const auto product = Multiply::of<E4m3>(tile, x, w, w_scale, x_scale);
// CODES:      void scaled_matmul_strided(
// CODES:          /*x_block=*/1, 128, /*meets_codes=*/true>;

// HALVES-NOT: meets_codes
