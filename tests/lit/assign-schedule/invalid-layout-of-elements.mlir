// Layouts are of scales of blocks; of one an element none is emitted.
// RUN: not eider emit quantize --block 1x1 --scale-source static --scale e8m0 --scale-layout swizzled_128x4 --dim hidden=64 --arch sm_90 2>&1 | FileCheck %s
// RUN: not eider emit dequantize --block 1x1 --scale-layout mn_major_aligned --dim hidden=64 --arch sm_90 2>&1 | FileCheck %s
// RUN: eider emit dequantize --block 1x1 --dim hidden=64 --arch sm_90 | FileCheck %s --check-prefix=PLAIN

// CHECK: scale' has a scale an element, or a column, in a layout of scales of blocks: take row_major, or larger blocks
// PLAIN: row.load
