// Four blocks to a row: whole clusters in the grid, the size in the text, in which long lines break.
//
// RUN: eider-opt %s -eider-lower-to-simt | FileCheck %s
// RUN: eider-opt %s -eider-lower-to-simt | eider-opt | FileCheck %s
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

// CHECK-LABEL: simt.kernel @p
// CHECK-SAME: threads = 64 cluster = 4 grid = "min(m, 536870911) * 4"
// CHECK: simt.load elements {{.*}}loads = 4, width = 8000, cluster = 4>> -> vector<32xf32>
// TEXT:      extern "C" __global__ __cluster_dims__(4, 1, 1) __launch_bounds__(64) void p(
// TEXT:        using Row = RowTile</*threads=*/64, /*vector=*/8, /*columns=*/8000, /*rows=*/1, /*loads=*/4,
// TEXT-NEXT: {{^                      }}/*cluster=*/4>;
eider.program @p(m, n = 8000) attributes {schedule = #eider.schedule<row<threads = 64, vector = 8, cluster = 4>>} {
  %x = eider.input "x" : tensor<?x8000xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x8000xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK-LABEL: simt.kernel @in_turn
// CHECK-SAME: threads = 32 resident = 3 cluster = 8 grid = "min(max(ceildiv(m, 3), min(m, 128)), 268435455) * 8"
// TEXT: __cluster_dims__(8, 1, 1) __launch_bounds__(32, 3) void in_turn(
eider.program @in_turn(m, n = 1000) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4, tiles = 3, resident = 3, cluster = 8>>} {
  %x = eider.input "x" : tensor<?x1000xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x1000xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// A persistent grid of 264 blocks is 66 clusters.
// CHECK-LABEL: simt.kernel @persistent
// CHECK-SAME: grid = "min(min(m, 66), 536870911) * 4"
eider.program @persistent(m, n = 1000) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4, blocks = 264, cluster = 4>>} {
  %x = eider.input "x" : tensor<?x1000xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x1000xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
