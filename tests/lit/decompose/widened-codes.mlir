// Scales of a code type as values: what a codec decodes, no conversion of floats; and no operand of an amax, of which there is
// none of codes.
//
// RUN: eider-opt %s -canonicalize -eider-decompose -canonicalize | FileCheck %s

// CHECK-LABEL: eider.program @widened
// CHECK: %[[X:.*]] = eider.input "x"
// CHECK-NEXT: %[[VALUES:.*]] = eider.decode %[[X]] {eider.name = "values"}
// CHECK-NEXT: eider.reduce amax %[[VALUES]] over [1, *]
eider.program @widened(m, n = 64) {
  %x = eider.input "x" : tensor<?x64xf8E4M3FN, #eider.dims<m, n>>
  %values = arith.extf %x {eider.name = "values"} : tensor<?x64xf8E4M3FN, #eider.dims<m, n>> to tensor<?x64xf32, #eider.dims<m, n>>
  %amax = eider.reduce amax %values over [1, *] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %amax : tensor<?x1xf32, #eider.dims<m, 1>>
}
