// Programs that no schedule family fits.
//
// RUN: eider-opt %s -eider-partition -split-input-file -verify-diagnostics

// expected-error @below {{has no tensor}}
eider.program @nothing() {
  %e = eider.scalar "e" = 1.0
}

// -----

// expected-error @below {{a tensor [l, m, n], of rank 3: of three dims the last two must be static}}
eider.program @rank_three(l, m, n) {
  %x = eider.input "x" : tensor<?x?x?xf32, #eider.dims<l, m, n>>
  eider.output "y", %x : tensor<?x?x?xf32, #eider.dims<l, m, n>>
}

// -----

// expected-error @below {{dim 'n' runs along the rows and must be static: give it a value}}
eider.program @dynamic_width(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @another_matrix(m, k = 8, n = 8) {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{type 'tensor<?x8xf32, #eider.dims<m, k>>' does not fit the program's matrix [m, n]}}
  %z = eider.input "z" : tensor<?x8xf32, #eider.dims<m, k>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}

// -----

eider.program @down_the_rows(m, n = 8) {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{reduces down the rows: no schedule family has reductions along that axis yet; a static scale needs none}}
  %s = eider.reduce sum %x over [*, 1] : tensor<?x8xf32, #eider.dims<m, n>> -> tensor<1x8xf32, #eider.dims<1, n>>
  eider.output "y", %s : tensor<1x8xf32, #eider.dims<1, n>>
}

// -----

eider.program @single_elements(m, n = 8) {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{reduces blocks of one element each: take blocks of at least two}}
  %s = eider.reduce amax %x over [1, 1] : tensor<?x8xf32, #eider.dims<m, n>> -> tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %s : tensor<?x8xf32, #eider.dims<m, n>>
}

// -----

// expected-error @below {{rows of 2147483648 elements: a kernel counts columns in 32 bits, at most 1073741824}}
eider.program @rows_of_more_than_32_bits(m, n = 2147483648) {
  %x = eider.input "x" : tensor<?x2147483648xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x2147483648xf32, #eider.dims<m, n>>
}

// -----

eider.program @rows_without_elements(m, n = 0) {
  %x = eider.input "x" : tensor<?x0xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, *] : tensor<?x0xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  // expected-error @below {{gives values of rows without elements: 'n' is 0, and such rows launch nothing; give it at least 1}}
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// -----

eider.program @whole_tensor(m, n = 8) {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{sums over the whole matrix: no schedule family keeps their order yet; amax, max and min have none}}
  %s = eider.reduce sum %x over [*, *] : tensor<?x8xf32, #eider.dims<m, n>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  eider.output "y", %s : tensor<1x1xf32, #eider.dims<1, 1>>
}

// -----

eider.program @uneven_block(m, n = 96) {
  %x = eider.input "x" : tensor<?x96xf32, #eider.dims<m, n>>
  // expected-error @below {{blocks of 1x48: a block along a row is a power of two up to 512, or the whole row (1x*)}}
  %s = eider.reduce amax %x over [1, 48] : tensor<?x96xf32, #eider.dims<m, n>> -> tensor<?x2xf32, #eider.dims<m, n / 48>>
  eider.output "y", %s : tensor<?x2xf32, #eider.dims<m, n / 48>>
}

// -----

eider.program @long_block(m, n = 2048) {
  %x = eider.input "x" : tensor<?x2048xf32, #eider.dims<m, n>>
  // expected-error @below {{blocks of 1x1024: a block along a row is a power of two up to 512, or the whole row (1x*)}}
  %s = eider.reduce amax %x over [1, 1024] : tensor<?x2048xf32, #eider.dims<m, n>> -> tensor<?x2xf32, #eider.dims<m, n / 1024>>
  eider.output "y", %s : tensor<?x2xf32, #eider.dims<m, n / 1024>>
}

// -----

eider.program @two_blocks(m, n = 64) {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [8, 8] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x8xf32, #eider.dims<m / 8, n / 8>>
  // expected-error @below {{a kernel has one block of several rows; with a transpose take a square, or blocks of one row}}
  %t = eider.reduce amax %x over [16, 16] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x4xf32, #eider.dims<m / 16, n / 16>>
  eider.output "y", %s : tensor<?x8xf32, #eider.dims<m / 8, n / 8>>
  eider.output "z", %t : tensor<?x4xf32, #eider.dims<m / 16, n / 16>>
}

// -----

eider.program @several_rows(m, n = 64) {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  // expected-error @below {{blocks of several whole rows (Rx*): no schedule has one value for them; take whole rows (1x*)}}
  %s = eider.reduce amax %x over [2, *] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m / 2, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m / 2, 1>>
}

// -----

eider.program @reduced_twice(m, n = 64) {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, 8] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x8xf32, #eider.dims<m, n / 8>>
  // expected-error @below {{reduces what is not the program's whole matrix; reduce its elements instead}}
  %t = eider.reduce sum %s over [1, *] : tensor<?x8xf32, #eider.dims<m, n / 8>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %t : tensor<?x1xf32, #eider.dims<m, 1>>
}

// -----

eider.program @given_uneven_group(m, n = 96) {
  %x = eider.input "x" : tensor<?x96xf32, #eider.dims<m, n>>
  // expected-error @below {{blocks of 1x48: a block along a row is a power of two up to 512, or the whole row (1x*)}}
  %s = eider.input "s" : tensor<?x2xf32, #eider.dims<m, n / 48>>
  eider.output "y", %x : tensor<?x96xf32, #eider.dims<m, n>>
}

// -----

eider.program @given_uneven_block(m, n = 96) {
  %x = eider.input "x" : tensor<?x96xf32, #eider.dims<m, n>>
  // expected-error @below {{reads blocks of 64x48: the columns of a block that is read are a power of two up to 512}}
  %s = eider.input "s" : tensor<?x2xf32, #eider.dims<m / 64, n / 48>>
  eider.output "y", %x : tensor<?x96xf32, #eider.dims<m, n>>
}

// -----

eider.program @rows_of_blocks(m, n = 128) {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  // expected-error @below {{reduces blocks of 32x64, on which a reduction along whole rows depends: no kernel holds both; store what the blocks give, and reduce its rows in a program of its own}}
  %least = eider.reduce min %x over [32, 64] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x2xf32, #eider.dims<m / 32, n / 64>>
  %spread = eider.broadcast %least : tensor<?x2xf32, #eider.dims<m / 32, n / 64>> to tensor<?x128xf32, #eider.dims<m, n>>
  %above = arith.subf %x, %spread : tensor<?x128xf32, #eider.dims<m, n>>
  %sum = eider.reduce sum %above over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %sum : tensor<?x1xf32, #eider.dims<m, 1>>
}

// -----

eider.program @halves_of_heads(b, h = 8, d = 64) {
  %x = eider.input "x" : tensor<?x8x128xf32, #eider.dims<b, h, 2 * d>>
  // expected-error @below {{takes halves of rows of three dims}}
  %first = eider.half first %x : tensor<?x8x128xf32, #eider.dims<b, h, 2 * d>> -> tensor<?x8x64xf32, #eider.dims<b, h, d>>
  eider.output "o", %first : tensor<?x8x64xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @vector_of_no_product(m, n = 64) {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  %g = eider.input "g" : tensor<64xf32, #eider.dims<n>>
  // expected-error @below {{reduces a column vector of the program's matrix, which no product meets; reduce the matrix's elements instead}}
  %s = eider.reduce sum %g over [*] : tensor<64xf32, #eider.dims<n>> -> tensor<1xf32, #eider.dims<1>>
  %wide = eider.broadcast %s : tensor<1xf32, #eider.dims<1>> to tensor<?x64xf32, #eider.dims<m, n>>
  %y = arith.mulf %x, %wide : tensor<?x64xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x64xf32, #eider.dims<m, n>>
}
