// A row that neither a block nor a cluster of blocks holds.
//
// RUN: not eider-opt %s -split-input-file -eider-assign-schedule 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: not eider-opt %s -split-input-file -eider-legalize=target=sm_90 -eider-assign-schedule 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: not eider-opt %s -split-input-file -eider-legalize=target=sm_89 -eider-assign-schedule 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: error: rows of 65537 elements: a reduction along a row holds the row in registers, at most 65536 on sm_89, which has no clusters of blocks; from sm_90 on rows have up to 524288
// ANY-NOT: 65537
eider.program @p(m, n = 65537) {
  %x = eider.input "x" : tensor<?x65537xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x65537xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// -----

// OLD: error: rows of 524289 elements: a reduction along a row holds the row in registers, at most 65536 on sm_89
// ANY: error: rows of 524289 elements: a reduction along a row holds the row in registers, at most 524288
eider.program @p(m, n = 524289) {
  %x = eider.input "x" : tensor<?x524289xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x524289xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}
