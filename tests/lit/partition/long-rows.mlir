// Rows that the target's registers do not hold: pieces of 512 are reduced by one kernel, their values by
// another, and what waits for those by kernels after. Where they are held nothing is cut.
//
// RUN: eider-opt %s -eider-legalize=target=sm_80 -eider-partition -canonicalize | FileCheck %s
// RUN: eider-opt %s -eider-legalize=target=sm_90 -eider-partition | FileCheck %s --check-prefix=HELD

!f = tensor<?x65537xf32, #eider.dims<tokens, hidden>>
!r = tensor<?x1xf32, #eider.dims<tokens, 1>>
!c = tensor<?x65537xf8E4M3FN, #eider.dims<tokens, hidden>>

// HELD-NOT: _pieces

// CHECK-LABEL: eider.program @norm_pieces(tokens
// CHECK: %[[P:.*]] = eider.reduce sum %{{.*}} over [1, 512] : {{.*}} -> tensor<?x129xf32, #eider.dims<tokens, hidden / 512>>
// CHECK: eider.output "sum_pieces" workspace, %[[P]]
// CHECK-LABEL: eider.program @norm_rows(tokens
// CHECK: %[[X:.*]] = eider.input "sum_pieces" workspace : tensor<?x129xf32, #eider.dims<tokens, 129>>
// CHECK: %[[S:.*]] = eider.reduce sum %[[X]] over [1, *]
// CHECK: eider.output "sum" workspace, %[[S]]
// CHECK-LABEL: eider.program @norm_pieces_2(tokens
// CHECK-DAG: eider.input "x"
// CHECK-DAG: eider.input "sum" workspace
// CHECK: eider.reduce amax %{{.*}} over [1, 512]
// CHECK: eider.output "amax_pieces" workspace
// CHECK-LABEL: eider.program @norm_rows_2(tokens
// CHECK: eider.output "amax" workspace
// CHECK-LABEL: eider.program @norm(tokens
// CHECK-NOT: eider.reduce
// CHECK: eider.encode {{.*}}bounded
// CHECK: eider.output "y"
eider.program @norm(tokens, hidden = 65537) {
  %x = eider.input "x" : !f
  %sum = eider.reduce sum %x over [1, *] : !f -> !r
  %all = eider.broadcast %sum : !r to !f
  %n = arith.mulf %x, %all : !f
  %amax = eider.reduce amax %n over [1, *] : !f -> !r
  %d = eider.broadcast %amax : !r to !f
  %y = eider.encode %n by %d : !f {bounded} : !f -> !c
  eider.output "y", %y : !c
}

// A sum over groups may be of another order in each of two kernels: what one has as the largest does not
// bound the other's codes.
//
// CHECK-LABEL: eider.program @of_groups_pieces(tokens
// CHECK-LABEL: eider.program @of_groups(tokens
// CHECK-NOT: bounded
// CHECK-NOT: within
// CHECK: eider.output "z"
!g = tensor<?x513xf32, #eider.dims<tokens, hidden / 128>>
eider.program @of_groups(tokens, hidden = 65537) {
  %x = eider.input "x" : !f
  %sum = eider.reduce sum %x over [1, 128] : !f -> !g
  %all = eider.broadcast %sum : !g to !f
  %n = arith.mulf %x, %all : !f
  %amax = eider.reduce amax %n over [1, *] : !f -> !r
  %d = eider.broadcast %amax : !r to !f
  %y = eider.encode %n by %d : !f within %d : !f {bounded} : !f -> !c
  eider.output "z", %y : !c
}
