// Parentheses: as many as keep the order of the operations, and no more.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK-LABEL: void precedence(
simt.kernel @precedence ["x", "y", "a", "b", "c"] threads = 32 grid = "1" arguments = ["tensor:x", "tensor:y", "scalar:a", "scalar:b", "scalar:c"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %y: !simt.pointer<f32>, %a: f32, %b: f32, %c: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %bc_sum = arith.addf %b, %c : f32
    %bc_difference = arith.subf %b, %c : f32
    %bc_product = arith.mulf %b, %c : f32
    %bc_quotient = arith.divf %b, %c : f32
    %ab_sum = arith.addf %a, %b : f32
    %ab_difference = arith.subf %a, %b : f32
    %ab_product = arith.mulf %a, %b : f32
    %ab_quotient = arith.divf %a, %b : f32
    %minus_a = arith.negf %a : f32
    %minus_b = arith.negf %b : f32

    // CHECK: const float v1 = a + (b + c);
    %v1 = arith.addf %a, %bc_sum {eider.name = "v1"} : f32
    // CHECK: const float v2 = a + b + c;
    %v2 = arith.addf %ab_sum, %c {eider.name = "v2"} : f32
    // CHECK: const float v3 = a - (b - c);
    %v3 = arith.subf %a, %bc_difference {eider.name = "v3"} : f32
    // CHECK: const float v4 = a - b - c;
    %v4 = arith.subf %ab_difference, %c {eider.name = "v4"} : f32
    // CHECK: const float v5 = a / (b / c);
    %v5 = arith.divf %a, %bc_quotient {eider.name = "v5"} : f32
    // CHECK: const float v6 = a / b / c;
    %v6 = arith.divf %ab_quotient, %c {eider.name = "v6"} : f32
    // CHECK: const float v7 = a * (b * c);
    %v7 = arith.mulf %a, %bc_product {eider.name = "v7"} : f32
    // CHECK: const float v8 = a * b * c;
    %v8 = arith.mulf %ab_product, %c {eider.name = "v8"} : f32
    // CHECK: const float v10 = -(-a);
    %v10 = arith.negf %minus_a {eider.name = "v10"} : f32
    // CHECK: const float v11 = a - -b;
    %v11 = arith.subf %a, %minus_b {eider.name = "v11"} : f32

    %s1 = arith.addf %a, %b : f32
    // CHECK: const float v12 = -(a + b);
    %v12 = arith.negf %s1 {eider.name = "v12"} : f32
    %s2 = arith.addf %a, %b : f32
    // CHECK: const float v13 = (a + b) * c;
    %v13 = arith.mulf %s2, %c {eider.name = "v13"} : f32
    %s3 = arith.mulf %a, %b : f32
    // CHECK: const float v14 = a * b + c;
    %v14 = arith.addf %s3, %c {eider.name = "v14"} : f32
    %s4 = arith.mulf %b, %c : f32
    // CHECK: const float v15 = a - b * c;
    %v15 = arith.subf %a, %s4 {eider.name = "v15"} : f32
    %s5 = arith.addf %b, %c : f32
    // CHECK: const float v16 = a / (b + c);
    %v16 = arith.divf %a, %s5 {eider.name = "v16"} : f32
    %s6 = arith.mulf %b, %c : f32
    // CHECK: const float v17 = a / (b * c);
    %v17 = arith.divf %a, %s6 {eider.name = "v17"} : f32
    // CHECK: const auto v18 = a + b < c;
    %s7 = arith.addf %a, %b : f32
    %v18 = arith.cmpf olt, %s7, %c {eider.name = "v18"} : f32
    // CHECK: const float v19 = eider::min(a + b, c);
    %s8 = arith.addf %a, %b : f32
    %v19 = arith.minimumf %s8, %c {eider.name = "v19"} : f32
  }
}
