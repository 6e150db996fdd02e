// Codes and narrow scales that no argument holds ask for their format's file, too.
//
// RUN: eider-opt %s -eider-decompose -canonicalize -cse -eider-legalize -eider-assign-schedule -eider-lower-to-simt -eider-print-cuda -o /dev/null | FileCheck %s

#mn = #eider.dims<m, n>
!codes = !eider.scaled<?x256xf4E2M1FN, dims = <m, n>, block = [1, 32], scale = f8E8M0FNU, layout = row_major>

// CHECK: #include "eider/formats/e2m1.cuh"
// CHECK-NEXT: #include "eider/formats/e8m0.cuh"
// CHECK-NEXT: #include "eider/tile/row.cuh"
eider.program @to_codes_and_back(m, n = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #mn>
  %codes = eider.quantize %x numerics<power_of_two = rceil> : tensor<?x256xf32, #mn> -> !codes
  %y = eider.dequantize %codes : !codes -> tensor<?x256xf32, #mn>
  eider.output "y", %y : tensor<?x256xf32, #mn>
}
