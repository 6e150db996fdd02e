// A block that is transposed: the next one is loaded while it is worked on. Where rows begin anywhere,
// a thread stores a word of neighbours, so that what it stores is near the others', and many threads have few each.
//
// RUN: eider-opt %s -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 128, columns = 128, tiles = 2, prefetch = 1>"' -eider-lower-to-simt -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s
// RUN: eider-opt %s -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 128, columns = 128, tiles = 2, prefetch = 1>"' '-eider-lower-to-simt=variant=general' -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=STRIDED

!q = !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [128, 128], scale = f32, layout = row_major>

// CHECK:      auto x_next = Tile::first(tokens).load(x);
// CHECK-NEXT: for (const Tile tile : Tile::over(tokens)) {
// CHECK:        tile.amax(x_tile);
// CHECK-NEXT:   if (tile.has_next())
// CHECK-NEXT:     x_next = tile.next().load(x);

// STRIDED: using Tile = BlockTile</*threads=*/1024, /*vector=*/4, /*rows=*/128, /*columns=*/128,
eider.program @p(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %y = eider.quantize %t numerics<> : tensor<256x?xf32, #eider.dims<hidden, tokens>> -> !q
  eider.output "y", %y : !q
}
