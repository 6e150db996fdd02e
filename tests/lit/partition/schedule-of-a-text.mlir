// The schedule that a text gives is its program's, not that of the kernels which are cut off.
//
// RUN: eider-opt %s -eider-partition | FileCheck %s

// CHECK: eider.program @p_amax(m, n = 64) {
// CHECK: eider.program @p(m, n = 64) attributes {schedule = #eider.schedule<map<threads = 8, vector = 8>>} {
eider.program @p(m, n = 64) attributes {schedule = #eider.schedule<map<threads = 8, vector = 8>>} {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  %a = eider.reduce amax %x over [*, *] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  %w = eider.broadcast %a : tensor<1x1xf32, #eider.dims<1, 1>> to tensor<?x64xf32, #eider.dims<m, n>>
  %y = arith.subf %x, %w : tensor<?x64xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x64xf32, #eider.dims<m, n>>
}
