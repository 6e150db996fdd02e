// Arithmetic is f32: there are no operators on bf16 fragments, so the program is refused before its text is.
//
// RUN: eider-opt %s -eider-lower-to-simt -split-input-file -verify-diagnostics

eider.program @sum(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xbf16, #eider.dims<m, n>>
  // expected-error @below {{f32}}
  %y = arith.addf %x, %x : tensor<?x8xbf16, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x8xbf16, #eider.dims<m, n>>
}
