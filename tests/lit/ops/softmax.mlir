// The text of softmax: three passes over a row that stays in registers, one division a row. The largest of 16-bit values times the
// scale is found before they are multiplied.
//
// RUN: eider emit softmax --dtype f32 --dim hidden=1000 --arch sm_90 | FileCheck %s
// RUN: eider emit softmax --dtype bf16 --dim hidden=1000 --arch sm_90 | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: void softmax(
// CHECK-NEXT:    const float *x, float softmax_scale, float *y, int64 tokens) {
// CHECK:         const float slope = softmax_scale * 1.442695f;
// CHECK:         const auto x_row = row.load(x);
// CHECK-NEXT:    const auto logits = x_row * slope;
// CHECK-NEXT:    const float max = row.max(logits);
// CHECK-NEXT:    const auto power = eider::exp2(eider::fma(x_row, slope, -max));
// CHECK-NEXT:    const float sum = row.sum(power);
// CHECK-NEXT:    const float share = eider::rcp(sum);
// CHECK-NEXT:    const auto probability = power * share;
// CHECK-NEXT:    row.store(y, probability);
// CHECK-NEXT:  }

// NARROW-LABEL: void softmax(
// NARROW:         const auto x_row = row.load(x);
// NARROW-NEXT:    const float max = row.max_of_products(x_row, slope);
// NARROW-NEXT:    const auto power = eider::exp2(eider::fma(eider::to<float>(x_row), slope, -max));
