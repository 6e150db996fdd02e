// The pass by itself, without those that must come before it: an error that names them, not a crash.
//
// RUN: eider-opt %s -eider-lower-to-simt -split-input-file -verify-diagnostics

eider.program @not_legalized(m, n = 16) attributes {schedule = #eider.schedule<map<threads = 1, vector = 16>>} {
  %x = eider.input "x" : tensor<?x16xf32, #eider.dims<m, n>>
  // expected-error @below {{eider-legalize}}
  %c = eider.encode %x : tensor<?x16xf32, #eider.dims<m, n>> -> tensor<?x16xf8E5M2, #eider.dims<m, n>>
  eider.output "y", %c : tensor<?x16xf8E5M2, #eider.dims<m, n>>
}

// -----

eider.program @not_decomposed(m, n = 16) attributes {schedule = #eider.schedule<map<threads = 1, vector = 16>>} {
  // expected-error @below {{eider-decompose}}
  %x = eider.input "x" : !eider.scaled<?x16xf8E4M3FN, dims = <m, n>, block = [1, 16], scale = f32, layout = row_major>
  eider.output "y", %x : !eider.scaled<?x16xf8E4M3FN, dims = <m, n>, block = [1, 16], scale = f32, layout = row_major>
}
