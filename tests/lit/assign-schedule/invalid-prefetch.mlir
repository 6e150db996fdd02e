// A block that nothing is reduced of is not loaded ahead.
//
// RUN: not eider-opt %s '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 64, columns = 64, tiles = 2, prefetch = 1>"' -eider-lower-to-simt 2>&1 | FileCheck %s
// CHECK: error: schedule tile<threads = 256, vector = 16, rows = 64, columns = 64, tiles = 2, prefetch = 1>: a tile is loaded ahead after the reduction of the one before; the program reduces none
eider.program @p(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  eider.output "t", %t : tensor<256x?xf32, #eider.dims<hidden, tokens>>
}
