// The text of softmax: three passes over a row that stays in registers, one division a row.
//
// RUN: eider emit softmax --dtype f32 --dim hidden=1000 --arch sm_90 | FileCheck %s

// CHECK-LABEL: void softmax(
// CHECK-NEXT:    const float *x, float softmax_scale, float *y, int64 tokens) {
// CHECK:         const auto x_row = row.load(x);
// CHECK-NEXT:    const auto logits = x_row * (softmax_scale * 1.442695f);
// CHECK-NEXT:    const float max = row.max(logits);
// CHECK-NEXT:    const auto power = eider::exp2(logits - max);
// CHECK-NEXT:    const float sum = row.sum(power);
// CHECK-NEXT:    const float share = eider::rcp(sum);
// CHECK-NEXT:    const auto probability = power * share;
// CHECK-NEXT:    row.store(y, probability);
// CHECK-NEXT:  }
