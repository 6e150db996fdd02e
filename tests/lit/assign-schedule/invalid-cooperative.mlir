// Cooperative schedules that a target or a program refuses.
//
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="map<threads = 64, vector = 4, loads = 1, resident = 4, cooperative = 2>"' 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="map<threads = 64, vector = 4, loads = 1, cooperative = 1>"' 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="map<threads = 64, vector = 4, loads = 1, tiles = 2, resident = 4, cooperative = 1>"' 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="map<threads = 64, vector = 4, loads = 1, blocks = 132, resident = 4, cooperative = 1>"' 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_89 '-eider-assign-schedule=schedule="map<threads = 64, vector = 4, loads = 1, resident = 32, cooperative = 1>"' 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="map<threads = 16, vector = 8, rows = 3, loads = 1, resident = 4, cooperative = 1>"' 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not eider-opt %s -eider-partition -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="map<threads = 16, vector = 8, loads = 1, resident = 100, cooperative = 1>"' 2>&1 | FileCheck %s --check-prefix=BLOCKS64
// RUN: not eider emit softmax --dim hidden=512 --schedule 'row<threads = 64, vector = 8, resident = 4, cooperative = 1>' --arch sm_90 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not eider emit quantize --block '*x*' --dim hidden=512 --dim tokens=0 --schedule 'map<threads = 64, vector = 8, loads = 1, resident = 4, cooperative = 1>' --arch sm_90 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not eider emit cast_transpose --block '*x*' --dim hidden=512 --schedule 'tile<threads = 256, vector = 8, rows = 64, columns = 64, resident = 4, cooperative = 1>' --arch sm_90 2>&1 | FileCheck %s --check-prefix=TILE

// BLOCKS64: a multiprocessor holds at most 64 blocks: lower resident
// TWO: cooperative is 1 or left out
// RESIDENT: all blocks of a cooperative kernel run at once: resident says how many of them a multiprocessor holds
// TILES: each block of a cooperative kernel holds one tile, and all meet: leave tiles, blocks, prefetch, cluster, bulk and combine out
// BLOCKS: each block of a cooperative kernel holds one tile
// THREADS: a multiprocessor of sm_89 holds at most 1536 threads
// WARPS: its threads are whole warps, or a power of two
// NONE: the blocks of a cooperative kernel meet for a reduction over the whole matrix; the program has none
// ROWS: a cooperative kernel holds a matrix that has rows
// TILE: a cooperative kernel holds rows or parts of rows, not two-dimensional blocks
eider.program @whole(tokens, hidden = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<tokens, hidden>>
  %amax = eider.reduce amax %x over [*, *] : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  %d = eider.broadcast %amax : tensor<1x1xf32, #eider.dims<1, 1>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
  %y = arith.divf %x, %d : tensor<?x512xf32, #eider.dims<tokens, hidden>>
  eider.output "y", %y : tensor<?x512xf32, #eider.dims<tokens, hidden>>
}
