// A statement of more than 100 columns is broken where it binds least: before a product or within
// parentheses only where nothing else is.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK-LABEL: void broken(
simt.kernel @broken ["x", "y", "a_scalar_of_a_long_name", "another_scalar_of_a_long_name"] threads = 32 grid = "1" arguments = ["tensor:x", "tensor:y", "scalar:a_scalar_of_a_long_name", "scalar:another_scalar_of_a_long_name"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %y: !simt.pointer<f32>, %a: f32, %b: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %ab = arith.mulf %a, %b : f32
    %ba = arith.mulf %b, %a : f32
    // CHECK:      const float sum_of_products = a_scalar_of_a_long_name * another_scalar_of_a_long_name +
    // CHECK-NEXT:     another_scalar_of_a_long_name * a_scalar_of_a_long_name;
    %sum = arith.addf %ab, %ba {eider.name = "sum_of_products"} : f32
    %product = arith.mulf %a, %b : f32
    // CHECK:      const float product_of_many = a_scalar_of_a_long_name * another_scalar_of_a_long_name *
    // CHECK-NEXT:     a_scalar_of_a_long_name;
    %long = arith.mulf %product, %a {eider.name = "product_of_many"} : f32
    // CHECK:      const float largest = eider::max(a_scalar_of_a_long_name + another_scalar_of_a_long_name,
    // CHECK-NEXT:     a_scalar_of_a_long_name - another_scalar_of_a_long_name);
    %plus = arith.addf %a, %b : f32
    %minus = arith.subf %a, %b : f32
    %max = arith.maximumf %plus, %minus {eider.name = "largest"} : f32
    // CHECK:      const float short_one = a_scalar_of_a_long_name * another_scalar_of_a_long_name;
    %short = arith.mulf %a, %b {eider.name = "short_one"} : f32
  }
}
