// The pass makes a tile to check a schedule: it must load the dialect.
//
// RUN: eider-opt %s -eider-assign-schedule | FileCheck %s

// CHECK: eider.program @p(m, n = 100) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @p(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x100xf32, #eider.dims<m, n>>
}
