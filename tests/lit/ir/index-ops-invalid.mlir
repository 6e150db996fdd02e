// What the verifiers of positions and of rows by an index refuse.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

eider.program @axis(m, n) {
  // expected-error @below {{'eider.position' op has no axis 2 in 'tensor<?x1xi64, #eider.dims<m, 1>>'}}
  %p = eider.position 2 : tensor<?x1xi64, #eider.dims<m, 1>>
}

// -----

eider.program @two_axes(m, n) {
  // expected-error @below {{'eider.position' op the extent of the other axis is 1, not 'n'}}
  %p = eider.position 0 : tensor<?x?xi64, #eider.dims<m, n>>
}

// -----

eider.program @extent_of_blocks(m) {
  // expected-error @below {{'eider.extent' op is that of one dim, or of a multiple of one}}
  %e = eider.extent<m / 8>
}

// -----

eider.program @extent_of_nothing(m) {
  // expected-error @below {{'eider.extent' op 'n' is not a dim of the program}}
  %e = eider.extent<n>
}

// -----

eider.program @rows_of_another_table(m, n, k, r) {
  %t = eider.input "t" : tensor<?x?xf32, #eider.dims<r, k>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  // expected-error @below {{'eider.gather' op gives rows of its table 'tensor<?x?xf32, #eider.dims<r, k>>', not 'tensor<?x?xf32, #eider.dims<m, n>>'}}
  %g = eider.gather %t by %i : tensor<?x?xf32, #eider.dims<r, k>>, tensor<?xi64, #eider.dims<m>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @index_of_other_rows(m, n, r) {
  %t = eider.input "t" : tensor<?x?xf32, #eider.dims<r, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<r>>
  // expected-error @below {{'eider.gather' op the index 'tensor<?xi64, #eider.dims<r>>' has not one value for each of the rows 'm'}}
  %g = eider.gather %t by %i : tensor<?x?xf32, #eider.dims<r, n>>, tensor<?xi64, #eider.dims<r>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @rows_for_none(m, n, r) {
  %t = eider.input "t" : tensor<?x?xf32, #eider.dims<r, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  // expected-error @below {{'eider.gather' op a row of the table stands for at least one, not 0}}
  %g = eider.gather %t by %i rows = 0 : tensor<?x?xf32, #eider.dims<r, n>>, tensor<?xi64, #eider.dims<m>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @no_such_column(m) {
  %t = eider.input "t" : tensor<?x2xi64, #eider.dims<m, 2>>
  // expected-error @below {{'eider.column' op there is no column 2 in 'tensor<?x2xi64, #eider.dims<m, 2>>'}}
  %c = eider.column %t at 2 : tensor<?x2xi64, #eider.dims<m, 2>> -> tensor<?x1xi64, #eider.dims<m, 1>>
}

// -----

eider.program @column_of_a_dim(m, n) {
  %t = eider.input "t" : tensor<?x?xi64, #eider.dims<m, n>>
  // expected-error @below {{'eider.column' op gives one value a row of a matrix of a constant number of columns}}
  %c = eider.column %t at 0 : tensor<?x?xi64, #eider.dims<m, n>> -> tensor<?x1xi64, #eider.dims<m, 1>>
}

// -----

eider.program @parts_of_a_period(m, n = 100) {
  %t = eider.input "t" : tensor<?x64xf32, #eider.dims<m, 64>>
  // expected-error @below {{rows of 100 are no whole number of times the 64 that are repeated (a rope's head): give a multiple of it}}
  %r = eider.repeat %t : tensor<?x64xf32, #eider.dims<m, 64>> -> tensor<?x100xf32, #eider.dims<m, n>>
}

// -----

eider.program @for_none(m, n) {
  %t = eider.input "t" : tensor<?x64xf32, #eider.dims<m, 64>>
  // expected-error @below {{'eider.repeat' op each value stands for at least one, not 0}}
  %r = eider.repeat %t each 0 : tensor<?x64xf32, #eider.dims<m, 64>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @no_halves(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  // expected-error @below {{'eider.rotate' op turns halves of an even number of neighbours, not of 3}}
  %r = eider.rotate %x over 3 : tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @part_of_a_head(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  // expected-error @below {{rows of 100 are no whole number of times the 64 that are turned together (a rope's head): give a multiple of it}}
  %r = eider.rotate %x over 64 : tensor<?x100xf32, #eider.dims<m, n>>
}

// -----

eider.program @into_other_columns(m, n, k, r) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  // expected-error @below {{'eider.scatter' op places rows of 'tensor<?x?xf32, #eider.dims<m, n>>', which 'tensor<?x?xf32, #eider.dims<r, k>>' has not}}
  eider.scatter "y", %x by %i : tensor<?x?xf32, #eider.dims<m, n>>, tensor<?xi64, #eider.dims<m>> into tensor<?x?xf32, #eider.dims<r, k>>
}

// -----

eider.program @scales_of_several_rows(m, n, r) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  %q = eider.quantize %x numerics<> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [8, 8], scale = f32, layout = row_major>
  // expected-error @below {{'eider.scatter' op places scales with their rows: a block has one row}}
  eider.scatter "y", %q by %i : !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [8, 8], scale = f32, layout = row_major>, tensor<?xi64, #eider.dims<m>> into tensor<?x?xf8E4M3FN, #eider.dims<r, n>>
}

// -----

eider.program @scales_that_lie_elsewhere(m, n, r) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  %q = eider.quantize %x numerics<> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [1, 128], scale = f32, layout = mn_major_aligned>
  // expected-error @below {{'eider.scatter' op places scales with their rows: they lie row by row, in row_major}}
  eider.scatter "y", %q by %i : !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [1, 128], scale = f32, layout = mn_major_aligned>, tensor<?xi64, #eider.dims<m>> into tensor<?x?xf8E4M3FN, #eider.dims<r, n>>
}

// -----

// A tensor that rows go into has dims of the program, like any other.
eider.program @into_no_dims(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  %i = eider.input "i" : tensor<?xi64, #eider.dims<m>>
  // expected-error @below {{'r'}}
  eider.scatter "y", %x by %i : tensor<?x?xf32, #eider.dims<m, n>>, tensor<?xi64, #eider.dims<m>> into tensor<?x?xf32, #eider.dims<r, n>>
}
