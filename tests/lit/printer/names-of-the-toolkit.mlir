// No kernel may be called what NVRTC has already declared (`norm`, `exp`, `dim3`), nothing what is a macro of ours
// (EIDER_DEVICE), or the text does not compile. A variable may hide a function: the text qualifies what it calls.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK: using namespace eider;
// CHECK-NOT: {{void (norm|dim3|assert)[(]}}
// CHECK-NOT: {{ EIDER_DEVICE[),]}}
// CHECK: void variables(
// CHECK-NEXT: const float *norm, float *exp) {
// CHECK: const float max = row.max(norm_row);
// CHECK-NEXT: const auto min = eider::min(norm_row, max);
// CHECK-NEXT: const float max_2 = row.max(min);
// CHECK-NEXT: row.store(exp, eider::exp(min * max_2));
simt.kernel @norm ["EIDER_DEVICE"] threads = 32 grid = "1" arguments = ["scalar:EIDER_DEVICE"] alignments = {} header = [] {
^bb0(%a: f32):
}
simt.kernel @variables ["norm", "exp"] threads = 32 grid = "1" arguments = ["tensor:norm", "tensor:exp"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %y: !simt.pointer<f32>):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %a = simt.load elements %x at %at : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    %m = simt.reduce max %a at %at : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    %s = simt.spread %m : f32 to vector<8xf32>
    %n = arith.minimumf %a, %s {eider.name = "min"} : vector<8xf32>
    %o = simt.reduce max %n at %at : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    %t = simt.spread %o : f32 to vector<8xf32>
    %p = arith.mulf %n, %t : vector<8xf32>
    %e = math.exp %p : vector<8xf32>
    simt.store elements %e to %y at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}
simt.kernel @dim3 [] threads = 32 grid = "1" arguments = [] alignments = {} header = [] {
}
simt.kernel @assert [] threads = 32 grid = "1" arguments = [] alignments = {} header = [] {
}
