// Schedules that would tear a group apart.
//
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 256, vector = 2>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 4, vector = 16, loads = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD1
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="map<threads = 64, vector = 1, loads = 2>"' -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD2
//
// Of single elements a group is several chunks of a warp.
// RUN: eider-opt %s '-eider-assign-schedule=schedule="map<threads = 64, vector = 1, loads = 8>"' -eider-lower-to-simt

// BAD0: error: schedule map<threads = 256, vector = 2>: a group of 128 must divide threads × vector and fit a warp
// BAD1: error: schedule map<threads = 4, vector = 16, loads = 1>: a group of 128 must divide threads × vector and fit a warp
// BAD2: error: schedule map<threads = 64, vector = 1, loads = 2>: a group of 128 must be a number of warps, and a thread's loads a number of such groups
eider.program @p(m, n = 4096) {
  %x = eider.input "x" : tensor<?x4096xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, 128] : tensor<?x4096xf32, #eider.dims<m, n>> -> tensor<?x32xf32, #eider.dims<m, n / 128>>
  eider.output "y", %s : tensor<?x32xf32, #eider.dims<m, n / 128>>
}
