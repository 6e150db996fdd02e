// A score function of eider.attention and eider.prefill: what it captures, round trip, and what it may not be.
//
// RUN: eider-opt %s | eider-opt | FileCheck %s

// CHECK-LABEL: eider.program @decode
// CHECK:      eider.attention %{{.*}} lengths %{{.*}} captures(%{{.*}}, %{{.*}}) : ({{.*}}, tensor<?xf32, #eider.dims<h>>, f32) -> tensor<?x?x?xf32, #eider.dims<b, h, d>> score {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[Q:.*]]: f32, %[[K:.*]]: f32, %{{.*}}: f32, %[[SLOPE:.*]]: f32, %[[CAP:.*]]: f32):
// CHECK-NEXT:   %[[D:.*]] = arith.subf %[[Q]], %[[K]] : f32
// CHECK-NEXT:   %[[B:.*]] = arith.mulf %[[SLOPE]], %[[D]] : f32
// CHECK-NEXT:   %[[R:.*]] = arith.divf %[[S]], %[[CAP]] : f32
// CHECK-NEXT:   %[[X:.*]] = arith.subf %[[R]], %[[B]] : f32
// CHECK-NEXT:   eider.yield %[[X]]
eider.program @decode(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %s = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  %slopes = eider.input "slopes" : tensor<?xf32, #eider.dims<h>>
  %cap = eider.scalar "cap" = 30.0
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l captures(%slopes, %cap) : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>, tensor<?xf32, #eider.dims<h>>, f32) -> tensor<?x?x?xf32, #eider.dims<b, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32, %slope: f32, %by: f32):
    %far = arith.subf %query, %key : f32
    %bias = arith.mulf %slope, %far : f32
    %part = arith.divf %score, %by : f32
    %given = arith.subf %part, %bias : f32
    eider.yield %given
  }
  eider.output "o", %o : tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// CHECK-LABEL: eider.program @prefill
// CHECK:      eider.prefill causal %{{.*}}, %{{.*}}, %{{.*}} by %{{.*}}, %{{.*}}, %{{.*}} : ({{.*}}) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %[[H:.*]]: f32):
// CHECK-NEXT:   %[[X:.*]] = math.tanh %[[H]] : f32
// CHECK-NEXT:   eider.yield %[[X]]
eider.program @prefill(s, h = 4, d = 64) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  %1 = eider.input "scale" : tensor<1xf32, #eider.dims<1>>
  %o = eider.prefill causal %q, %q, %q by %1, %1, %1 : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<1xf32, #eider.dims<1>>, tensor<1xf32, #eider.dims<1>>, tensor<1xf32, #eider.dims<1>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32):
    %given = math.tanh %head : f32
    eider.yield %given
  }
  eider.output "o", %o : tensor<?x4x64xf32, #eider.dims<s, h, d>>
}
