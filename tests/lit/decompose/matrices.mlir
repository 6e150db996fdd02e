// Matrices are read where they are multiplied: codes stay codes, and the second level of scales is of the product.
//
// RUN: eider-opt --eider-decompose %s | FileCheck %s

// CHECK: %[[W:.*]] = eider.input "w" : tensor<?x256xf4E2M1FN
// CHECK: %[[S:.*]] = eider.input "w_scale" : tensor<?x16xf8E4M3FN
// CHECK: %[[G:.*]] = eider.input "w_global_scale"
// CHECK: %[[X:.*]] = eider.input "x"
// CHECK: %[[P:.*]] = eider.contract %[[W]] by %[[S]] : {{.*}}, %[[X]]
// CHECK: %[[SPREAD:.*]] = eider.broadcast %[[G]]
// CHECK: arith.mulf %[[P]], %[[SPREAD]]
eider.program @two_levels(m, n, k = 256) {
  %w = eider.input "w" : !eider.scaled<?x256xf4E2M1FN, dims = <n, k>, block = [1, 16], scale = f8E4M3FN, layout = row_major>
  %x = eider.input "x" : tensor<?x256xbf16, #eider.dims<m, k>>
  %y = eider.contract %w, %x : !eider.scaled<?x256xf4E2M1FN, dims = <n, k>, block = [1, 16], scale = f8E4M3FN, layout = row_major>, tensor<?x256xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x?xf32, #eider.dims<m, n>>
}
