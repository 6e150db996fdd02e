// Scales that lie otherwise than row by row: a layout before the loop, zeros to its padding after it.
// RUN: eider-opt %s --eider-decompose --eider-legalize=target=sm_90 --eider-assign-schedule --eider-lower-to-simt | FileCheck %s
// RUN: eider-opt %s --eider-decompose --eider-legalize=target=sm_90 --eider-assign-schedule --eider-lower-to-simt=variant=general | FileCheck %s --check-prefix=GENERAL

!q = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = mn_major_aligned>
!p = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 32], scale = f8E8M0FNU, layout = packed_ue8m0>

// CHECK: simt.kernel @p
// CHECK-SAME: alignments = {x = 16 : i64, y = 16 : i64, y_scale = 16 : i64}
// CHECK-SAME: x_scale f8E8M0FNU [tokens, hidden / 32] packed_ue8m0
// CHECK-SAME: y_scale f32 [tokens, hidden / 128] mn_major_aligned
// CHECK: %[[FROM:.*]] = simt.scale_layout<packed_ue8m0> columns = 8 of %[[ROWS:[a-z0-9]+]] {eider.name = "x_scale_layout"}
// CHECK: %[[TO:.*]] = simt.scale_layout<mn_major_aligned> columns = 2 of %[[ROWS]] {eider.name = "y_scale_layout"}
// CHECK: simt.for_tiles %[[ROWS]] {
// CHECK: simt.load groups %{{.*}} at %{{.*}} pitch %[[FROM]] : !simt.layout {group = 32 : i64}
// CHECK: simt.store groups %{{.*}} to %[[S:.*]] at %{{.*}} pitch %[[TO]] : !simt.layout {group = 128 : i64}
// CHECK: simt.clear_padding %[[S]] in %[[TO]] : <f32>
// GENERAL: simt.scale_layout<mn_major_aligned> columns = 2 of %{{.*}} pitch %{{.*}} {
// GENERAL: simt.clear_padding %{{.*}} in %{{.*}} {alignment = 4 : i64} : <f32>
eider.program @p(tokens, hidden = 256) {
  %x = eider.input "x" : !p
  %v = eider.dequantize %x : !p -> tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %y = eider.quantize %v numerics<> : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> !q
  eider.output "y", %y : !q
}
