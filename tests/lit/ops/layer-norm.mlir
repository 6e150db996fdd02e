// The text of layer_norm_quant: two reductions along the row, column vectors, a broken line.
//
// RUN: eider emit layer_norm_quant --dim hidden=1000 --arch sm_90 | FileCheck %s

// CHECK-LABEL: void layer_norm_quant(
// CHECK-NEXT:    const bf16 *x, const bf16 *weight, const bf16 *bias, float eps, e4m3 *y, float *y_scale,
// CHECK-NEXT:    int64 tokens) {
// CHECK:         const auto wide = eider::to<float>(x_row);
// CHECK-NEXT:    const float sum = row.sum(wide);
// CHECK-NEXT:    const float mean = eider::divide_by_count(sum, 1000.0f);
// CHECK-NEXT:    const auto centred = wide - mean;
// CHECK-NEXT:    const float sum_2 = row.sum_of_products(centred, centred);
// CHECK-NEXT:    const float variance = eider::divide_by_count(sum_2, 1000.0f);
// CHECK:         const auto n = centred * eider::rsqrt(variance + eps) * eider::to<float>(weight_row) +
// CHECK-NEXT:        eider::to<float>(bias_row);
// CHECK-NEXT:    const auto amax = row.amax_of_groups<128>(n);
