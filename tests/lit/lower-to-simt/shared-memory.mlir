// Blocks that are transposed share memory where they have a size; those of several sizes must fit together.
//
// RUN: not eider-opt %s -eider-lower-to-simt 2>&1 | FileCheck %s
// CHECK: error: {{.*}}transposes values of types whose blocks do not fit shared memory together; transpose values of one type, or use smaller blocks
eider.program @p(tokens, hidden = 256) attributes {schedule = #eider.schedule<tile<threads = 512, vector = 16, rows = 128, columns = 128>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %c = eider.input "c" : tensor<?x256xf8E4M3FN, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %u = eider.transpose %c : tensor<?x256xf8E4M3FN, #eider.dims<tokens, hidden>> -> tensor<256x?xf8E4M3FN, #eider.dims<hidden, tokens>>
  eider.output "t", %t : tensor<256x?xf32, #eider.dims<hidden, tokens>>
  eider.output "u", %u : tensor<256x?xf8E4M3FN, #eider.dims<hidden, tokens>>
}
