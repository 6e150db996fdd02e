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

// CHECK: @both_scaled
// CHECK: %[[W:.*]] = eider.input "w" : tensor<?x256xf8E4M3FN
// CHECK: %[[S:.*]] = eider.input "w_scale"
// CHECK: %[[X:.*]] = eider.input "x" : tensor<?x256xf8E5M2
// CHECK: %[[XS:.*]] = eider.input "x_scale" : tensor<?x1xf32
// CHECK: eider.contract %[[W]] by %[[S]] : {{.*}}, %[[X]] by %[[XS]] : tensor<?x1xf32
eider.program @both_scaled(m, n, k = 256) {
  %w = eider.input "w" : !eider.scaled<?x256xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
  %x = eider.input "x" : !eider.scaled<?x256xf8E5M2, dims = <m, k>, block = [1, *], scale = f32, layout = row_major>
  %y = eider.contract %w, %x : !eider.scaled<?x256xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>, !eider.scaled<?x256xf8E5M2, dims = <m, k>, block = [1, *], scale = f32, layout = row_major> -> tensor<?x?xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x?xf32, #eider.dims<m, n>>
}
