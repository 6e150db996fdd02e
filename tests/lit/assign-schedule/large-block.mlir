// 2^16 elements: more threads rather than more registers.
//
// RUN: eider-opt %s -eider-assign-schedule -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s

// CHECK: eider.program @block_256x256(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = {{[0-9]+}}, vector = 16, rows = 256, columns = 256>>}
eider.program @block_256x256(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [256, 256] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x2xf32, #eider.dims<m / 256, n / 256>>
  eider.output "y", %s : tensor<?x2xf32, #eider.dims<m / 256, n / 256>>
}
