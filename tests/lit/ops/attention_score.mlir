// The texts of attention whose scores a function changes: a lambda of a head that gives one of a score, with the queries.
//
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --set softcap=30 --set alibi=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,DECODE
// RUN: eider emit attention_prefill --dim h=32 --dim kv_heads=8 --dim d=128 --dim scales=8 --set softcap=30 --set alibi=1 --arch sm_90a \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PREFILL
// RUN: eider emit attention_prefill --dim h=32 --dim kv_heads=8 --dim d=128 --dim scales=8 --set softcap=50 --arch sm_80 \
// RUN:   | FileCheck %s --check-prefix=CAP
// RUN: not eider emit attention_decode --set softcap=-1 --arch sm_90 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: eider emit %s --arch sm_90 | FileCheck %s --check-prefix=MASK

// CHECK:        #include "eider/math.cuh"
// DECODE:       void attention_decode(
// PREFILL:      void attention_prefill(
// CHECK:        const float *slopes
// CHECK:        const auto score_of = [=](int64 index) {
// CHECK-NEXT:     const float slopes_of_head = slopes[index];
// CHECK-NEXT:     return [=](float score, float query, float key, float head) {
// CHECK-NEXT:       const float difference = eider::tanh(score * 0.033333335f) * 30.0f -
// CHECK-NEXT:           slopes_of_head * (query - key);
// CHECK-NEXT:       return difference;
// CHECK-NEXT:     };
// CHECK-NEXT:   };
// DECODE-NEXT:  Attend::leave_part<E4m3, /*scales=*/8>(eider::combining(o, attention_parts, arrivals),
// DECODE-NEXT:      eider::scored(q, score_of), k_cache, k_scale, v_cache,
// PREFILL-NEXT: Attend::write_rows<E4m3, /*scales=*/8>(o, eider::scored(q, score_of), q_scale, k, k_scale, v,

// CAP:          const auto score_of = [=](int64 index) {
// CAP-NEXT:       return [=](float score, float query, float key, float head) {
// CAP-NEXT:         return eider::tanh(score * 0.02f) * 50.0f;
// CAP-NEXT:       };
// CAP-NEXT:     };

// NEGATIVE:     --set softcap cannot be '-1'

// MASK:         void masked_rows_32(
// MASK:             {{.*}}float limit,
// MASK:               return eider::select(key < limit, score, -eider::infinity());
// MASK:         void masked(

eider.program @masked(b, pages, most) {
  %q = eider.input "q" : tensor<?x4x64xf32, #eider.dims<b, 4, 64>>
  %k = eider.input "k" : tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, 16, 2, 64>>
  %v = eider.input "v" : tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, 16, 2, 64>>
  %s = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, most>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  %limit = eider.scalar "limit" = 30.0
  %o = eider.attention %q, %k by %s, %v by %s pages %t lengths %l captures(%limit) : (tensor<?x4x64xf32, #eider.dims<b, 4, 64>>, tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, 16, 2, 64>>, tensor<1xf32, #eider.dims<1>>, tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, 16, 2, 64>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?xi32, #eider.dims<b, most>>, tensor<?xi32, #eider.dims<b>>, f32) -> tensor<?x4x64xf32, #eider.dims<b, 4, 64>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32, %by: f32):
    %none = arith.constant 0xFF800000 : f32
    %met = arith.cmpf olt, %key, %by : f32
    %given = arith.select %met, %score, %none : f32
    eider.yield %given
  }
  eider.output "o", %o : tensor<?x4x64xf32, #eider.dims<b, 4, 64>>
}
