// Rows that are a quotient of a dim are refused: a matrix has as many rows as its dim says.
//
// RUN: eider-opt %s -eider-lower-to-simt -verify-diagnostics

// expected-error @below {{its rows and columns must be whole dims, not quotients}}
eider.program @p(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m / 4, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m / 4, n>>
}
