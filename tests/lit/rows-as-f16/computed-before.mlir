// A program that has computed a product's rows, going by rows, leaves them as f16 itself, and lets the product begin; but not where
// another reads them, too, nor where both have a tensor that one of them writes, nor one that multiplies itself.
//
// RUN: eider-opt %s -split-input-file -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 -eider-assign-schedule | FileCheck %s

!x = tensor<33x1024xbf16, #eider.dims<m, k>>
!xf = tensor<33x1024xf32, #eider.dims<m, k>>
!r = tensor<33x1xf32, #eider.dims<m, 1>>
!w = !eider.scaled<256x1024xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: eider.program @norm_x({{.*}} {eider.allows_next, schedule = #eider.schedule<row<threads = 32, vector = 8, cluster = 2>>}
// CHECK: %[[X:.*]] = arith.truncf
// CHECK: eider.reduce amax_number %[[X]]
// CHECK: %[[ROWS:.*]] = arith.truncf {{.*}} to tensor<33x1024xf16
// CHECK-NOT: eider.output "multiplied" workspace
// CHECK: eider.output "multiplied_f16" workspace, %[[ROWS]] {eider.for_products = 64 : i64}
// CHECK: eider.output "multiplied_unit" workspace
// CHECK-LABEL: eider.program @norm(
// CHECK: eider.input "multiplied_f16" workspace {eider.as_f16}
eider.program @norm(m = 33, n = 256, k = 1024) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %wide = arith.extf %x : !x to !xf
  %squares = arith.mulf %wide, %wide : !xf
  %sum = eider.reduce sum %squares over [1, *] : !xf -> !r
  %root = math.rsqrt %sum : !r
  %spread = eider.broadcast %root : !r to !xf
  %normed = arith.mulf %wide, %spread : !xf
  %rows = arith.truncf %normed : !xf to !x
  %y = eider.contract %w, %rows : !w, !x -> !f
  eider.output "y", %y : !f
}

// -----

!x = tensor<33x256xbf16, #eider.dims<m, k>>
!w = !eider.scaled<256x256xf8E4M3FN, dims = <k, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, k>>

// The product adds what the rows are computed of, which is written.
// CHECK-LABEL: eider.program @updated_f16(
// CHECK: eider.input "multiplied" workspace
// CHECK-LABEL: eider.program @updated(
eider.program @updated(m = 33, k = 256) {
  %w = eider.input "w" : !w
  %residual = eider.inout "residual" : !f
  %more = arith.addf %residual, %residual : !f
  eider.store "residual", %more : !f
  %rows = arith.truncf %more : !f to !x
  %sum = eider.contract %w, %rows : !w, !x -> !f
  %y = arith.addf %sum, %more : !f
  eider.output "y", %y : !f
}

// -----

!x = tensor<33x256xbf16, #eider.dims<m, k>>
!w = !eider.scaled<256x256xf8E4M3FN, dims = <k, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, k>>

// CHECK-LABEL: eider.program @two_f16(
// CHECK: eider.input "multiplied" workspace
// CHECK-LABEL: eider.program @two(
eider.program @two(m = 33, k = 256) {
  %u = eider.input "u" : !w
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %hidden = eider.contract %u, %x : !w, !x -> !f
  %rows = arith.truncf %hidden : !f to !x
  %y = eider.contract %w, %rows : !w, !x -> !f
  eider.output "y", %y : !f
}

// -----

!x = tensor<33x256xbf16, #eider.dims<m, k>>
!w = !eider.scaled<256x256xf8E4M3FN, dims = <k, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, k>>

// CHECK-LABEL: eider.program @added_x(
// CHECK: eider.output "multiplied" workspace
// CHECK-LABEL: eider.program @added_f16(
// CHECK-LABEL: eider.program @added(
eider.program @added(m = 33, k = 256) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !f
  %squares = arith.mulf %x, %x : !f
  %rows = arith.truncf %squares : !f to !x
  %sum = eider.contract %w, %rows : !w, !x -> !f
  %wide = arith.extf %rows : !x to !f
  %y = arith.addf %sum, %wide : !f
  eider.output "y", %y : !f
}
