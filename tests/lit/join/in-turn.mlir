// One reduction waits for another: the blocks of one kernel meet twice.
//
// RUN: eider-opt %s -eider-partition -eider-legalize '-eider-assign-schedule=schedule="map<threads = 64, vector = 8, loads = 1, resident = 4, cooperative = 1>"' -eider-join -canonicalize -cse | FileCheck %s
// RUN: eider-opt %s -eider-partition -eider-legalize '-eider-assign-schedule=schedule="map<threads = 64, vector = 8, loads = 1, resident = 4, cooperative = 1>"' -eider-join -canonicalize -cse -eider-lower-to-simt=variant=cooperative | FileCheck %s --check-prefix=SIMT
// RUN: eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=held=16' -eider-join -canonicalize -cse | FileCheck %s

!f = tensor<?x1000xf32, #eider.dims<tokens, hidden>>
!w = tensor<1x1xf32, #eider.dims<1, 1>>

// CHECK-NOT: eider.program @in_turn_
// CHECK: eider.program @in_turn(
// CHECK-NOT: workspace
// CHECK: %[[MAX:.*]] = eider.reduce max
// CHECK: eider.broadcast %[[MAX]]
// CHECK: eider.reduce min
// CHECK-NOT: eider.reduce
// CHECK: eider.output "y"
// SIMT: simt.kernel @in_turn_cooperative {{.*}}"workspace:grid_state", "workspace:grid_state_2"
// SIMT: simt.reduce_grid max
// SIMT: simt.reduce_grid min
eider.program @in_turn(tokens, hidden = 1000) {
  %x = eider.input "x" : !f
  %max = eider.reduce max %x over [*, *] : !f -> !w
  %m = eider.broadcast %max : !w to !f
  %d = arith.subf %x, %m : !f
  %min = eider.reduce min %d over [*, *] : !f -> !w
  %n = eider.broadcast %min : !w to !f
  %y = arith.divf %d, %n : !f
  eider.output "y", %y : !f
}
