// Two reductions that have seen nothing yet look alike, and do not become one.
//
// RUN: eider-opt %s -cse | FileCheck %s

!row = !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>

// CHECK: %[[FIRST:.*]] = simt.partial amax
// CHECK: %[[SECOND:.*]] = simt.partial amax
// CHECK: simt.combine %[[FIRST]] into
// CHECK: simt.combine %[[SECOND]] into
simt.kernel @two ["a", "b", "m"] threads = 64 grid = "m" arguments = ["tensor:a", "tensor:b", "dim:m"] alignments = {} header = [] {
^bb0(%a: !simt.pointer<f32>, %b: !simt.pointer<f32>, %m: i64):
  %at = simt.first_tile %m : !row
  %first = simt.partial amax at %at : !row
  %second = simt.partial amax at %at : !row
  simt.combine %first into %a : !simt.pointer<f32>
  simt.combine %second into %b : !simt.pointer<f32>
}
