// A tensor without axes: an error, not a crash.
//
// RUN: not eider-opt %s -eider-partition 2>&1 | FileCheck %s

// CHECK: error: {{.*}}rank 0
eider.program @p() {
  %x = eider.input "x" : tensor<f32, #eider.dims<>>
  eider.output "y", %x : tensor<f32, #eider.dims<>>
}
