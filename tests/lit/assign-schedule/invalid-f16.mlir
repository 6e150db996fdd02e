// Schedules by which rows would become f16 before a product, and cannot.
//
// RUN: not eider-opt %s -split-input-file -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 2>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not eider-opt %s -split-input-file -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 16, loads = 1, columns = 64, prefetch = 2, f16 = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not eider-opt %s -split-input-file -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, warpgroups = 1, f16 = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not eider-opt %s -split-input-file -eider-decompose -eider-partition -eider-legalize=target=sm_90a '-eider-assign-schedule=schedule="contract<threads = 128, vector = 4, rows = 64, loads = 2, columns = 64, prefetch = 4, cluster = 2, split = 3, warpgroups = 1, f16 = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BLOCKS

// TWO-COUNT-4: f16 = 2>: rows of bf16, not one alone, of a multiple of 128 up to 524288, that meet codes of e4m3 or e5m2, in no groups, become f16: leave f16 out
// WARPS-COUNT-4: f16 = 1>: rows of bf16 become f16 for products by warpgroups alone: leave f16 out
// ROWS: invalid-f16.mlir:{{.*}} f16 = 1>: rows of bf16, not one alone, of a multiple of 128 up to 524288, that meet codes of e4m3 or e5m2, in no groups, become f16: leave f16 out
// ROWS-NEXT: @of_f16(
// ROWS: invalid-f16.mlir:{{.*}} f16 = 1>: rows of bf16, not one alone, of a multiple of 128 up to 524288, that meet codes
// ROWS-NEXT: @ragged(
// ROWS: invalid-f16.mlir:{{.*}} f16 = 1>: rows of bf16, not one alone
// ROWS-NEXT: @one(
// BLOCKS: invalid-f16.mlir:{{.*}} f16 = 1>: each block that shares a product by f16 has 128 of the length: lower split or cluster
!x = tensor<33x1024xbf16, #eider.dims<m, k>>
!w = !eider.scaled<256x1024xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, n>>
eider.program @p(m = 33, n = 256, k = 1024) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %sum = eider.contract %w, %x : !w, !x -> !f
  eider.output "y", %sum : !f
}

// -----

!x = tensor<33x1024xf16, #eider.dims<m, k>>
!w = !eider.scaled<256x1024xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, n>>
eider.program @of_f16(m = 33, n = 256, k = 1024) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %sum = eider.contract %w, %x : !w, !x -> !f
  eider.output "y", %sum : !f
}

// -----

!x = tensor<33x1040xbf16, #eider.dims<m, k>>
!w = !eider.scaled<256x1040xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<33x256xf32, #eider.dims<m, n>>
eider.program @ragged(m = 33, n = 256, k = 1040) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %sum = eider.contract %w, %x : !w, !x -> !f
  eider.output "y", %sum : !f
}

// -----

!x = tensor<1x1024xbf16, #eider.dims<1, k>>
!w = !eider.scaled<256x1024xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
!f = tensor<1x256xf32, #eider.dims<1, n>>
eider.program @one(n = 256, k = 1024) {
  %w = eider.input "w" : !w
  %x = eider.input "x" : !x
  %sum = eider.contract %w, %x : !w, !x -> !f
  eider.output "y", %sum : !f
}
