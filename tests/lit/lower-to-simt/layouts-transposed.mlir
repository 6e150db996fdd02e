// Scales of the transpose in a layout: its rows are known, its columns of scales at the launch.
// RUN: eider-opt %s --eider-decompose --eider-place-transposes --eider-legalize=target=sm_90 --eider-assign-schedule --eider-lower-to-simt | FileCheck %s

!q = !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [1, 128], scale = f32, layout = mn_major_aligned>

// CHECK: %[[ROWS:.*]] = arith.constant 256 : i64
// CHECK: %[[COLUMNS:.*]] = arith.ceildivui %[[TOKENS:[a-z0-9]+]], %{{.*}} : i64
// CHECK: %[[TO:.*]] = simt.scale_layout<mn_major_aligned> columns = 0 of %[[ROWS]] by %[[COLUMNS]] {eider.name = "y_scale_layout"}
// CHECK: simt.for_tiles by_columns %[[TOKENS]]
// CHECK: simt.store groups %{{.*}} to %[[S:.*]] at %{{.*}} pitch %[[TO]] : !simt.layout {group = 128 : i64}
// CHECK: simt.clear_padding %[[S]] in %[[TO]] : <f32>
eider.program @p(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %y = eider.quantize %t numerics<> : tensor<256x?xf32, #eider.dims<hidden, tokens>> -> !q
  eider.output "y", %y : !q
}
