// What no tile of a matrix and its transpose holds.
//
// RUN: eider-opt %s -eider-decompose -eider-place-transposes -canonicalize -cse -eider-legalize -eider-assign-schedule -eider-lower-to-simt -split-input-file -verify-diagnostics

eider.program @whole_rows(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  // expected-error @+1 {{reduces along whole rows of the transposed matrix}}
  %s = eider.reduce sum %t over [1, *] : tensor<256x?xf32, #eider.dims<hidden, tokens>> -> tensor<256x1xf32, #eider.dims<hidden, 1>>
  eider.output "s", %s : tensor<256x1xf32, #eider.dims<hidden, 1>>
}

// -----

// expected-error @+1 {{transposes a matrix whose rows and columns are the same dim 'n'}}
eider.program @square(n = 64) {
  %x = eider.input "x" : tensor<64x64xf32, #eider.dims<n, n>>
  %t = eider.transpose %x : tensor<64x64xf32, #eider.dims<n, n>> -> tensor<64x64xf32, #eider.dims<n, n>>
  eider.output "y", %t : tensor<64x64xf32, #eider.dims<n, n>>
}

// -----

eider.program @columns_over_rows(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %bias = eider.input "bias" : tensor<?xf32, #eider.dims<tokens>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  // expected-error @+1 {{spreads values of a matrix over its transpose}}
  %b = eider.broadcast %bias : tensor<?xf32, #eider.dims<tokens>> to tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %y = arith.addf %t, %b : tensor<256x?xf32, #eider.dims<hidden, tokens>>
  eider.output "y", %y : tensor<256x?xf32, #eider.dims<hidden, tokens>>
}

// -----

// expected-error @+1 {{a square of both does not fit the registers}}
eider.program @wide_groups(tokens, hidden = 1024) {
  %x = eider.input "x" : tensor<?x1024xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x1024xf32, #eider.dims<tokens, hidden>> -> tensor<1024x?xf32, #eider.dims<hidden, tokens>>
  %s = eider.reduce amax %t over [1, 512] : tensor<1024x?xf32, #eider.dims<hidden, tokens>> -> tensor<1024x?xf32, #eider.dims<hidden, tokens / 512>>
  eider.output "s", %s : tensor<1024x?xf32, #eider.dims<hidden, tokens / 512>>
}

// -----

eider.program @positions_of_the_transpose(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %x : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  // expected-error @+1 {{counts along 'tensor<256x1xi64, #eider.dims<hidden, 1>>', not along the program's matrix [tokens, hidden]}}
  %p = eider.position 0 : tensor<256x1xi64, #eider.dims<hidden, 1>>
  %positions = eider.broadcast %p : tensor<256x1xi64, #eider.dims<hidden, 1>> to tensor<256x?xi64, #eider.dims<hidden, tokens>>
  %seven = arith.constant 7 : i64
  %end = eider.broadcast %seven : i64 to tensor<256x?xi64, #eider.dims<hidden, tokens>>
  %mask = arith.cmpi slt, %positions, %end : tensor<256x?xi64, #eider.dims<hidden, tokens>>
  %twice = arith.addf %t, %t : tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %y = arith.select %mask, %twice, %t : tensor<256x?xi1, #eider.dims<hidden, tokens>>, tensor<256x?xf32, #eider.dims<hidden, tokens>>
  eider.output "y", %y : tensor<256x?xf32, #eider.dims<hidden, tokens>>
}

// -----

eider.program @chosen_rows(tokens, hidden = 256, rows) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<rows, hidden>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<tokens>>
  // expected-error @+1 {{in a kernel that transposes}}
  %chosen = eider.gather %x by %i : tensor<?x256xf32, #eider.dims<rows, hidden>>, tensor<?xi64, #eider.dims<tokens>> -> tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %chosen : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  eider.output "y", %t : tensor<256x?xf32, #eider.dims<hidden, tokens>>
}

// -----

// expected-error @+1 {{blocks of 64x64 are too small for the 128 neighbours that share a scale of what is read; take blocks of more columns}}
eider.program @wider_groups_than_blocks(tokens, hidden = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %scales = eider.input "scales" : tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
  %spread = eider.broadcast %scales : tensor<?x2xf32, #eider.dims<tokens, hidden / 128>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %y = arith.mulf %x, %spread : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %t = eider.transpose %y : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<256x?xf32, #eider.dims<hidden, tokens>>
  %amax = eider.reduce amax %y over [64, 64] : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<?x4xf32, #eider.dims<tokens / 64, hidden / 64>>
  eider.output "t", %t : tensor<256x?xf32, #eider.dims<hidden, tokens>>
  eider.output "amax", %amax : tensor<?x4xf32, #eider.dims<tokens / 64, hidden / 64>>
}
