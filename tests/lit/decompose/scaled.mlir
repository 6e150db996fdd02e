// Scaled arguments become two, dequantise becomes decode and a product, codes and scales what they stand for.
//
// RUN: eider-opt %s -eider-decompose | FileCheck %s

!f = tensor<?x256xf32, #eider.dims<tokens, hidden>>
!s = tensor<?x2xf32, #eider.dims<tokens / 128, hidden / 128>>
!c = tensor<?x256xf8E5M2, #eider.dims<tokens, hidden>>
!q = !eider.scaled<?x256xf8E5M2, dims = <tokens, hidden>, block = [128, 128], scale = f32, layout = row_major>

// CHECK-LABEL: eider.program @dequantize
// CHECK-NEXT: %[[CODES:.*]] = eider.input "x" : tensor<?x256xf8E5M2, #eider.dims<tokens, hidden>>
// CHECK-NEXT: %[[SCALES:.*]] = eider.input "x_scale" : tensor<?x2xf32, #eider.dims<tokens / 128, hidden / 128>>
// CHECK-NEXT: %[[VALUES:.*]] = eider.decode %[[CODES]]
// CHECK-NEXT: %[[WIDE:.*]] = eider.broadcast %[[SCALES]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[VALUES]], %[[WIDE]]
// CHECK-NEXT: eider.output "y", %[[PRODUCT]]
eider.program @dequantize(tokens, hidden = 256) {
  %x = eider.input "x" : !q
  %y = eider.dequantize %x : !q -> !f
  eider.output "y", %y : !f
}

// CHECK-LABEL: eider.program @codes_and_scales
// CHECK-NEXT: %[[CODES:.*]] = eider.input "x"
// CHECK-NEXT: %[[SCALES:.*]] = eider.input "x_scale"
// CHECK-NEXT: eider.output "c", %[[CODES]]
// CHECK-NEXT: eider.output "s", %[[SCALES]]
eider.program @codes_and_scales(tokens, hidden = 256) {
  %x = eider.input "x" : !q
  %c = eider.codes %x : !q -> !c
  %s = eider.scales %x : !q -> !s
  eider.output "c", %c : !c
  eider.output "s", %s : !s
}

// A scaled input that is given on.
// CHECK-LABEL: eider.program @copy
// CHECK-NEXT: %[[CODES:.*]] = eider.input "x"
// CHECK-NEXT: %[[SCALES:.*]] = eider.input "x_scale"
// CHECK-NEXT: eider.output "y", %[[CODES]]
// CHECK-NEXT: eider.output "y_scale", %[[SCALES]]
eider.program @copy(tokens, hidden = 256) {
  %x = eider.input "x" : !q
  eider.output "y", %x : !q
}

// Quantised and at once dequantised: no output of codes.
// CHECK-LABEL: eider.program @there_and_back
// CHECK: %[[CODES:.*]] = eider.encode
// CHECK-NEXT: %[[VALUES:.*]] = eider.decode %[[CODES]]
// CHECK: eider.output "y"
// CHECK-NEXT: }
eider.program @there_and_back(tokens, hidden = 256) {
  %in = eider.input "x" : !f
  %x = arith.negf %in : !f
  %q = eider.quantize %x numerics<> : !f -> !q
  %y = eider.dequantize %q : !q -> !f
  eider.output "y", %y : !f
}
