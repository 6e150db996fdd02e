// Programs that one kernel holds stay as they are.
//
// RUN: eider-opt %s > %t.before
// RUN: eider-opt %s -eider-partition > %t.after
// RUN: diff %t.before %t.after

!f = tensor<?x512xf32, #eider.dims<tokens, hidden>>
!r = tensor<?x1xf32, #eider.dims<tokens, 1>>
!t = tensor<?x4xf32, #eider.dims<tokens / 128, hidden / 128>>

eider.program @rows(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %sum = eider.reduce sum %x over [1, *] : !f -> !r
  eider.output "y", %sum : !r
}

eider.program @rows_and_groups(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %sum = eider.reduce sum %x over [1, *] : !f -> !r
  %amax = eider.reduce amax %x over [1, 128] : !f -> tensor<?x4xf32, #eider.dims<tokens, hidden / 128>>
  eider.output "y", %sum : !r
  eider.output "z", %amax : tensor<?x4xf32, #eider.dims<tokens, hidden / 128>>
}

eider.program @blocks_and_given_rows(tokens, hidden = 512) {
  %x = eider.input "x" : !f
  %r = eider.input "r" : !r
  %spread = eider.broadcast %r : !r to !f
  %n = arith.mulf %x, %spread : !f
  %amax = eider.reduce amax %n over [128, 128] : !f -> !t
  eider.output "y", %amax : !t
}
