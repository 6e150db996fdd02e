// An in-out whose element several threads or blocks read may not be stored in place by one of them: refused, or materialised.
//
// RUN: eider-opt %s -eider-lower-to-simt -split-input-file -verify-diagnostics

// Two segments of a row, two CUDA blocks: one stores s before the other has read it.
eider.program @value_a_row(m, n = 4096) attributes {schedule = #eider.schedule<map<threads = 128, vector = 16, loads = 1>>} {
  %x = eider.input "x" : tensor<?x4096xf32, #eider.dims<m, n>>
  %s = eider.inout "s" : tensor<?x1xf32, #eider.dims<m, 1>>
  %b = eider.broadcast %s : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x4096xf32, #eider.dims<m, n>>
  %y = arith.mulf %x, %b : tensor<?x4096xf32, #eider.dims<m, n>>
  %t = arith.negf %s : tensor<?x1xf32, #eider.dims<m, 1>>
  // expected-error @below {{in-out}}
  eider.store "s", %t : tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %y : tensor<?x4096xf32, #eider.dims<m, n>>
}

// -----

// A group of 128 under 8 threads: one stores, and nothing orders it after the loads of the others.
eider.program @value_a_group(m, n = 4096) attributes {schedule = #eider.schedule<map<threads = 128, vector = 16, loads = 2>>} {
  %x = eider.input "x" : tensor<?x4096xf32, #eider.dims<m, n>>
  %s = eider.inout "s" : tensor<?x32xf32, #eider.dims<m, n / 128>>
  %b = eider.broadcast %s : tensor<?x32xf32, #eider.dims<m, n / 128>> to tensor<?x4096xf32, #eider.dims<m, n>>
  %y = arith.mulf %x, %b : tensor<?x4096xf32, #eider.dims<m, n>>
  %t = arith.negf %s : tensor<?x32xf32, #eider.dims<m, n / 128>>
  // expected-error @below {{in-out}}
  eider.store "s", %t : tensor<?x32xf32, #eider.dims<m, n / 128>>
  eider.output "y", %y : tensor<?x4096xf32, #eider.dims<m, n>>
}
