// Of a program that was cut, a given schedule is the last kernel's, which bears the program's name.
//
// RUN: eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 128, vector = 16, rows = 128, columns = 128>"' -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s

// CHECK: eider.program @p_rows(m, n = 512) attributes {schedule = #eider.schedule<row<threads =
eider.program @p_rows(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @p(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = 128, vector = 16, rows = 128, columns = 128>>}
eider.program @p(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [128, 128] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x4xf32, #eider.dims<m / 128, n / 128>>
  eider.output "y", %s : tensor<?x4xf32, #eider.dims<m / 128, n / 128>>
}
