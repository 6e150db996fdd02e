// Rows that are a quotient of a dim: the loop must run over ceil(m / 4) rows, as the grid does.
//
// XFAIL: *
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse | FileCheck %s

// CHECK: grid = "min(ceildiv(m, 4), 2147483647)"
// CHECK: %[[ROWS:.*]] = arith.
// CHECK-NEXT: simt.for_tiles %[[ROWS]]
eider.program @p(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m / 4, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m / 4, n>>
}
