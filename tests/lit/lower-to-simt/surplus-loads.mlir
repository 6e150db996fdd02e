// More loads than the row needs are as many as it needs: a tile of the whole row says no other number in the text.
//
// RUN: eider-opt %s -eider-lower-to-simt | FileCheck %s

// CHECK: simt.for_tiles
// CHECK-NEXT: !simt.cursor<<row, threads = 32, vector = 8, rows = 4, columns = 40, loads = 1, width = 40>>
// CHECK: simt.load elements {{.*}} -> vector<8xf32>
eider.program @narrow(m, n = 40) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8, rows = 4, loads = 2>>} {
  %x = eider.input "x" : tensor<?x40xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x40xf32, #eider.dims<m, n>>
}
