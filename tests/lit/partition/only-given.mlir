// A value of the whole matrix for which nothing in it waits stays in the kernel, whose blocks combine it in memory:
// an output, or what a kernel after it computes outputs of. A kernel before has the begin. Beside one for which
// something waits it is a part of the kernel before.
//
// RUN: eider-opt %s -eider-partition | FileCheck %s
// RUN: eider-opt %s -eider-legalize=target=sm_80 -eider-partition -eider-assign-schedule -eider-lower-to-simt | FileCheck %s --check-prefix=SIMT

!f = tensor<?x512xf32, #eider.dims<tokens, hidden>>
!w = tensor<1x1xf32, #eider.dims<1, 1>>

// CHECK: eider.program @direct_begin({{.*}} attributes {eider.of_whole}
// CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[BEGIN:.*]] = eider.broadcast %[[LOWEST]]
// CHECK: eider.output "max", %[[BEGIN]]
// CHECK: %[[HIGHEST:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[OTHER:.*]] = eider.broadcast %[[HIGHEST]]
// CHECK: eider.output "min", %[[OTHER]]
// CHECK: eider.program @direct(
// CHECK-NOT: attributes
// CHECK: %[[MAX:.*]] = eider.reduce max
// CHECK: eider.output "max", %[[MAX]] {eider.combined}
// CHECK: eider.output "min", %{{.*}} {eider.combined}

// SIMT: simt.kernel @direct_begin ["max", "min"]
// SIMT: simt.kernel @direct ["x", "y", "max", "min", "tokens"]
// SIMT: %[[SEEN:.*]] = simt.partial max
// SIMT: simt.for_tiles
// SIMT: simt.add %{{.*}} to %[[SEEN]]
// SIMT: simt.combine %[[SEEN]] into %{{.*}} : <f32>
eider.program @direct(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %max = eider.reduce max %x over [*, *] : !f -> !w
  %min = eider.reduce min %x over [*, *] : !f -> !w
  eider.output "y", %x : !f
  eider.output "max", %max : !w
  eider.output "min", %min : !w
}

// CHECK: eider.program @given_begin(
// CHECK: eider.output "amax_of_all" workspace
// CHECK: eider.program @given(tokens
// CHECK-NOT: eider.scalar
// CHECK: %[[AMAX:.*]] = eider.reduce amax %{{.*}} over [*, *]
// CHECK: eider.output "y"
// CHECK-NOT: eider.output "scale"
// CHECK: eider.output "amax_of_all" workspace, %[[AMAX]] {eider.combined}
// CHECK: eider.program @given_given({{.*}} attributes {eider.of_whole}
// CHECK: %[[ALL:.*]] = eider.input "amax_of_all" workspace
// CHECK: %[[SCALE:.*]] = arith.divf %[[ALL]]
// CHECK: eider.output "scale", %[[SCALE]]
// CHECK-LABEL: eider.program @both_max(tokens
// CHECK: eider.output "max_parts" workspace
// CHECK: eider.output "amax_parts" workspace
// CHECK: eider.program @both(tokens

// SIMT: simt.kernel @given [
// SIMT: simt.combine
// SIMT: simt.kernel @given_given [
eider.program @given(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %amax = eider.reduce amax %x over [*, *] : !f -> !w
  %number = eider.scalar "largest" = 448.0
  %most = eider.broadcast %number : f32 to !w
  %scale = arith.divf %amax, %most : !w
  eider.output "y", %x : !f
  eider.output "scale", %scale : !w
}

// SIMT: simt.kernel @both_max
// SIMT: simt.kernel @both [
// SIMT-NOT: simt.combine %
eider.program @both(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %max = eider.reduce max %x over [*, *] : !f -> !w
  %amax = eider.reduce amax %x over [*, *] : !f -> !w
  %all = eider.broadcast %max : !w to !f
  %y = arith.divf %x, %all : !f
  eider.output "y", %y : !f
  eider.output "amax", %amax : !w
}
