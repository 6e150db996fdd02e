// A cooperative program takes in the one before it: inputs once, the reduction in place of its parts.
//
// RUN: eider-opt %s -eider-partition -eider-legalize '-eider-assign-schedule=schedule="map<threads = 64, vector = 8, loads = 1, resident = 4, cooperative = 1>"' -eider-join -canonicalize -cse | FileCheck %s
// RUN: eider-opt %s -eider-partition -eider-legalize -eider-assign-schedule -eider-join | FileCheck %s --check-prefix=APART
// RUN: eider-opt %s -eider-partition -eider-legalize '-eider-assign-schedule=schedule="map<threads = 64, vector = 8, loads = 1, resident = 4, cooperative = 1>"' -eider-join -canonicalize -cse -eider-lower-to-simt=variant=cooperative -canonicalize -cse | FileCheck %s --check-prefix=SIMT
// RUN: eider-opt %s -eider-partition -eider-legalize '-eider-assign-schedule=schedule="map<threads = 64, vector = 8, loads = 1, resident = 4, cooperative = 1>"' -eider-join -canonicalize -cse -eider-lower-to-simt=variant=cooperative -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

!f = tensor<?x1000xf32, #eider.dims<tokens, hidden>>
!w = tensor<1x1xf32, #eider.dims<1, 1>>

// CHECK-NOT: eider.program @cast_amax
// CHECK: eider.program @cast(tokens, hidden = 1000) attributes {schedule = {{.*}}cooperative = 1
// CHECK: eider.input "x"
// CHECK: eider.inout "h"
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NOT: arith.addf
// CHECK: %[[AMAX:.*]] = eider.reduce amax %[[SUM]] over [*, *]
// CHECK-NOT: eider.input
// CHECK: eider.store "h", %[[SUM]]
// CHECK: eider.broadcast %[[AMAX]]
// CHECK: eider.output "y"
// CHECK: eider.output "y_scale", %[[AMAX]]

// APART: eider.program @cast_amax
// APART: eider.output "amax_parts" workspace
// APART: eider.program @cast(
// APART: eider.input "amax_parts" workspace

// SIMT: simt.kernel @cast_cooperative ["x", "h", "y", "y_scale", "grid_state", "tokens"] threads = 64 resident = 4 cooperative grid = "(tokens) * 2"
// SIMT-SAME: "workspace:grid_state"
// SIMT: %[[GRID:.*]] = simt.grid_barrier %{{.*}} : <i64>
// SIMT: simt.for_tiles only
// SIMT: %[[A:.*]] = simt.reduce_grid amax %{{.*}} in %[[GRID]] at
// SIMT: simt.store elements
// SIMT: simt.store uniform %[[A]]

// TEXT: all blocks at once
// TEXT: __launch_bounds__(64, 4) void cast_cooperative(
// TEXT: int64 *grid_state
// TEXT: const auto grid = GridBarrier(grid_state);
// TEXT: const Row row = Row::only(tokens);
// TEXT: const float amax = row.amax_of_grid({{.*}}, grid);
// TEXT: eider::store_uniform(y_scale, amax);
// TEXT-NEXT: }
eider.program @cast(tokens, hidden = 1000) {
  %x = eider.input "x" : !f
  %h = eider.inout "h" : !f
  %sum = arith.addf %x, %h : !f
  eider.store "h", %sum : !f
  %amax = eider.reduce amax %sum over [*, *] {eider.name = "amax"} : !f -> !w
  %d = eider.broadcast %amax : !w to !f
  %y = arith.divf %sum, %d : !f
  eider.output "y", %y : !f
  eider.output "y_scale", %amax : !w
}
