// Few rows, said by the pass's option or by the dims, get more threads a row.
//
// RUN: eider-opt %s '-eider-assign-schedule=rows=256' | FileCheck %s --check-prefix=FEW
// RUN: eider-opt %s -eider-assign-schedule | FileCheck %s --check-prefix=ANY
// RUN: eider-opt %s '-eider-specialize=dims=m=12' -eider-assign-schedule | FileCheck %s --check-prefix=FEW
// RUN: eider-opt %s '-eider-specialize=dims=m=257' -eider-assign-schedule | FileCheck %s --check-prefix=ANY

// FEW: schedule = #eider.schedule<row<threads = 1024, vector = 4>>
// ANY: schedule = #eider.schedule<row<threads = 256, vector = 4>>
eider.program @p(m, n = 4096) {
  %x = eider.input "x" : tensor<?x4096xf32, #eider.dims<m, n>>
  %w = eider.input "w" : tensor<4096xf32, #eider.dims<n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x4096xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %b = eider.broadcast %s : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x4096xf32, #eider.dims<m, n>>
  %v = eider.broadcast %w : tensor<4096xf32, #eider.dims<n>> to tensor<?x4096xf32, #eider.dims<m, n>>
  %p = arith.mulf %b, %v : tensor<?x4096xf32, #eider.dims<m, n>>
  eider.output "y", %p : tensor<?x4096xf32, #eider.dims<m, n>>
}
