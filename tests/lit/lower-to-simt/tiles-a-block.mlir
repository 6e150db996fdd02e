// Several tiles a block in turn: fewer blocks; resident blocks are the kernel's to say.
//
// RUN: eider-opt %s -eider-lower-to-simt | FileCheck %s
// RUN: eider-opt %s -eider-lower-to-simt -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

// CHECK-LABEL: simt.kernel @p
// CHECK-SAME: threads = 32 resident = 5 grid = "min(max(ceildiv(m, 3), min(m, 1024)), 2147483647)"
// TEXT: __launch_bounds__(32, 5) void p(
eider.program @p(m, n = 128) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4, tiles = 3, resident = 5>>} {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK-LABEL: simt.kernel @any
// CHECK-SAME: threads = 32 grid = "min(m, 2147483647)"
// TEXT: __launch_bounds__(32) void any(
eider.program @any(m, n = 128) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4>>} {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
