// Constants read as the same float; a negative one keeps its place.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK-LABEL: void literals(
simt.kernel @literals ["a"] threads = 32 grid = "1" arguments = ["scalar:a"] alignments = {} header = [] {
^bb0(%a: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %zero = arith.constant 0.0 : f32
    %negative_zero = arith.constant -0.0 : f32
    %one = arith.constant 1.0 : f32
    %large = arith.constant 16777216.0 : f32
    %eighth = arith.constant 0.125 : f32
    %largest = arith.constant 3.40282347E+38 : f32
    %smallest = arith.constant 1.4E-45 : f32
    %minus = arith.constant -2.5 : f32
    // CHECK: = a + 0.0f;
    %v0 = arith.addf %a, %zero {eider.name = "v0"} : f32
    // CHECK: = a + -0.0f;
    %v1 = arith.addf %a, %negative_zero {eider.name = "v1"} : f32
    // CHECK: = a * 1.0f;
    %v2 = arith.mulf %a, %one {eider.name = "v2"} : f32
    // CHECK: = a * 16777216.0f;
    %v3 = arith.mulf %a, %large {eider.name = "v3"} : f32
    // CHECK: = a * 0.125f;
    %v4 = arith.mulf %a, %eighth {eider.name = "v4"} : f32
    // CHECK: = a * 3.4028235e+38f;
    %v5 = arith.mulf %a, %largest {eider.name = "v5"} : f32
    // CHECK: = a * 1e-45f;
    %v6 = arith.mulf %a, %smallest {eider.name = "v6"} : f32
    // CHECK: = a - -2.5f;
    %v7 = arith.subf %a, %minus {eider.name = "v7"} : f32
    // CHECK: = -(-2.5f);
    %v8 = arith.negf %minus {eider.name = "v8"} : f32
    // CHECK: = -2.5f * a;
    %v9 = arith.mulf %minus, %a {eider.name = "v9"} : f32
  }
}
