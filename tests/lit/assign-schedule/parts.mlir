// A kernel that reduces over the whole matrix has a known number of blocks, and the next one reads as
// many parts.
//
// RUN: eider-opt %s -eider-partition -eider-assign-schedule | FileCheck %s
// RUN: not eider-opt %s -eider-assign-schedule="schedule=map<threads=128,vector=4>" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not eider-opt %s -eider-partition -eider-assign-schedule="schedule=map<threads=16,vector=32,rows=3>" 2>&1 | FileCheck %s --check-prefix=WARPS

// CHECK-LABEL: @whole_amax(
// CHECK-SAME: blocks = [[N:[0-9]+]]
// CHECK-LABEL: @whole(
// CHECK: eider.input "amax_parts" workspace {{.*}}eider.parts = [[N]] : i64
// BLOCKS: each block leaves a part of a reduction over the whole matrix: blocks is 1 to 1056
// WARPS: a block combines parts of the whole matrix: its threads are whole warps, or a power of two
eider.program @whole(tokens, hidden = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<tokens, hidden>>
  %amax = eider.reduce amax %x over [*, *] : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  %d = eider.broadcast %amax : tensor<1x1xf32, #eider.dims<1, 1>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
  %y = arith.divf %x, %d : tensor<?x512xf32, #eider.dims<tokens, hidden>>
  eider.output "y", %y : tensor<?x512xf32, #eider.dims<tokens, hidden>>
}
