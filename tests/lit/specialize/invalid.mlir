// What eider-specialize refuses.
//
// RUN: not eider-opt %s -eider-specialize=dims=width=8 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not eider-opt %s -eider-specialize=dims=n=9 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: not eider-opt %s -eider-specialize=dims=m 2>&1 | FileCheck %s --check-prefix=FORM -DTEXT=m
// RUN: not eider-opt %s -eider-specialize=dims=m=many 2>&1 | FileCheck %s --check-prefix=FORM -DTEXT=m=many
// RUN: not eider-opt %s -eider-specialize=dims=m=-4 2>&1 | FileCheck %s --check-prefix=FORM -DTEXT=m=-4
// RUN: not eider-opt %s -eider-specialize=dims=m=9223372036854775808 2>&1 | FileCheck %s --check-prefix=FORM -DTEXT=m=9223372036854775808
// RUN: not eider-opt %s -eider-specialize=dims=m=4611686018427387904 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: eider-opt %s -eider-specialize=dims=n=8,m=4

// UNKNOWN: error: no dim 'width'; they are ["m", "n"]
// FIXED: error: dim 'n' is 8 in the program, not 9
// LARGE: error: 'eider.input' op dim '2 * m' is beyond 64 bits
// FORM: error: dim '[[TEXT]]' is not name=extent
eider.program @p(m, n = 8) {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  %z = eider.input "z" : tensor<?x8xf32, #eider.dims<2 * m, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}
