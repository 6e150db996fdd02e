// Blocks may go down a matrix whose transpose is stored as bytes, where nothing else has rows that share sectors of memory.
//
// RUN: eider emit cast_transpose --dim hidden=4096 --arch sm_90 | FileCheck %s --check-prefix=DOWN
// RUN: eider emit cast_transpose --dim hidden=4104 --arch sm_90 | FileCheck %s --check-prefix=ACROSS
// RUN: eider emit cast_transpose --block 16x16 --dim hidden=4096 --arch sm_90 | FileCheck %s --check-prefix=ACROSS
// RUN: eider emit cast_transpose --dim hidden=4096 --arch sm_90 --schedule "tile<threads = 256, vector = 16, rows = 128, columns = 128, tiles = 2, prefetch = 1>" | FileCheck %s --check-prefix=ACROSS
// RUN: eider emit quantize --block 128x128 --dim hidden=4096 --arch sm_90 | FileCheck %s --check-prefix=ACROSS
// RUN: eider emit %s --arch sm_90 | FileCheck %s --check-prefix=ACROSS

// DOWN: void cast_transpose_rows_16(
// DOWN: Tile::only(tokens)
// DOWN: void cast_transpose(
// DOWN: Tile::over_columns(tokens)
// DOWN: void cast_transpose_uneven(
// DOWN: Tile::over_columns(tokens)
// DOWN: void cast_transpose_aligned(
// DOWN: Tile::over(tokens)
// DOWN: void cast_transpose_strided(
// DOWN: Tile::over(tokens)

// ACROSS-NOT: over_columns
eider.program @words(m, n = 256) {
  %x = eider.input "x" : tensor<?x256xbf16, #eider.dims<m, n>>
  %t = eider.transpose %x : tensor<?x256xbf16, #eider.dims<m, n>> -> tensor<256x?xbf16, #eider.dims<n, m>>
  eider.output "y", %t : tensor<256x?xbf16, #eider.dims<n, m>>
}
