// Schedules that two-dimensional blocks refuse.
//
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 64, columns = 128>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD1
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 160, vector = 16, rows = 128, columns = 128>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD2
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 32, vector = 16, rows = 128, columns = 128>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD3
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 4, vector = 16, rows = 128, columns = 128>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 160, vector = 64, rows = 128, columns = 128, resident = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=COVER

// ROW: error: schedule tile<threads = 4, vector = 16, rows = 128, columns = 128>: threads must be a multiple of the 8 vectors of a block's row
// COVER: error: schedule tile<threads = 160, vector = 64, rows = 128, columns = 128, resident = 1>: 160 threads × 64 × 1 loads are not 128 × 128
// BAD0: error: schedule map<threads = 32, vector = 4>: the program needs family tile (a reduction over two-dimensional blocks)
// BAD1: error: schedule tile<threads = 256, vector = 16, rows = 64, columns = 128>: rows and columns must be the block's, 128 and 128
// BAD2: error: schedule tile<threads = 160, vector = 16, rows = 128, columns = 128>: 160 threads × 16 × 6 loads are not 128 × 128
// BAD3: error: schedule tile<threads = 32, vector = 16, rows = 128, columns = 128>: a thread would hold 512 elements; at most 128
eider.program @p(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [128, 128] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x4xf32, #eider.dims<m / 128, n / 128>>
  eider.output "y", %s : tensor<?x4xf32, #eider.dims<m / 128, n / 128>>
}
