// A value of the whole matrix for which nothing in it waits stays in the kernel, whose last block has it;
// beside one for which something waits it is a part of the kernel before.
//
// RUN: eider-opt %s -eider-partition | FileCheck %s
// RUN: eider-opt %s -eider-legalize=target=sm_80 -eider-partition -eider-assign-schedule -eider-lower-to-simt | FileCheck %s --check-prefix=SIMT

!f = tensor<?x512xf32, #eider.dims<tokens, hidden>>
!w = tensor<1x1xf32, #eider.dims<1, 1>>

// CHECK: eider.program @given(tokens
// CHECK: eider.reduce amax %{{.*}} over [*, *]
// CHECK: eider.output "y"
// CHECK: eider.output "scale"
// CHECK-LABEL: eider.program @both_max(tokens
// CHECK: eider.output "max_parts" workspace
// CHECK: eider.output "amax_parts" workspace
// CHECK: eider.program @both(tokens

// SIMT: simt.kernel @given [{{.*}}"amax_parts", "arrivals"
// SIMT: %[[PARTIAL:.*]] = simt.partial amax
// SIMT: %[[LAST:.*]] = simt.arrivals
// SIMT: simt.for_tiles
// SIMT: simt.add %{{.*}} to %[[PARTIAL]]
// SIMT: simt.store_part %[[PARTIAL]] to %[[PARTS:.*]] :
// SIMT: simt.last_block %[[LAST]] {
// SIMT: %[[ALL:.*]] = simt.combine_parts amax %[[PARTS]] parts = 0
// SIMT: %[[SCALE:.*]] = arith.divf %[[ALL]]
// SIMT: simt.store uniform %[[SCALE]]
eider.program @given(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %amax = eider.reduce amax %x over [*, *] : !f -> !w
  %number = arith.constant 448.0 : f32
  %most = eider.broadcast %number : f32 to !w
  %scale = arith.divf %amax, %most : !w
  eider.output "y", %x : !f
  eider.output "scale", %scale : !w
}

// SIMT: simt.kernel @both_max
// SIMT: simt.kernel @both [
// SIMT-NOT: simt.last_block
eider.program @both(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %max = eider.reduce max %x over [*, *] : !f -> !w
  %amax = eider.reduce amax %x over [*, *] : !f -> !w
  %all = eider.broadcast %max : !w to !f
  %y = arith.divf %x, %all : !f
  eider.output "y", %y : !f
  eider.output "amax", %amax : !w
}
