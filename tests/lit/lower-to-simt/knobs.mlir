// The knobs that change no tile: column vectors loaded once a block, elements as data used once, a
// grid that stays, FP8 by arithmetic.
//
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, tiles = 2, hoist = 1, streaming = 1>"' -eider-lower-to-simt | FileCheck %s
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, tiles = 2, hoist = 1, streaming = 1>"' -eider-lower-to-simt | eider-opt -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, blocks = 528, prefetch = 1, streaming = 1, software = 1>"' -eider-lower-to-simt | FileCheck %s --check-prefix=GRID
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, tiles = 2, blocks = 5>"' 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, streaming = 2>"' 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: eider emit rms_norm_quant --dim hidden=1024 --arch sm_90 --schedule "row<threads = 32, vector = 16, lanes = 4>" | FileCheck %s --check-prefix=FOLDED
// RUN: not eider emit rms_norm_quant --dim hidden=1024 --arch sm_90 --schedule "row<threads = 32, vector = 16, lanes = 3>" 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not eider emit rms_norm_quant --dim hidden=1536 --arch sm_90 --schedule "row<threads = 32, vector = 16, lanes = 4>" 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not eider emit rms_norm_quant --dim hidden=512 --arch sm_90 --schedule "row<threads = 32, vector = 16, lanes = 4>" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not eider emit silu --dim hidden=1024 --arch sm_90 --schedule "map<threads = 32, vector = 16, loads = 2, lanes = 4, bulk = 1>" 2>&1 | FileCheck %s --check-prefix=APART
// RUN: eider emit silu --dim hidden=1024 --arch sm_90 --schedule "map<threads = 32, vector = 16, loads = 2, lanes = 32, bulk = 1>" | FileCheck %s --check-prefix=WARP
// RUN: not eider emit quantize --block 128x128 --dim hidden=1024 --arch sm_90 --schedule "tile<threads = 1024, vector = 16, rows = 128, columns = 128, lanes = 4>" 2>&1 | FileCheck %s --check-prefix=THREE

// CHECK: %[[FIRST:.*]] = simt.first_tile
// CHECK: %[[W:.*]] = simt.load columns %{{.*}} at %[[FIRST]]
// CHECK: simt.for_tiles
// CHECK: simt.load elements {{.*}} {{[{].*}}streaming
// CHECK-NOT: simt.load columns
// CHECK: simt.store elements {{.*}} {{[{].*}}streaming

// TEXT:      const auto w_row = Row::load_columns(w);
// TEXT-NEXT: for (const Row row : Row::over(m)) {
// TEXT-NEXT:   const auto x_row = row.load<16, streaming>(x);
// TEXT:        row.store<16, streaming>(y,

// GRID: grid = "min(min(m, 528), 2147483647)"
// GRID: simt.load elements {{.*}}streaming
// GRID: simt.encode {{.*}}software

// FOLDED: using Row = RowTile</*threads=*/32, /*vector=*/16, /*columns=*/1024, /*rows=*/1, /*loads=*/2,
// FOLDED-NEXT: /*cluster=*/1, /*lanes=*/4>;
// THREE: lanes, at most 32, are of rows or parts of rows, and divide their threads
// ODD: a group of 128 must divide lanes × vector, or be a multiple of it that loads are whole numbers of
// ALONE: lanes hold more than one chunk each, of several elements, of a program that has no products
// APART: what is stored in bulk lies side by side in all lanes of a warp: lanes is 32, or left out
// WARP: using Row = RowTile</*threads=*/32, /*vector=*/16, /*columns=*/1024, /*rows=*/1, /*loads=*/2,
// WARP-NEXT: /*cluster=*/1, /*lanes=*/32>;
// WARP: row.store_in_bulk(stores, y, 

// BOTH: error: schedule row<threads = 32, vector = 4, tiles = 2, blocks = 5>: a persistent grid (blocks) takes all tiles in turn: leave tiles out
// TWO: error: schedule row<threads = 32, vector = 4, streaming = 2>: hoist, streaming and software are 1 or left out
eider.program @p(m, n = 128) {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  %w = eider.input "w" : tensor<128xf32, #eider.dims<n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %b = eider.broadcast %s : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x128xf32, #eider.dims<m, n>>
  %v = eider.broadcast %w : tensor<128xf32, #eider.dims<n>> to tensor<?x128xf32, #eider.dims<m, n>>
  %p = arith.mulf %b, %v : tensor<?x128xf32, #eider.dims<m, n>>
  %q = arith.mulf %p, %x : tensor<?x128xf32, #eider.dims<m, n>>
  %y = eider.encode %q {codec = #eider<codec hardware>} : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x128xf8E4M3FN, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x128xf8E4M3FN, #eider.dims<m, n>>
}
