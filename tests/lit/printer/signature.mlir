// The signature and the tile break after commas, before column 100; one line a header entry; const where nothing is written.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace

//      CHECK:#include "eider/formats/e4m3.cuh"
// CHECK-NEXT:#include "eider/formats/e5m2.cuh"
// CHECK-NEXT:#include "eider/tile/block.cuh"
// CHECK-NEXT:#include "eider/tile/row.cuh"
// CHECK-EMPTY:
// CHECK-NEXT:using namespace eider;
// CHECK-EMPTY:
// CHECK-NEXT:// one
// CHECK-NEXT:// two
// CHECK-NEXT:extern "C" __global__ __launch_bounds__(32) void wraps(
// CHECK-NEXT:    const float *a_rather_long_name_of_a_tensor, const bf16 *another_long_name_of_a_tensor, e4m3 *y,
// CHECK-NEXT:    float *a_third_name_that_has_to_stand_on_a_line_of_its_own, float eps, int64 rows,
// CHECK-NEXT:    const e5m2 *z) {
// CHECK-NEXT:  using Row = RowTile</*threads=*/32, /*vector=*/8, /*columns=*/1000, /*rows=*/1, /*loads=*/2>;
// CHECK-NEXT:  using E4m3 = Codec<e4m3, software>;
simt.kernel @wraps ["a_rather_long_name_of_a_tensor", "another_long_name_of_a_tensor", "y", "a_third_name_that_has_to_stand_on_a_line_of_its_own", "eps", "rows", "z"] threads = 32 grid = "1" arguments = ["tensor:a_rather_long_name_of_a_tensor", "tensor:another_long_name_of_a_tensor", "tensor:y", "tensor:a_third_name_that_has_to_stand_on_a_line_of_its_own", "scalar:eps", "dim:rows", "tensor:z"] alignments = {} header = ["one", "two"] {
^bb0(%a: !simt.pointer<f32>, %b: !simt.pointer<bf16>, %y: !simt.pointer<f8E4M3FN>, %c: !simt.pointer<f32>, %e: f32, %m: i64, %z: !simt.pointer<f8E5M2>):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 512, loads = 2, width = 1000>>):
    %v = simt.load elements %a at %at : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 512, loads = 2, width = 1000>> -> vector<16xf32>
    simt.store elements %v to %c at %at : vector<16xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 512, loads = 2, width = 1000>>
    %q = simt.encode %v codec software : vector<16xf32> -> vector<16xf8E4M3FN>
    simt.store elements %q to %y at %at : vector<16xf8E4M3FN>, <f8E4M3FN>, <<row, threads = 32, vector = 8, rows = 1, columns = 512, loads = 2, width = 1000>>
  }
}

// CHECK:extern "C" __global__ __launch_bounds__(256) void tiles(
// CHECK-NEXT:    const f16 *x, const float *r, float *s, int64 m) {
// CHECK-NEXT:  using Tile = BlockTile</*threads=*/256, /*vector=*/16, /*rows=*/128, /*columns=*/128,
// CHECK-NEXT:                         /*width=*/300>;
// CHECK-NEXT:  for (const Tile tile : Tile::over(m)) {
// CHECK-NEXT:    const auto x_tile = tile.load(x);
// CHECK-NEXT:    const auto r_value = tile.load_rows(r);
// CHECK-NEXT:    const float amax = tile.amax(eider::to<float>(x_tile) * r_value);
// CHECK-NEXT:    tile.store_block(s, amax);
// CHECK-NEXT:  }
// CHECK-NEXT:}
simt.kernel @tiles ["x", "r", "s", "m"] threads = 256 grid = "1" arguments = ["tensor:x", "tensor:r", "tensor:s", "dim:m"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f16>, %r: !simt.pointer<f32>, %s: !simt.pointer<f32>, %m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>>):
    %a = simt.load elements %x at %at : <f16>, <<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> vector<64xf16>
    %b = simt.load rows %r at %at : <f32>, <<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> vector<4xf32>
    %f = arith.extf %a : vector<64xf16> to vector<64xf32>
    %w = simt.spread %b : vector<4xf32> to vector<64xf32>
    %n = arith.mulf %f, %w : vector<64xf32>
    %amax = simt.reduce amax %n at %at : vector<64xf32>, <<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> f32
    simt.store block %amax to %s at %at : f32, <f32>, <<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>>
  }
}
