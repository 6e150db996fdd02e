// Blocks that the heuristic cannot deal to threads.
//
// RUN: not eider-opt %s -eider-assign-schedule -eider-lower-to-simt 2>&1 | FileCheck %s --check-prefix=BAD0

// BAD0: error: blocks of 97x97 cannot be dealt to a block's threads evenly; take extents that are powers of two, at most 16384 columns and 131072 elements together
eider.program @p(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [97, 97] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x6xf32, #eider.dims<m / 97, n / 97>>
  eider.output "y", %s : tensor<?x6xf32, #eider.dims<m / 97, n / 97>>
}
