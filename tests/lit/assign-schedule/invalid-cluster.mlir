// Clusters that a target or a program refuses.
//
// RUN: not eider-opt %s -eider-legalize=target=sm_80 '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, cluster = 4>"' 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not eider-opt %s -eider-legalize=target=sm_89 '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, cluster = 2>"' 2>&1 | FileCheck %s --check-prefix=OLD89
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, cluster = 3>"' 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, cluster = 16>"' 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 16, vector = 8, cluster = 2>"' 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 32, vector = 8, rows = 2, cluster = 2>"' 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, blocks = 6, cluster = 4>"' 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: eider-opt %s -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, cluster = 8>"' | FileCheck %s --check-prefix=GOOD
// RUN: eider-opt %s -eider-legalize=target=host '-eider-assign-schedule=schedule="row<threads = 64, vector = 8, cluster = 8>"' | FileCheck %s --check-prefix=GOOD

// OLD: error: schedule row<threads = 64, vector = 8, cluster = 4>: sm_80 has no clusters of blocks; sm_90 and later have
// OLD89: error: schedule row<threads = 64, vector = 8, cluster = 2>: sm_89 has no clusters of blocks; sm_90 and later have
// THREE: error: schedule row<threads = 64, vector = 8, cluster = 3>: a cluster is 1, 2, 4 or 8 blocks, not 3
// LARGE: error: schedule row<threads = 64, vector = 8, cluster = 16>: a cluster is 1, 2, 4 or 8 blocks, not 16
// LANES: error: schedule row<threads = 16, vector = 8, cluster = 2>: a cluster holds one row, in whole warps of each of its blocks
// ROWS: error: schedule row<threads = 32, vector = 8, rows = 2, cluster = 2>: a cluster holds one row, in whole warps of each of its blocks
// BROKEN: error: schedule row<threads = 64, vector = 8, blocks = 6, cluster = 4>: a persistent grid (blocks) is whole clusters
// GOOD: schedule = #eider.schedule<row<threads = 64, vector = 8, cluster = 8>>
eider.program @p(m, n = 1024) {
  %x = eider.input "x" : tensor<?x1024xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x1024xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
