// A reduction along whole rows and two-dimensional blocks: two kernels.
//
// RUN: eider-opt %s -eider-partition -canonicalize | FileCheck %s

!b = tensor<?x512xbf16, #eider.dims<tokens, hidden>>
!f = tensor<?x512xf32, #eider.dims<tokens, hidden>>
!r = tensor<?x1xf32, #eider.dims<tokens, 1>>

// The in-out: both kernels read its old value; the one store is in the last and after its reads. The rows' value passes through
// the workspace under the name that it has in the program.
// CHECK-LABEL: eider.program @add_norm_rows(tokens, hidden = 512) {
// CHECK: %[[X:.*]] = eider.input "x"
// CHECK-NEXT: %[[OLD:.*]] = eider.inout "residual"
// CHECK-NEXT: %[[WIDE_X:.*]] = arith.extf %[[X]]
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[OLD]]
// CHECK-NEXT: %[[H:.*]] = arith.addf %[[WIDE_X]], %[[WIDE]] {eider.name = "h"}
// CHECK-NOT: eider.store
// CHECK: %[[SUM:.*]] = eider.reduce sum %[[H]] over [1, *]
// CHECK-NEXT: %[[INVERSE:.*]] = math.rsqrt %[[SUM]] {eider.name = "inverse"}
// CHECK-NEXT: eider.output "inverse" workspace, %[[INVERSE]] : tensor<?x1xf32, #eider.dims<tokens, 1>>
// CHECK-NEXT: }
//
// CHECK-LABEL: eider.program @add_norm(tokens, hidden = 512) {
// CHECK: %[[X2:.*]] = eider.input "x"
// CHECK-NEXT: %[[OLD2:.*]] = eider.inout "residual"
// CHECK-NEXT: arith.extf %[[X2]]
// CHECK-NEXT: arith.extf %[[OLD2]]
// CHECK-NEXT: %[[H2:.*]] = arith.addf
// CHECK-NEXT: %[[NEW:.*]] = arith.truncf %[[H2]]
// CHECK-NEXT: eider.store "residual", %[[NEW]]
// CHECK-NOT: %[[OLD2]]
// CHECK-NOT: over [1, *]
// CHECK: %[[INVERSE2:.*]] = eider.input "inverse" workspace
// CHECK: eider.broadcast %[[INVERSE2]]
// CHECK-NOT: %[[OLD2]]
// CHECK: eider.reduce amax %{{.*}} over [128, 128]
// CHECK-NOT: eider.store
// CHECK: eider.output "y"
eider.program @add_norm(tokens, hidden = 512) {
  %x = eider.input "x" : !b
  %residual = eider.inout "residual" : !b
  %wide_x = arith.extf %x : !b to !f
  %wide = arith.extf %residual : !b to !f
  %h = arith.addf %wide_x, %wide {eider.name = "h"} : !f
  %new = arith.truncf %h : !f to !b
  eider.store "residual", %new : !b
  %sum = eider.reduce sum %h over [1, *] : !f -> !r
  %inverse = math.rsqrt %sum {eider.name = "inverse"} : !r
  %spread = eider.broadcast %inverse : !r to !f
  %n = arith.mulf %h, %spread : !f
  %amax = eider.reduce amax %n over [128, 128] : !f -> tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>
  eider.output "y", %amax : tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>
}

// Two values a row, one of them a result: both pass through the workspace.
// CHECK-LABEL: eider.program @two_values_rows
// CHECK: %[[SUM:.*]] = eider.reduce sum
// CHECK: %[[MAX:.*]] = eider.reduce max
// CHECK-DAG: eider.output "row_value_0" workspace, %[[SUM]]
// CHECK-DAG: eider.output "row_value_1" workspace, %[[MAX]]
// CHECK: }
// CHECK-LABEL: eider.program @two_values(
// CHECK-DAG: %[[SUM2:.*]] = eider.input "row_value_0" workspace
// CHECK-DAG: %[[MAX2:.*]] = eider.input "row_value_1" workspace
// CHECK-DAG: eider.broadcast %[[SUM2]]
// CHECK-DAG: eider.output "largest", %[[MAX2]]
eider.program @two_values(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %sum = eider.reduce sum %x over [1, *] : !f -> !r
  %max = eider.reduce max %x over [1, *] : !f -> !r
  %spread = eider.broadcast %sum : !r to !f
  %n = arith.mulf %x, %spread : !f
  %amax = eider.reduce amax %n over [128, 128] : !f -> tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>
  eider.output "y", %amax : tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>
  eider.output "largest", %max : !r
}
