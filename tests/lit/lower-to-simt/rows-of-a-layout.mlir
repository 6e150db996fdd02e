// Rows are chosen of what lies row by row, not of scales in another layout.
//
// RUN: eider-opt %s -eider-lower-to-simt -verify-diagnostics

eider.program @p(m, n = 8, r) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %t = eider.input "t" layout<mn_major_aligned> : tensor<?x8xf32, #eider.dims<r, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  // expected-error @below {{chooses of scales in the layout mn_major_aligned; take row_major}}
  %x = eider.gather %t by %i : tensor<?x8xf32, #eider.dims<r, n>>, tensor<?xi64, #eider.dims<m>> -> tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}
