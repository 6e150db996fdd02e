// Schedules that a reduction along the row refuses.
//
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 16, loads = 4>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD1
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 256, vector = 16, rows = 2>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD2
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 16>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD3
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 256, vector = 32, mma = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD4
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 256, vector = 32, warpgroups = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD5
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 256, vector = 32, codes = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD6
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 256, vector = 32, columns = 64>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD7

// BAD0: error: schedule map<threads = 32, vector = 4>: the program needs family row (a reduction along whole rows: the row stays in registers)
// BAD1: error: schedule row<threads = 32, vector = 16, loads = 4>: a reduction along the row needs the whole row in a tile
// BAD2: error: schedule row<threads = 256, vector = 16, rows = 2>: several rows a block need at most 32 threads a row
// BAD3: error: schedule row<threads = 32, vector = 16>: a thread would hold 256 elements; at most 128
// BAD4: error: schedule row<threads = 256, vector = 32, mma = 1>: tensor cores multiply rows of codes, as they are in memory and in blocks of whole 16, by a vector of bf16 (from sm_80 on) or f16 that is: leave mma out
// BAD5: error: schedule row<threads = 256, vector = 32, warpgroups = 1>: warps share sums, and warpgroups multiply, in products of matrices and attention alone: leave split and warpgroups out
// BAD6: error: schedule row<threads = 256, vector = 32, codes = 1>: queries and keys meet as codes in attention alone: leave codes out
// BAD7: error: schedule row<threads = 256, vector = 32, columns = 64>: columns are of two-dimensional blocks: leave columns out
eider.program @p(m, n = 8192) {
  %x = eider.input "x" : tensor<?x8192xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x8192xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
