// The pass makes arith ops where the program has none: it must load the dialect.
//
// RUN: eider-opt %s -eider-decompose | FileCheck %s

!q = !eider.scaled<?x256xf8E5M2, dims = <tokens, hidden>, block = [128, 128], scale = f32, layout = row_major>

// CHECK: arith.mulf
eider.program @dequantize(tokens, hidden = 256) {
  %x = eider.input "x" : !q
  %y = eider.dequantize %x : !q -> tensor<?x256xf32, #eider.dims<tokens, hidden>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<tokens, hidden>>
}
