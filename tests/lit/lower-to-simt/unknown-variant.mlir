// The variants have names.
//
// RUN: not eider-opt %s -eider-lower-to-simt=variant=strided 2>&1 | FileCheck %s

// CHECK: error: no variant 'strided'
eider.program @p(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}
