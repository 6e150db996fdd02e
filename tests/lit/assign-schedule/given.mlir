// A given schedule is taken, over the program's own and over the heuristic's; without one a program keeps its own.
//
// RUN: eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 8, rows = 2>"' -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: eider-opt %s '-eider-assign-schedule=schedule="map<vector=4,threads=128,loads=3>"' -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOADS
// RUN: eider-opt %s '-eider-assign-schedule=schedule="map<threads = 32, vector = 8, tiles = 3, resident = 4>"' -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: eider-opt %s -eider-assign-schedule -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s --check-prefix=OWN

// GIVEN: eider.program @p(m, n = 100) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8, rows = 2>>}
// LOADS: eider.program @p(m, n = 100) attributes {schedule = #eider.schedule<map<threads = 128, vector = 4, loads = 3>>}
// TILES: eider.program @p(m, n = 100) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8, tiles = 3, resident = 4>>}
// OWN: eider.program @p(m, n = 100) attributes {schedule = #eider.schedule<map<threads = 4, vector = 4, loads = 1>>}
eider.program @p(m, n = 100) attributes {schedule = #eider.schedule<map<threads = 4, vector = 4, loads = 1>>} {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x100xf32, #eider.dims<m, n>>
}
