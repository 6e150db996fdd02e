// Programs that have no thread-level form.
//
// RUN: eider-opt %s -eider-lower-to-simt -split-input-file -verify-diagnostics

// expected-error @below {{no schedule; run eider-assign-schedule first}}
eider.program @no_schedule(m, n = 8) {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}

// -----

// expected-error @below {{schedule row<threads = 1, vector = 8>: the program needs family map (elementwise: no reduction)}}
eider.program @another_family(m, n = 8) attributes {schedule = #eider.schedule<row<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}

// -----

eider.program @half_of_a_value(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %z = eider.input "z" : tensor<?x8xf32, #eider.dims<m, n>>
  %x = eider.input "x" : tensor<?x16xf32, #eider.dims<m, 2 * n>>
  %a = arith.negf %x : tensor<?x16xf32, #eider.dims<m, 2 * n>>
  // expected-error @below {{halves must be taken of an input}}
  %b = eider.half first %a : tensor<?x16xf32, #eider.dims<m, 2 * n>> -> tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %b : tensor<?x8xf32, #eider.dims<m, n>>
}

// -----

eider.program @columns_stored(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  %w = eider.input "w" : tensor<8xf32, #eider.dims<n>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{an output that every row would write; only elements, values a row, values a block and one value in all are stored}}
  eider.output "z", %w : tensor<8xf32, #eider.dims<n>>
}

// -----

eider.program @whole_not_cut(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8, blocks = 4>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{a reduction over the whole matrix in the kernel that reads it: eider-partition cuts it out}}
  %w = eider.reduce amax %x over [*, *] : tensor<?x8xf32, #eider.dims<m, n>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  %y = eider.broadcast %w : tensor<1x1xf32, #eider.dims<1, 1>> to tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "z", %w : tensor<1x1xf32, #eider.dims<1, 1>>
}

// -----

eider.program @unknown_parts(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{parts of an unknown number of blocks; run eider-assign-schedule first}}
  %w = eider.input "w" workspace {eider.parts_of = #eider<reduction amax>} : tensor<1x1xf32, #eider.dims<1, 1>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
  eider.output "z", %w : tensor<1x1xf32, #eider.dims<1, 1>>
}

// -----

eider.program @given_blocks_stored(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  %s = eider.input "s" : tensor<?x2xf32, #eider.dims<m / 4, n / 4>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
  // expected-error @below {{values of two-dimensional blocks are stored only where the program reduces over them}}
  eider.output "z", %s : tensor<?x2xf32, #eider.dims<m / 4, n / 4>>
}

// -----

eider.program @rows_in_a_tile(m, n = 64) attributes {schedule = #eider.schedule<tile<threads = 32, vector = 8, rows = 16, columns = 64>>} {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  %a = eider.reduce amax %x over [16, 64] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m / 16, n / 64>>
  // expected-error @below {{a reduction along whole rows in a kernel of two-dimensional blocks: eider-partition cuts it out}}
  %s = eider.reduce sum %x over [1, *] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "z", %a : tensor<?x1xf32, #eider.dims<m / 16, n / 64>>
}

// -----

eider.program @another_matrix(m, n = 8) attributes {schedule = #eider.schedule<map<threads = 1, vector = 8>>} {
  %x = eider.input "x" : tensor<?x8xf32, #eider.dims<m, n>>
  %e = eider.scalar "e" = 1.0
  // expected-error @below {{type 'tensor<?x4xf32, #eider.dims<m, 4>>' does not fit the program's matrix}}
  %s = eider.broadcast %e : f32 to tensor<?x4xf32, #eider.dims<m, 4>>
  eider.output "y", %x : tensor<?x8xf32, #eider.dims<m, n>>
}

// -----

eider.program @not_decomposed(m, n = 128) attributes {schedule = #eider.schedule<map<threads = 8, vector = 16>>} {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  // expected-error @below {{run eider-decompose first}}
  %q = eider.quantize %x numerics<> : tensor<?x128xf32, #eider.dims<m, n>> -> !eider.scaled<?x128xf8E4M3FN, dims = <m, n>, block = [1, 128], scale = f32, layout = row_major>
  eider.output "y", %x : tensor<?x128xf32, #eider.dims<m, n>>
}

// -----

eider.program @bits_of_rows(m, n = 64) attributes {schedule = #eider.schedule<row<threads = 8, vector = 8>>} {
  %x = eider.input "x" : tensor<?x64xf32, #eider.dims<m, n>>
  %max = eider.reduce max %x over [1, *] : tensor<?x64xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %seed = eider.integer "seed" = 0
  // expected-error @below {{nor what rows or blocks have one of: leave the transpose out, or take rounding nearest_even}}
  %bits = eider.random %seed, %seed : tensor<?x1xi16, #eider.dims<m, 1>>
  %codes = eider.encode %max random %bits : tensor<?x1xi16, #eider.dims<m, 1>> {codec = #eider<codec software>} : tensor<?x1xf32, #eider.dims<m, 1>> -> tensor<?x1xf8E5M2, #eider.dims<m, 1>>
  eider.output "y", %codes : tensor<?x1xf8E5M2, #eider.dims<m, 1>>
}
