// Column vectors: read by every block; loaded first, or, where registers are bounded, where they are used.
//
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,CONTIGUOUS
// RUN: eider-opt %s -eider-lower-to-simt=variant=general -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,GENERAL

!f = tensor<?x512xf32, #eider.dims<m, n>>
!r = tensor<?x1xf32, #eider.dims<m, 1>>

// CHECK-LABEL: simt.kernel @first
// CHECK: simt.load elements
// CONTIGUOUS: %[[W:.*]] = simt.load columns %{{.*}} at %{{[a-z0-9]+}} : <bf16>, {{.*}} -> vector<16xbf16>
// GENERAL: %[[W:.*]] = simt.load columns %{{.*}} at %{{[a-z0-9]+}} {alignment = 2 : i64} : <bf16>, {{.*}} -> vector<16xbf16>
// CHECK: simt.reduce sum
// CHECK: arith.extf %[[W]]
eider.program @first(m, n = 512) attributes {schedule = #eider.schedule<row<threads = 32, vector = 16>>} {
  %x = eider.input "x" : !f
  %w = eider.input "w" : tensor<512xbf16, #eider.dims<n>>
  %sum = eider.reduce sum %x over [1, *] : !f -> !r
  %rows = eider.broadcast %sum : !r to !f
  %wide = arith.extf %w : tensor<512xbf16, #eider.dims<n>> to tensor<512xf32, #eider.dims<n>>
  %columns = eider.broadcast %wide : tensor<512xf32, #eider.dims<n>> to !f
  %y = arith.mulf %rows, %columns : !f
  eider.output "y", %y : !f
}

// CHECK-LABEL: simt.kernel @where_used
// CHECK-NOT: simt.load columns
// CHECK: simt.reduce sum
// CHECK: %[[W:.*]] = simt.load columns
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[W]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[WIDE]]
eider.program @where_used(m, n = 512) attributes {schedule = #eider.schedule<row<threads = 32, vector = 16, resident = 4>>} {
  %x = eider.input "x" : !f
  %w = eider.input "w" : tensor<512xbf16, #eider.dims<n>>
  %sum = eider.reduce sum %x over [1, *] : !f -> !r
  %rows = eider.broadcast %sum : !r to !f
  %wide = arith.extf %w : tensor<512xbf16, #eider.dims<n>> to tensor<512xf32, #eider.dims<n>>
  %columns = eider.broadcast %wide : tensor<512xf32, #eider.dims<n>> to !f
  %y = arith.mulf %rows, %columns : !f
  eider.output "y", %y : !f
}
