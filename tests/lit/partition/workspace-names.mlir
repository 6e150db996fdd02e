// A value a row may be called as an argument is: in the workspace it needs a name of its own.
//
// RUN: eider-opt %s -eider-partition | FileCheck %s

!f = tensor<?x512xf32, #eider.dims<tokens, hidden>>
!r = tensor<?x1xf32, #eider.dims<tokens, 1>>

// CHECK-LABEL: eider.program @names_rows
// CHECK: eider.output "[[NAME:[a-z_0-9]+]]" workspace
// CHECK-LABEL: eider.program @names(
// CHECK: eider.input "[[NAME]]" workspace
eider.program @names(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %sum = eider.reduce sum %x over [1, *] {eider.name = "x"} : !f -> !r
  %spread = eider.broadcast %sum : !r to !f
  %n = arith.mulf %x, %spread : !f
  %amax = eider.reduce amax %n over [128, 128] : !f -> tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>
  eider.output "y", %amax : tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>
}
