// Positions in a matrix of one row or of one column, whose elements have the type of a row or a column.
//
// RUN: eider-opt %s -eider-lower-to-simt -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: simt.kernel @one_row
// CHECK: %[[COLUMNS:.*]] = simt.position columns at {{.*}} -> vector<8xi64>
// CHECK: arith.cmpi slt, %[[COLUMNS]], %{{.*}} : vector<8xi64>
eider.program @one_row(n = 256) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<256xf32, #eider.dims<n>>
  %column = eider.position 0 : tensor<256xi64, #eider.dims<n>>
  %first = arith.constant 5 : i64
  %bound = eider.broadcast %first : i64 to tensor<256xi64, #eider.dims<n>>
  %is_first = arith.cmpi slt, %column, %bound : tensor<256xi64, #eider.dims<n>>
  %half = arith.addf %x, %x : tensor<256xf32, #eider.dims<n>>
  %y = arith.select %is_first, %x, %half : tensor<256xi1, #eider.dims<n>>, tensor<256xf32, #eider.dims<n>>
  eider.output "y", %y : tensor<256xf32, #eider.dims<n>>
}

// -----

// CHECK-LABEL: simt.kernel @one_column
// CHECK: %[[ROW:.*]] = simt.position rows at {{.*}} -> i64
// CHECK: %[[SPREAD:.*]] = simt.spread %[[ROW]] : i64 to vector<1xi64>
// CHECK: arith.cmpi slt, %[[SPREAD]], %{{.*}} : vector<1xi64>
eider.program @one_column(m) attributes {schedule = #eider.schedule<map<threads = 1, vector = 1>>} {
  %x = eider.input "x" : tensor<?x1xf32, #eider.dims<m, 1>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %first = arith.constant 5 : i64
  %bound = eider.broadcast %first : i64 to tensor<?x1xi64, #eider.dims<m, 1>>
  %is_first = arith.cmpi slt, %row, %bound : tensor<?x1xi64, #eider.dims<m, 1>>
  %double = arith.addf %x, %x : tensor<?x1xf32, #eider.dims<m, 1>>
  %y = arith.select %is_first, %x, %double : tensor<?x1xi1, #eider.dims<m, 1>>, tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %y : tensor<?x1xf32, #eider.dims<m, 1>>
}

// -----

eider.program @of_blocks(m, n = 256) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  // expected-error @below {{counts along 'tensor<1x8xi64, #eider.dims<1, n / 32>>', not along the program's matrix [m, n]; take positions in that}}
  %block = eider.position 1 : tensor<1x8xi64, #eider.dims<1, n / 32>>
  %first = arith.constant 5 : i64
  %bound = eider.broadcast %first : i64 to tensor<1x8xi64, #eider.dims<1, n / 32>>
  %is_first = arith.cmpi slt, %block, %bound : tensor<1x8xi64, #eider.dims<1, n / 32>>
  eider.output "y", %x : tensor<?x256xf32, #eider.dims<m, n>>
}
