// A row that no block holds.
//
// RUN: not eider-opt %s -eider-assign-schedule -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD0

// BAD0: error: rows of 65537 elements: a reduction along a row holds the row in registers, at most 65536
eider.program @p(m, n = 65537) {
  %x = eider.input "x" : tensor<?x65537xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x65537xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
