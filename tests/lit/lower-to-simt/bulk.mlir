// Wide elements of aligned rows that whole warps hold are stored out of shared memory, in bulk; codes as ever.
//
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, bulk = 1>"' -eider-lower-to-simt | FileCheck %s --check-prefix=BULK
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, bulk = 1>"' -eider-lower-to-simt | eider-opt -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=STORES
// RUN: eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, bulk = 1>"' -eider-lower-to-simt=variant=general | FileCheck %s --check-prefix=ANYWHERE
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, bulk = 2>"' 2>&1 | FileCheck %s --check-prefix=BULKTWO
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 8, bulk = 1>"' 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not eider-opt %s -eider-legalize=target=sm_89 '-eider-assign-schedule=schedule="row<threads = 32, vector = 4, bulk = 1>"' 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not eider emit rms_norm --dim hidden=32768 --arch sm_90 --schedule "row<threads = 1024, vector = 8, bulk = 1>" 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not eider emit softmax --dim hidden=180224 --arch sm_90 --schedule "row<threads = 1024, vector = 2, cluster = 8, bulk = 1>" 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: not eider emit quantize --block 128x128 --dim hidden=1024 --arch sm_90 --schedule "tile<threads = 1024, vector = 16, rows = 128, columns = 128, bulk = 1>" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not eider emit quantize --dim hidden=1024 --arch sm_90 --schedule "map<threads = 32, vector = 16, loads = 1, bulk = 1>" 2>&1 | FileCheck %s --check-prefix=CODES

// BULK: %[[ON_WAY:.*]] = simt.bulk_stores
// BULK: simt.for_tiles
// BULK: simt.store elements {{.*}} in %[[ON_WAY]] :
// STORES:      BulkStores stores;
// STORES-NEXT: for (const Row row : Row::over(m)) {
// STORES:        row.store_in_bulk(stores, y,
// ANYWHERE-NOT: bulk_stores
// CODES: schedule map<threads = 32, vector = 16, loads = 1, bulk = 1>: no more than 8 bits an element are stored, which is not done in bulk: leave bulk out
// BULKTWO: error: schedule row<threads = 32, vector = 4, bulk = 2>: bulk is 1 or left out, and of rows or parts of rows
// LANES: error: schedule row<threads = 32, vector = 8, bulk = 1>: warps store in bulk what they hold of whole rows: threads is a multiple of 32, and 32 × vector divides the row
// OLD: error: schedule row<threads = 32, vector = 4, bulk = 1>: sm_89 has no stores in bulk; sm_90 and later have
// LONG: schedule row<threads = 1024, vector = 8, bulk = 1>: what a block stores in bulk must fit 44 KiB of shared memory: lower threads, rows or loads
// SLOTS: schedule row<threads = 1024, vector = 2, cluster = 8, bulk = 1>: what a block stores in bulk must fit 40 KiB of shared memory: lower threads, rows or loads
// TILE: schedule tile<threads = 1024, vector = 16, rows = 128, columns = 128, bulk = 1>: bulk is 1 or left out, and of rows or parts of rows
eider.program @p(m, n = 128) {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  %w = eider.input "w" : tensor<128xf32, #eider.dims<n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %b = eider.broadcast %s : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x128xf32, #eider.dims<m, n>>
  %v = eider.broadcast %w : tensor<128xf32, #eider.dims<n>> to tensor<?x128xf32, #eider.dims<m, n>>
  %p = arith.mulf %b, %v : tensor<?x128xf32, #eider.dims<m, n>>
  %q = arith.mulf %p, %x : tensor<?x128xf32, #eider.dims<m, n>>
  %y = eider.encode %q {codec = #eider<codec hardware>} : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x128xf8E4M3FN, #eider.dims<m, n>>
  eider.output "c", %y : tensor<?x128xf8E4M3FN, #eider.dims<m, n>>
  eider.output "y", %q : tensor<?x128xf32, #eider.dims<m, n>>
}
