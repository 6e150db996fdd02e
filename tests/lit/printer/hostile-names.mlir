// Names that would break out of where they stand: nothing of them reaches the text but letters, digits and single underscores.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace

//      CHECK:#include "eider/tile/row.cuh"
// CHECK-EMPTY:
// CHECK-NEXT:using namespace eider;
// CHECK-EMPTY:
// CHECK-NEXT:// first_#define x
// CHECK-NEXT:// ends with a backslash _
// CHECK-NEXT:// "quotes" */ _ _ _
// CHECK-NEXT:extern "C" __global__ __launch_bounds__(32) void v_u_etc_passwd_u_u_asm_utrap_u_(
// CHECK-NEXT:    const float *x_u_uinclude_u_etc_passwd_, float *a_b, const float *v9lives,
// CHECK-NEXT:    const float *v_leading, const float *v, const float *v_udouble_u, const float *a_ub,
// CHECK-NEXT:    float na_uve, float a_b_2) {
// CHECK-NEXT:  using Row = RowTile</*threads=*/32, /*vector=*/8, /*columns=*/256>;
// CHECK-NEXT:  for (const Row row : Row::over(4)) {
// CHECK-NEXT:    const auto n_u_uasm_utrap_u_u_u = row.load(x_u_uinclude_u_etc_passwd_);
// CHECK-NEXT:    row.store(a_b, n_u_uasm_utrap_u_u_u);
// CHECK-NEXT:  }
// CHECK-NEXT:}
simt.kernel @"../etc/passwd\22(); asm(\22trap;\22)" ["x\22;\0A#include \22/etc/passwd\22", "a\\b", "9lives", "_leading", "", "__double__", "a*/b", "naïve", "a_b"] threads = 32 grid = "1" arguments = ["tensor:a", "tensor:b", "tensor:c", "tensor:d", "tensor:e", "tensor:f", "tensor:g", "scalar:naïve", "scalar:a_b"] alignments = {} header = ["first\0A#define x", "ends with a backslash \\", "\22quotes\22 */ \09 \0D \7F"] {
^bb0(%x: !simt.pointer<f32>, %a: !simt.pointer<f32>, %b: !simt.pointer<f32>, %c: !simt.pointer<f32>, %d: !simt.pointer<f32>, %e: !simt.pointer<f32>, %f: !simt.pointer<f32>, %g: f32, %h: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %v = simt.load elements %x at %at {eider.name = "n\0A}; asm(\22trap;\22); {"} : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    simt.store elements %v to %a at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}
