// A reduction over the whole matrix is a kernel of its own, which leaves parts; an in-out is stored by
// the last kernel alone, and a code's quotient is unbounded where the amax is of another order of sums.
//
// RUN: eider-opt %s -eider-partition | FileCheck %s

!f = tensor<?x512xf32, #eider.dims<tokens, hidden>>
!r = tensor<?x1xf32, #eider.dims<tokens, 1>>
!w = tensor<1x1xf32, #eider.dims<1, 1>>
!c = tensor<?x512xf8E4M3FN, #eider.dims<tokens, hidden>>

// CHECK-LABEL: eider.program @cast_amax(tokens
// CHECK: %[[A:.*]] = eider.reduce amax %{{.*}} over [*, *]
// CHECK-NOT: eider.encode
// CHECK: eider.output "amax_parts" workspace, %[[A]]
// CHECK-LABEL: eider.program @cast(tokens
// CHECK-NOT: eider.reduce
// CHECK: eider.input "amax_parts" workspace {eider.name = "amax", eider.parts_of = #eider<reduction amax>}
// CHECK: eider.encode {{.*}} {bounded}
// CHECK: eider.output "y_scale"
eider.program @cast(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %amax = eider.reduce amax %x over [*, *] {eider.name = "amax"} : !f -> !w
  %d = eider.broadcast %amax : !w to !f
  %y = eider.encode %x by %d : !f {bounded} : !f -> !c
  eider.output "y", %y : !c
  eider.output "y_scale", %amax : !w
}

// CHECK-LABEL: eider.program @norm_amax(tokens
// CHECK-NOT: eider.store
// CHECK-LABEL: eider.program @norm(tokens
// CHECK: eider.store "h"
// CHECK-NOT: bounded
// CHECK: eider.encode
// CHECK-NOT: bounded
// CHECK: eider.output "y"
eider.program @norm(tokens, hidden = 512) {
  %h = eider.inout "h" : !f
  %twice = arith.addf %h, %h : !f
  eider.store "h", %twice : !f
  %sum = eider.reduce sum %twice over [1, *] : !f -> !r
  %all = eider.broadcast %sum : !r to !f
  %n = arith.mulf %twice, %all : !f
  %amax = eider.reduce amax %n over [*, *] : !f -> !w
  %d = eider.broadcast %amax : !w to !f
  %y = eider.encode %n by %d : !f {bounded} : !f -> !c
  eider.output "y", %y : !c
}

// One that waits for another is a kernel after it.
//
// CHECK-LABEL: eider.program @in_turn_max(tokens
// CHECK: eider.output "max_parts" workspace
// CHECK-LABEL: eider.program @in_turn_min(tokens
// CHECK: eider.input "max_parts" workspace
// CHECK: eider.output "min_parts" workspace
// CHECK-LABEL: eider.program @in_turn(tokens
// CHECK-DAG: eider.input "max_parts" workspace
// CHECK-DAG: eider.input "min_parts" workspace
// CHECK: eider.output "y"
eider.program @in_turn(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %max = eider.reduce max %x over [*, *] : !f -> !w
  %top = eider.broadcast %max : !w to !f
  %below = arith.subf %x, %top : !f
  %min = eider.reduce min %below over [*, *] : !f -> !w
  %bottom = eider.broadcast %min : !w to !f
  %product = arith.mulf %below, %bottom : !f
  %y = arith.addf %product, %top : !f
  eider.output "y", %y : !f
}
