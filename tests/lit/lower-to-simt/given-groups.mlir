// Groups that are given rather than reduced bind the schedule as much: a thread's chunks must be whole groups.
//
// RUN: eider-opt %s -eider-assign-schedule -eider-lower-to-simt | FileCheck %s
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 1, vector = 16>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=TORN

// Two threads of 16 elements side by side at least.
// CHECK-NOT: threads = 1,
// CHECK: simt.load groups
// TORN: error: schedule row<threads = 1, vector = 16>: a group of 32 must divide threads × vector and fit a warp
eider.program @p(m, n = 33) {
  %x = eider.input "x" : tensor<?x33xf32, #eider.dims<m, n>>
  %s = eider.input "s" : tensor<?x2xf32, #eider.dims<m, n / 32>>
  %r = eider.reduce sum %x over [1, *] : tensor<?x33xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %a = eider.broadcast %r : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x33xf32, #eider.dims<m, n>>
  %b = eider.broadcast %s : tensor<?x2xf32, #eider.dims<m, n / 32>> to tensor<?x33xf32, #eider.dims<m, n>>
  %y = arith.mulf %a, %b : tensor<?x33xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x33xf32, #eider.dims<m, n>>
}
