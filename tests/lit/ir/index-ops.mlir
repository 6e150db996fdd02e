// Positions, extents and the ops of rows that an index chooses, in their own syntax and in the generic one.
//
// RUN: eider-opt %s | eider-opt | FileCheck %s
// RUN: eider-opt %s --mlir-print-op-generic | eider-opt | FileCheck %s

#mn = #eider.dims<tokens, hidden>
#one = #eider.dims<tokens, 1>
#table = #eider.dims<rows, hidden>
!f32s = tensor<?x256xf32, #mn>
!index = tensor<?xi64, #eider.dims<tokens>>
!scaled = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>

// CHECK: eider.program @indices(tokens, hidden = 256, rows) {
eider.program @indices(tokens, hidden = 256, rows) {
  %x = eider.input "x" : !f32s
  %table = eider.input "table" : tensor<?x256xbf16, #table>
  %narrow = eider.input "narrow" : tensor<?x64xbf16, #eider.dims<rows, 64>>
  // CHECK: %[[INDEX:.*]] = eider.input "index" : tensor<?xi64, #eider.dims<tokens>>
  %index = eider.input "index" : !index
  // CHECK: %[[FEW:.*]] = eider.input "few" : tensor<?x4xi32, #eider.dims<tokens, 4>>
  %few = eider.input "few" : tensor<?x4xi32, #eider.dims<tokens, 4>>
  // CHECK: eider.position 0 : tensor<?x1xi64, #eider.dims<tokens, 1>>
  %row = eider.position 0 : tensor<?x1xi64, #one>
  // CHECK: eider.position 1 : tensor<1x256xi64, #eider.dims<1, hidden>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, hidden>>
  // CHECK: eider.extent<rows>
  %extent = eider.extent<rows>
  // CHECK: eider.broadcast %{{.*}} : i64 to tensor<?x1xi64, #eider.dims<tokens, 1>>
  %spread = eider.broadcast %extent : i64 to tensor<?x1xi64, #one>
  // CHECK: eider.gather %{{.*}} by %[[INDEX]] : tensor<?x256xbf16, #eider.dims<rows, hidden>>, tensor<?xi64, #eider.dims<tokens>> -> tensor<?x256xbf16, #eider.dims<tokens, hidden>>
  %gathered = eider.gather %table by %index : tensor<?x256xbf16, #table>, !index -> tensor<?x256xbf16, #mn>
  // CHECK: eider.gather %{{.*}} by %[[INDEX]] rows = 8 : tensor<?x64xbf16, #eider.dims<rows, 64>>
  %cosine = eider.gather %narrow by %index rows = 8 : tensor<?x64xbf16, #eider.dims<rows, 64>>, !index -> tensor<?x64xbf16, #eider.dims<tokens, 64>>
  // CHECK: eider.column %[[FEW]] at 3 : tensor<?x4xi32, #eider.dims<tokens, 4>> -> tensor<?x1xi32, #eider.dims<tokens, 1>>
  %chosen = eider.column %few at 3 : tensor<?x4xi32, #eider.dims<tokens, 4>> -> tensor<?x1xi32, #one>
  // CHECK: eider.repeat %{{.*}} each 2 : tensor<?x64xbf16, #eider.dims<tokens, 64>> -> tensor<?x256xbf16, #eider.dims<tokens, hidden>>
  %repeated = eider.repeat %cosine each 2 : tensor<?x64xbf16, #eider.dims<tokens, 64>> -> tensor<?x256xbf16, #mn>
  // CHECK: eider.rotate %{{.*}} over 128 : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %rotated = eider.rotate %x over 128 : !f32s
  %codes = eider.quantize %rotated numerics<> : !f32s -> !scaled
  // CHECK: eider.scatter "cache", %{{.*}} by %[[INDEX]] : !eider.scaled<{{.*}}>, tensor<?xi64, #eider.dims<tokens>> into tensor<?x256xf8E4M3FN, #eider.dims<rows, hidden>>
  eider.scatter "cache", %codes by %index : !scaled, !index into tensor<?x256xf8E4M3FN, #table>
}
