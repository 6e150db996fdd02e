// Rows of values that an index chooses go by columns, where a row is in segments; codes, and rows of one segment, do not.
//
// RUN: eider emit moe_permute --dim hidden=8192 --arch sm_90 | FileCheck %s --check-prefix=VALUES
// RUN: eider emit embedding --dim hidden=8192 --arch sm_90 | FileCheck %s --check-prefix=CODES
// RUN: eider emit moe_permute --dim hidden=256 --arch sm_90 | FileCheck %s --check-prefix=SHORT
// RUN: eider emit moe_permute_quant --block '*x*' --dim hidden=8193 --arch sm_90 | FileCheck %s --check-prefix=WHOLE
// RUN: eider emit silu_mul_quant --block 1x128 --scale-source static --transposed yes --dim hidden=4096 --arch sm_90 | FileCheck %s --check-prefix=STATIC

// VALUES: for (const Row row : Row::over_columns(tokens)) {
// CODES-NOT: over_columns
// SHORT-NOT: over_columns
// WHOLE: const Row row = Row::only(tokens);
// Nothing is reduced, so that nothing is loaded ahead.
// STATIC-NOT: prefetch
