// A name is numbered without making two underscores of one: those are the compiler's.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK: const float *float_, float *y) {
// CHECK-NOT: __
// CHECK: row.store(y,
simt.kernel @p ["float", "y"] threads = 32 grid = "1" arguments = ["tensor:float", "tensor:y"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %y: !simt.pointer<f32>):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %v = simt.load elements %x at %at {eider.name = "float"} : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    simt.store elements %v to %y at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}
