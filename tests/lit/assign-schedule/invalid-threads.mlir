// Several rows a block make whole warps, or part of one.
//
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 16, vector = 4, rows = 5>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 16, vector = 4, rows = 4>"' -eider-lower-to-simt

// BAD: error: schedule row<threads = 16, vector = 4, rows = 5>: a block is whole warps, or part of one, not 80 threads
eider.program @p(m, n = 128) {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
