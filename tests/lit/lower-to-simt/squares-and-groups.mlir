// Blocks of the transpose share a value of 16 rows, and groups of its rows have theirs: no thread turns squares by itself, which has no group.
//
// RUN: eider emit %s --arch sm_90 | FileCheck %s

// CHECK: void sketch_rows_16(
// CHECK: using Tile = BlockTile<
// CHECK-SAME: /*vector=*/4, /*rows=*/16
// CHECK-NOT: run=*/4
// CHECK: Tile::only(tokens)
eider.program @sketch(tokens, hidden = 512) {
  %x0 = eider.input "x0" : tensor<?x512xf32, #eider.dims<tokens, hidden>>
  %0 = eider.transpose %x0 : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<512x?xf32, #eider.dims<hidden, tokens>>
  %x2 = eider.input "x2" : tensor<512x?xf32, #eider.dims<hidden, tokens>>
  %1 = eider.quantize %x2 numerics<> : tensor<512x?xf32, #eider.dims<hidden, tokens>> -> !eider.scaled<512x?xf8E4M3FN, dims = <hidden, tokens>, block = [1, 32], scale = f32, layout = row_major>
  eider.output "y4", %1 : !eider.scaled<512x?xf8E4M3FN, dims = <hidden, tokens>, block = [1, 32], scale = f32, layout = row_major>
  %2 = eider.quantize %0 numerics<> : tensor<512x?xf32, #eider.dims<hidden, tokens>> -> !eider.scaled<512x?xf8E4M3FN, dims = <hidden, tokens>, block = [32, 32], scale = f32, layout = row_major>
  eider.output "y6", %2 : !eider.scaled<512x?xf8E4M3FN, dims = <hidden, tokens>, block = [32, 32], scale = f32, layout = row_major>
}
