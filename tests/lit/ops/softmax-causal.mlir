// The text of a causal softmax: columns against the row's last one, which is counted once a row; what is behind is replaced, not
// multiplied, before the maximum and before the sum, and is not loaded.
//
// RUN: eider emit softmax --dtype f32 --dim hidden=1000 --set causal=1 --arch sm_90 | FileCheck %s

// CHECK-LABEL: void softmax(
// CHECK-NEXT:    const float *x, float softmax_scale, float *y, int64 tokens) {
// CHECK:         const int64 index = row.row_index() + (1000 - tokens);
// CHECK-NEXT:    const auto x_row = row.up_to(index).load(x);
// CHECK-NEXT:    const auto condition = row.column_indices() > index;
// CHECK-NEXT:    const auto logits = eider::select(condition, -3.4028235e+38f, x_row * slope);
// CHECK-NEXT:    const float max = row.max(logits);
// CHECK-NEXT:    const auto power = eider::select(condition, 0.0f, eider::exp2(eider::fma(x_row, slope, -max)));
// CHECK-NEXT:    const float sum = row.sum(power);
// CHECK-NEXT:    const float share = eider::select(sum == 0.0f, 0.0f, eider::rcp(sum));
// CHECK-NEXT:    const auto probability = power * share;
// CHECK-NEXT:    row.store(y, probability);
// CHECK-NEXT:  }
