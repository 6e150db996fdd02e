// Dims become static: in the program, in every type, in what derives from a dim.
//
// RUN: eider-opt %s -eider-specialize=dims=hidden=200 | FileCheck %s --check-prefix=HIDDEN
// RUN: eider-opt %s -eider-specialize=dims=tokens=3,hidden=200 | FileCheck %s --check-prefix=BOTH
// RUN: eider-opt %s -eider-specialize=dims=hidden=0 | FileCheck %s --check-prefix=ZERO
// RUN: eider-opt %s -eider-specialize | FileCheck %s --check-prefix=NONE

// HIDDEN: eider.program @p(tokens, hidden = 200) {
// BOTH: eider.program @p(tokens = 3, hidden = 200) {
// ZERO: eider.program @p(tokens, hidden = 0) {
// NONE: eider.program @p(tokens, hidden) {
eider.program @p(tokens, hidden) {
  // HIDDEN: %[[X:.*]] = eider.input "x" : tensor<?x400xbf16, #eider.dims<tokens, 2 * hidden>>
  // BOTH: eider.input "x" : tensor<3x400xbf16, #eider.dims<tokens, 2 * hidden>>
  // ZERO: eider.input "x" : tensor<?x0xbf16, #eider.dims<tokens, 2 * hidden>>
  // NONE: eider.input "x" : tensor<?x?xbf16, #eider.dims<tokens, 2 * hidden>>
  %x = eider.input "x" : tensor<?x?xbf16, #eider.dims<tokens, 2 * hidden>>
  // HIDDEN: eider.half first %[[X]] : tensor<?x400xbf16, {{.*}}> -> tensor<?x200xbf16, #eider.dims<tokens, hidden>>
  %h = eider.half first %x : tensor<?x?xbf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x?xbf16, #eider.dims<tokens, hidden>>
  // HIDDEN: arith.extf %{{.*}} : tensor<?x200xbf16, #eider.dims<tokens, hidden>> to tensor<?x200xf32, #eider.dims<tokens, hidden>>
  %f = arith.extf %h : tensor<?x?xbf16, #eider.dims<tokens, hidden>> to tensor<?x?xf32, #eider.dims<tokens, hidden>>
  // A partial block counts.
  // HIDDEN: eider.reduce amax %{{.*}} over [1, 128] : {{.*}} -> tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
  // BOTH: eider.reduce amax %{{.*}} over [1, 128] : {{.*}} -> tensor<3x2xf32, #eider.dims<tokens, hidden / 128>>
  // ZERO: eider.reduce amax %{{.*}} over [1, 128] : {{.*}} -> tensor<?x0xf32, #eider.dims<tokens, hidden / 128>>
  %a = eider.reduce amax %f over [1, 128] : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> tensor<?x?xf32, #eider.dims<tokens, hidden / 128>>
  // HIDDEN: eider.broadcast %{{.*}} : tensor<?x2xf32, {{.*}}> to tensor<?x200xf32, #eider.dims<tokens, hidden>>
  %b = eider.broadcast %a : tensor<?x?xf32, #eider.dims<tokens, hidden / 128>> to tensor<?x?xf32, #eider.dims<tokens, hidden>>
  // HIDDEN: eider.quantize %{{.*}} -> !eider.scaled<?x200xf8E4M3FN, dims = <tokens, hidden>, block = [128, *]
  // BOTH: eider.quantize %{{.*}} -> !eider.scaled<3x200xf8E4M3FN, dims = <tokens, hidden>, block = [128, *]
  %q = eider.quantize %b numerics<> : tensor<?x?xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [128, *], scale = f32, layout = row_major>
  // HIDDEN: eider.output "y", %{{.*}} : !eider.scaled<?x200xf8E4M3FN
  // NONE: eider.output "y", %{{.*}} : !eider.scaled<?x?xf8E4M3FN
  eider.output "y", %q : !eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [128, *], scale = f32, layout = row_major>
}
