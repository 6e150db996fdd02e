// With two-dimensional blocks mean and variance are a kernel of their own: only they go through memory.
//
// RUN: eider emit layer_norm_quant --block 32x32 --dim hidden=1024 --arch sm_90 | FileCheck %s

// CHECK-LABEL: void layer_norm_quant_rows(
// CHECK:         row.store_rows(mean
// CHECK:         row.store_rows(row_value
// CHECK-NOT:     store
// CHECK-LABEL: void layer_norm_quant(
// CHECK:         tile.load_rows(mean)
// CHECK:         tile.store_block(y_scale, scale);
