// A block of f32 goes through shared memory at once where two fit the target, and is sent before what the rows want of it; what is of the matrix itself is stored
// before its transpose is waited for. Narrow ones are sent when they are asked for.
//
// RUN: eider emit silu_mul_quant --dim hidden=8192 --transposed yes --copy bf16 --arch sm_90a | FileCheck %s --check-prefixes=WIDE,ONE
// RUN: eider emit silu_mul_quant --dim hidden=8192 --transposed yes --copy bf16 --arch sm_80 | FileCheck %s --check-prefixes=WIDE,ONE
// RUN: eider emit silu_mul_quant --dim hidden=8192 --transposed yes --copy bf16 --arch sm_86 | FileCheck %s --check-prefixes=WIDE,TWO
// RUN: eider emit silu_mul_quant --dim hidden=8192 --transposed yes --arch sm_90a --stage simt | FileCheck %s --check-prefix=SHARED
// RUN: eider emit silu_mul_quant --dim hidden=8192 --transposed yes --arch sm_86 --stage simt | FileCheck %s --check-prefix=NONE
// RUN: eider emit cast_transpose --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=NARROW
// WIDE: void silu_mul_quant(
// WIDE: const auto activated =
// ONE-NEXT: turning = tile.begin_transpose</*passes=*/1>(activated)
// TWO-NEXT: turning = tile.begin_transpose</*passes=*/2>(activated)
// WIDE: tile.store(y,
// WIDE: tile.store(copy,
// WIDE-NEXT: turned = turning.end()
// WIDE: transposed.store{{.*}}(yt,
// SHARED: simt.kernel @silu_mul_quant [
// SHARED-SAME: shared = 65536
// NONE: simt.kernel @silu_mul_quant [
// NONE-NOT: shared =
// NARROW: void cast_transpose(
// NARROW: tile.store_groups<128>(y_scale, scale);
// NARROW-NEXT: turning = tile.begin_transpose</*passes=*/1>(x_tile)
// NARROW-NEXT: turned = turning.end()
