// Divisions that have a function: of 1, and by whole numbers below 2^20 but powers of two, of values and of spread ones.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK-LABEL: void divided(
simt.kernel @divided ["x", "a"] threads = 32 grid = "1" arguments = ["tensor:x", "scalar:a"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %a: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %one = arith.constant 1.0 : f32
    %width = arith.constant 13824.0 : f32
    %even = arith.constant 4096.0 : f32
    %most = arith.constant 1048575.0 : f32
    %more = arith.constant 1048577.0 : f32
    %part = arith.constant 2.5 : f32
    %below = arith.constant -3.0 : f32
    // CHECK: const float b = eider::rcp(a);
    %b = arith.divf %one, %a {eider.name = "b"} : f32
    // CHECK: const float c = eider::divide_by_count(b, 13824.0f);
    %c = arith.divf %b, %width {eider.name = "c"} : f32
    // CHECK: const float d = c / 4096.0f;
    %d = arith.divf %c, %even {eider.name = "d"} : f32
    // CHECK: const float e = eider::divide_by_count(d, 1048575.0f);
    %e = arith.divf %d, %most {eider.name = "e"} : f32
    // CHECK: const float f = e / 1048577.0f;
    %f = arith.divf %e, %more {eider.name = "f"} : f32
    // CHECK: const float g = f / 2.5f;
    %g = arith.divf %f, %part {eider.name = "g"} : f32
    // CHECK: const float h = g / -3.0f;
    %h = arith.divf %g, %below {eider.name = "h"} : f32
    // CHECK: const float i = h / a;
    %i = arith.divf %h, %a {eider.name = "i"} : f32
    // CHECK: const float j = eider::rcp(i + a);
    %sum = arith.addf %i, %a : f32
    %j = arith.divf %one, %sum {eider.name = "j"} : f32
    // CHECK: const auto k = eider::divide_by_count(eider::spread<8>(a), 13824.0f);
    // CHECK: const auto l = eider::rcp(eider::spread<8>(a));
    %wide = simt.spread %width : f32 to vector<8xf32>
    %ones = simt.spread %one : f32 to vector<8xf32>
    %all = simt.spread %a : f32 to vector<8xf32>
    %k = arith.divf %all, %wide {eider.name = "k"} : vector<8xf32>
    %l = arith.divf %ones, %all {eider.name = "l"} : vector<8xf32>
  }
}
