// RUN: eider-opt %s --eider-decompose --eider-place-transposes --canonicalize --cse | FileCheck %s

// Scales differ by direction: the narrow input is transposed.
// CHECK-LABEL: eider.program @groups
// CHECK: %[[X:.*]] = eider.input "x"
// CHECK: %[[T:.*]] = eider.transpose %[[X]] : tensor<?x256xbf16
// CHECK: eider.reduce amax %[[T]] over [1, 128]
// CHECK: eider.encode %[[T]] by
// CHECK-NOT: eider.transpose
// CHECK: eider.output "yt_scale"
eider.program @groups(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xbf16, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xbf16, #eider.dims<tokens, hidden>> -> tensor<256x?xbf16, #eider.dims<hidden, tokens>>
  %f = arith.extf %t : tensor<256x?xbf16, #eider.dims<hidden, tokens>> to tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %q = eider.quantize %f numerics<> : tensor<256x?xf32, #eider.dims<hidden, tokens>> -> !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [1, 128], scale = f32, layout = row_major>
  eider.output "yt", %q : !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [1, 128], scale = f32, layout = row_major>
}

// One scale for both directions: the codes are.
// CHECK-LABEL: eider.program @blocks
// CHECK: %[[X:.*]] = eider.input "x"
// CHECK: eider.reduce amax %[[X]] over [64, 128]
// CHECK: %[[CODES:.*]] = eider.encode %[[X]] by
// CHECK: eider.transpose %[[CODES]]
// CHECK: eider.output "yt_scale"
eider.program @blocks(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xbf16, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xbf16, #eider.dims<tokens, hidden>> -> tensor<256x?xbf16, #eider.dims<hidden, tokens>>
  %f = arith.extf %t : tensor<256x?xbf16, #eider.dims<hidden, tokens>> to tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %q = eider.quantize %f numerics<> : tensor<256x?xf32, #eider.dims<hidden, tokens>> -> !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [128, 64], scale = f32, layout = row_major>
  eider.output "yt", %q : !eider.scaled<256x?xf8E4M3FN, dims = <hidden, tokens>, block = [128, 64], scale = f32, layout = row_major>
}
