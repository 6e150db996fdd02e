// A block that is transposed: the next one is loaded while it is worked on, also where rows begin anywhere, which
// eight lanes then write together. Of fewer rows chunks are shorter, so that as many lanes have a row of the transpose.
//
// RUN: eider-opt %s -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 128, columns = 128, tiles = 2, prefetch = 1>"' -eider-lower-to-simt -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s
// RUN: eider-opt %s -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 128, columns = 128, tiles = 2, prefetch = 1>"' '-eider-lower-to-simt=variant=general' -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=STRIDED
// RUN: eider-opt %s -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="tile<threads = 256, vector = 16, rows = 128, columns = 128, tiles = 2, prefetch = 1>"' '-eider-lower-to-simt=variant=uneven' -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=UNEVEN
// RUN: sed 's/128, 128/64, 64/' %s | eider-opt -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize=target=sm_90 '-eider-assign-schedule=schedule="tile<threads = 128, vector = 16, rows = 64, columns = 64, tiles = 2, prefetch = 1>"' '-eider-lower-to-simt=variant=uneven' -canonicalize -cse -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=SHORTER

!q = !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [128, 128], scale = f32, layout = row_major>

// CHECK:      auto x_next = Tile::first(tokens).load(x);
// CHECK-NEXT: for (const Tile tile : Tile::over(tokens)) {
// CHECK:        tile.amax(x_tile);
// CHECK-NEXT:   if (tile.has_next())
// CHECK-NEXT:     x_next = tile.next().load(x);

// STRIDED: using Tile = BlockTile</*threads=*/256, /*vector=*/16, /*rows=*/128, /*columns=*/128,
// STRIDED: x_next = tile.next().load<4>(x, x_stride);
// STRIDED: transposed.store<1>(y, {{.*}}, y_stride);

// UNEVEN:  // sm_90 · tokens (dynamic), hidden = 256 · contiguous, aligned, any number of rows
// UNEVEN:  void p_uneven(
// UNEVEN:  using Tile = BlockTile</*threads=*/256, /*vector=*/16, /*rows=*/128, /*columns=*/128,
// UNEVEN:  x_next = tile.next().load(x);
// UNEVEN:  transposed.store<1>(y, {{.*}}, tokens);

// SHORTER: using Tile = BlockTile</*threads=*/512, /*vector=*/8, /*rows=*/64, /*columns=*/64,
// SHORTER-NOT: x_next
eider.program @p(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %y = eider.quantize %t numerics<> : tensor<256x?xf32, #eider.dims<hidden, tokens>> -> !q
  eider.output "y", %y : !q
}
