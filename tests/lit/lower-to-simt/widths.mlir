// Odd widths, wide rows cut into segments, several rows a block, width 0 and 1: tiles, alignments, grids.
//
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse | FileCheck %s

// Rows of 100 bf16 start on 8 bytes, their codes on 4.
// CHECK-LABEL: simt.kernel @even
// CHECK-SAME: threads = 256 grid = "min(ceildiv(m, 32), 2147483647)"
// CHECK-SAME: alignments = {x = 8 : i64, y = 4 : i64}
// CHECK: !simt.cursor<<row, threads = 8, vector = 16, rows = 32, columns = 100, loads = 1, width = 100>>
// CHECK: simt.load elements {{.*}} {alignment = 8 : i64}
// CHECK: simt.store elements {{.*}} {alignment = 4 : i64}
eider.program @even(m, n = 100) attributes {schedule = #eider.schedule<map<threads = 8, vector = 16, rows = 32>>} {
  %x = eider.input "x" : tensor<?x100xbf16, #eider.dims<m, n>>
  %c = eider.encode %x {codec = #eider<codec hardware>} : tensor<?x100xbf16, #eider.dims<m, n>> -> tensor<?x100xf8E5M2, #eider.dims<m, n>>
  eider.output "y", %c : tensor<?x100xf8E5M2, #eider.dims<m, n>>
}

// Odd: an element's own alignment.
// CHECK-LABEL: simt.kernel @odd
// CHECK-SAME: alignments = {x = 2 : i64, y = 1 : i64}
eider.program @odd(m, n = 101) attributes {schedule = #eider.schedule<map<threads = 8, vector = 16>>} {
  %x = eider.input "x" : tensor<?x101xbf16, #eider.dims<m, n>>
  %c = eider.encode %x {codec = #eider<codec hardware>} : tensor<?x101xbf16, #eider.dims<m, n>> -> tensor<?x101xf8E5M2, #eider.dims<m, n>>
  eider.output "y", %c : tensor<?x101xf8E5M2, #eider.dims<m, n>>
}

// CHECK-LABEL: simt.kernel @one
// CHECK-SAME: grid = "min(m, 2147483647)"
// CHECK-SAME: alignments = {x = 4 : i64, y = 4 : i64}
// CHECK: columns = 1, loads = 1, width = 1>>
eider.program @one(m, n = 1) attributes {schedule = #eider.schedule<map<threads = 1, vector = 1>>} {
  %x = eider.input "x" : tensor<?x1xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x1xf32, #eider.dims<m, n>>
}

// Nothing is launched.
// CHECK-LABEL: simt.kernel @none
// CHECK-SAME: grid = "0"
eider.program @none(m, n = 0) attributes {schedule = #eider.schedule<map<threads = 1, vector = 1>>} {
  %x = eider.input "x" : tensor<?x0xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x0xf32, #eider.dims<m, n>>
}

// Segments: three of 4096 for 10000 columns.
// CHECK-LABEL: simt.kernel @segments
// CHECK-SAME: threads = 256 grid = "min((m) * 3, 2147483647)"
// CHECK: !simt.cursor<<row, threads = 256, vector = 8, rows = 1, columns = 4096, loads = 2, width = 10000>>
// CHECK: simt.load elements {{.*}} -> vector<16xf32>
eider.program @segments(m, n = 10000) attributes {schedule = #eider.schedule<map<threads = 256, vector = 8, loads = 2>>} {
  %x = eider.input "x" : tensor<?x10000xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x10000xf32, #eider.dims<m, n>>
}

// Segments of several rows.
// CHECK-LABEL: simt.kernel @segments_of_rows
// CHECK-SAME: threads = 64 grid = "min((ceildiv(m, 2)) * 4, 2147483647)"
// CHECK: !simt.cursor<<row, threads = 32, vector = 8, rows = 2, columns = 256, loads = 1, width = 1000>>
eider.program @segments_of_rows(m, n = 1000) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8, rows = 2, loads = 1>>} {
  %x = eider.input "x" : tensor<?x1000xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x1000xf32, #eider.dims<m, n>>
}

// A static number of rows is a constant.
// CHECK-LABEL: simt.kernel @static_rows
// CHECK-SAME: ["x", "y"]
// CHECK: %[[ROWS:.*]] = arith.constant 5 : i64
// CHECK: simt.for_tiles %[[ROWS]]
eider.program @static_rows(m = 5, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<5x8xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<5x8xf32, #eider.dims<m, n>>
}

// A vector is one row.
// CHECK-LABEL: simt.kernel @vector
// CHECK-SAME: ["x", "y"]
// CHECK-SAME: grid = "min(1, 2147483647)"
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: simt.for_tiles %[[ONE]]
eider.program @vector(n = 64) attributes {schedule = #eider.schedule<map<threads = 8, vector = 8>>} {
  %x = eider.input "x" : tensor<64xf32, #eider.dims<n>>
  eider.output "y", %x : tensor<64xf32, #eider.dims<n>>
}

// Rows that are a multiple of a dim.
// CHECK-LABEL: simt.kernel @multiple
// CHECK-SAME: grid = "min(3 * m, 2147483647)"
// CHECK: %[[THREE:.*]] = arith.constant 3 : i64
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[THREE]]
// CHECK: simt.for_tiles %[[ROWS]]
eider.program @multiple(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<3 * m, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<3 * m, n>>
}
