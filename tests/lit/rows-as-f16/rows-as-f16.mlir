// Rows of bf16 become f16 in a program before the product, in units of which a row's largest is 2^15 to 2^16, where the
// product reads them; sums meet the units at their end. Its kernel lets the product's begin, which awaits it where it reads the rows.
//
// RUN: eider-opt %s -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 | FileCheck %s
// RUN: eider-opt %s -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 -eider-assign-schedule | FileCheck %s --check-prefix=ROW
// RUN: sed s/1024/18432/g %s | eider-opt -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 -eider-assign-schedule | FileCheck %s --check-prefix=WIDE
// RUN: eider-opt %s -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 -eider-assign-schedule -eider-lower-to-simt | FileCheck %s --check-prefix=SIMT
// RUN: eider-opt %s -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 -eider-assign-schedule -eider-lower-to-simt=variant=general | FileCheck %s --check-prefix=STRIDED
// RUN: eider-opt %s -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-rows-as-f16 -eider-assign-schedule -eider-lower-to-simt -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: eider-opt %s -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1>"' -eider-rows-as-f16 | FileCheck %s --check-prefix=NONE

!x = tensor<33x1024xbf16, #eider.dims<m, k>>
!w = !eider.scaled<256x1024xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: eider.program @p_f16(m = 33, n = 256, k = 1024) attributes {eider.allows_next}
// CHECK: %[[X:.*]] = eider.input "x"
// CHECK: %[[AMAX:.*]] = eider.reduce amax_number %[[X]] over [1, *]
// CHECK: %[[BOUNDED:.*]] = arith.maximumf %[[AMAX]]
// CHECK: %[[POWER:.*]] = eider.power_of_two below %[[BOUNDED]]
// CHECK: %[[UNIT:.*]] = arith.mulf %[[POWER]]
// CHECK: arith.divf %{{.*}}, %[[UNIT]]
// CHECK: arith.truncf {{.*}} to tensor<33x1024xf16
// CHECK: eider.output "x_f16_2" workspace, {{.*}} {eider.for_products = 64 : i64}
// CHECK: eider.output "x_unit" workspace, %[[UNIT]]
// CHECK-LABEL: eider.program @p(
// CHECK-NOT: eider.input "x" :
// CHECK: %[[ROWS:.*]] = eider.input "x_f16_2" workspace {eider.as_f16}
// CHECK: %[[SUM:.*]] = eider.contract {{.*}}, %[[ROWS]] {
// CHECK-NEXT: %[[READ:.*]] = eider.input "x_unit" workspace
// CHECK-NEXT: %[[SPREAD:.*]] = eider.broadcast %[[READ]]
// CHECK-NEXT: %[[TIMES:.*]] = arith.mulf %[[SUM]], %[[SPREAD]]
// CHECK: arith.addf %[[TIMES]]
// NONE-NOT: f16_2

// Of rows that it leaves for the product a thread has two chunks, whatever their number.
// ROW: @p_f16({{.*}}#eider.schedule<row<threads = 32, vector = 8, cluster = 2>>
// WIDE: @p_f16({{.*}}#eider.schedule<row<threads = 288, vector = 8, cluster = 4>>

// STRIDED: simt.kernel @p_f16_strided
// STRIDED-NOT: for_products
// STRIDED-NOT: awaits

// SIMT-LABEL: simt.kernel @p_f16
// SIMT: simt.allow_next
// SIMT: simt.for_tiles
// SIMT: simt.store elements {{.*}}for_products = 64
// SIMT-LABEL: simt.kernel @p [
// SIMT-NOT: simt.allow_next
// SIMT: simt.contract {{.*}} awaits,

// TEXT: arch::allow_next_launch();
// TEXT: row.store_for_products<64>(x_f16_2, 
// TEXT: WarpgroupProduct<
// TEXT: /*awaits=*/true>;
eider.program @p(m = 33, n = 256, k = 1024) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %bias = eider.input "x_f16" : !f
  %sum = eider.contract %w, %x : !w, !x -> !f
  %y = arith.addf %sum, %bias : !f
  eider.output "y", %y : !f
}
