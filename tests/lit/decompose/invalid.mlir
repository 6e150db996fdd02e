// Means that have no one number of elements.
//
// RUN: eider-opt %s -eider-decompose -split-input-file -verify-diagnostics

eider.program @dynamic(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  // expected-error @below {{the mean needs a static extent: give the dim 'n' a value}}
  %y = eider.reduce mean %x over [1, *] : tensor<?x?xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %y : tensor<?x1xf32, #eider.dims<m, 1>>
}

// -----

eider.program @partial_block(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  // expected-error @below {{the mean over blocks of 16 needs an extent that they divide, not 100}}
  %y = eider.reduce mean %x over [1, 16] : tensor<?x100xf32, #eider.dims<m, n>> -> tensor<?x7xf32, #eider.dims<m, n / 16>>
  eider.output "y", %y : tensor<?x7xf32, #eider.dims<m, n / 16>>
}

// -----

eider.program @more_than_f32_counts(m = 4097, n = 4096) {
  %x = eider.input "x" : tensor<4097x4096xf32, #eider.dims<m, n>>
  // expected-error @below {{the mean of 16781312 elements is beyond f32's integers}}
  %y = eider.reduce mean %x over [*, *] : tensor<4097x4096xf32, #eider.dims<m, n>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  eider.output "y", %y : tensor<1x1xf32, #eider.dims<1, 1>>
}
