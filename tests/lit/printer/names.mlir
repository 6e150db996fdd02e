// Names come from the program; clashes are numbered, words of the language and of the text get an underscore.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK-LABEL: void names(
// CHECK-NEXT: const float *x, const float *float_, const float *row_, float *E4m3_, float *eider_,
// CHECK-NEXT: float e4m3_) {
simt.kernel @names ["x", "float", "row", "E4m3", "eider", "e4m3"] threads = 32 grid = "1" arguments = ["tensor:x", "tensor:float", "tensor:row", "tensor:E4m3", "tensor:eider", "scalar:e4m3"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %f: !simt.pointer<f32>, %r: !simt.pointer<f32>, %y: !simt.pointer<f32>, %z: !simt.pointer<f32>, %e: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // CHECK: const auto x_row = row.load(x);
    %a = simt.load elements %x at %at : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // CHECK-NEXT: const auto float_row = row.load(float_);
    %b = simt.load elements %f at %at {eider.name = "float_row"} : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // A clash with an argument, then with that.
    // CHECK-NEXT: const auto x_2 = x_row + float_row;
    %c = arith.addf %a, %b {eider.name = "x"} : vector<8xf32>
    // CHECK-NEXT: const auto x_3 = x_row - float_row;
    %d = arith.subf %a, %b {eider.name = "x"} : vector<8xf32>
    // A number of one's own.
    // CHECK-NEXT: const auto x_2_2 = x_row * float_row;
    %h = arith.mulf %a, %b {eider.name = "x_2"} : vector<8xf32>
    // CHECK-NEXT: const auto for_ = x_2 * x_3;
    %g = arith.mulf %c, %d {eider.name = "for"} : vector<8xf32>
    // CHECK-NEXT: const auto threadIdx_ = for_ * x_2_2;
    %i = arith.mulf %g, %h {eider.name = "threadIdx"} : vector<8xf32>
    // CHECK-NEXT: row.store(E4m3_, threadIdx_);
    simt.store elements %i to %y at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store(eider_, threadIdx_);
    simt.store elements %i to %z at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // Without a name: what it is; where used once, within what uses it.
    // CHECK-NEXT: const auto total = x_row + float_row;
    %t = arith.addf %a, %b : vector<8xf32>
    // CHECK-NEXT: const auto exp_value = eider::exp(total);
    %u = math.exp %t : vector<8xf32>
    // CHECK-NEXT: row.store(eider_, exp_value * total + exp_value);
    %v = arith.mulf %u, %t : vector<8xf32>
    %w = arith.addf %v, %u : vector<8xf32>
    simt.store elements %w to %z at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}
