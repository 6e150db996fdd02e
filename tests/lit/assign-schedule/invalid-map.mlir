// Schedules that an elementwise program refuses, each with its reason.
//
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 3>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD1
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 48, vector = 4>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD2
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4, rows = 64>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD3
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 1, vector = 16, loads = 9>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD4
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD5
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="spiral<threads = 32, vector = 4>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD6
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD7
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4>> x"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD8
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 256, vector = 4, resident = 9>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 256, vector = 4, tiles = 2, prefetch = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=PREFETCH
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 256, vector = 4, tiles = 2, hoist = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=HOIST
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4, cluster = 2>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 4, combine = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=COMBINE

// COMBINE: error: schedule map<threads = 32, vector = 4, combine = 1>: the block that comes last combines values of the whole matrix for which nothing in it waits (an amax beside codes); the kernel has none: leave combine out
// RESIDENT: error: schedule map<threads = 256, vector = 4, resident = 9>: a multiprocessor holds at most 2048 threads
// PREFETCH: error: schedule map<threads = 256, vector = 4, tiles = 2, prefetch = 1>: a tile is loaded ahead where it is one whole row that is reduced, or a block
// HOIST: error: schedule map<threads = 256, vector = 4, tiles = 2, hoist = 1>: column vectors stay in registers over tiles where each is a whole row that is reduced
// CLUSTER: error: schedule map<threads = 32, vector = 4, cluster = 2>: a cluster of blocks holds a row that is reduced; the program reduces none
// BAD0: error: schedule row<threads = 32, vector = 4>: the program needs family map (elementwise: no reduction)
// BAD1: error: schedule map<threads = 32, vector = 3>: vector is a power of two up to 64, not 3
// BAD2: error: schedule map<threads = 48, vector = 4>: threads is a power of two below 32 or a multiple of 32, not 48
// BAD3: error: schedule map<threads = 32, vector = 4, rows = 64>: a block has at most 1024 threads, not 2048
// BAD4: error: schedule map<threads = 1, vector = 16, loads = 9>: a thread would hold 144 elements; at most 128
// BAD5: error: {{.*}}a schedule needs threads and vector
// BAD6: error: {{.*}}no schedule family 'spiral'; they are map, row, tile
// BAD7: error: {{.*}}unbalanced '<' character
// BAD8: error: {{.*}}found trailing characters: 'x>'
eider.program @p(m, n = 200) {
  %x = eider.input "x" : tensor<?x200xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x200xf32, #eider.dims<m, n>>
}
