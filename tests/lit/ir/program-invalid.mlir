// What a program refuses: dims, names, stores.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'eider.program' op dim "n" stands twice}}
eider.program @two_dims_of_a_name(n, n) {
}

// -----

// expected-error @below {{'eider.program' op dim "n" is negative: -1}}
eider.program @negative_dim(n = -1) {
}

// -----

// expected-error @below {{'eider.program' op needs one value a dim}}
"eider.program"() <{sym_name = "values", dim_names = ["n"], dim_values = array<i64>}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @+1 {{expected ')'}}
eider.program @open_list(n {
}

// -----

eider.program @name_taken_by_an_input(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.output' op the name 'x' is taken}}
  eider.output "x", %x : tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @name_taken_by_a_scalar(n) {
  %e = eider.scalar "e" = 1.0
  // expected-error @below {{'eider.inout' op the name 'e' is taken}}
  %x = eider.inout "e" : tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @no_dims(n) {
  // expected-error @below {{'eider.input' op tensor type 'tensor<?xf32>' has no #eider.dims}}
  %x = eider.input "x" : tensor<?xf32>
}

// -----

eider.program @other_encoding(n) {
  // expected-error @below {{'eider.input' op tensor type 'tensor<?xf32, "n">' has no #eider.dims}}
  %x = eider.input "x" : tensor<?xf32, "n">
}

// -----

eider.program @one_dim_an_axis(n) {
  // expected-error @below {{'eider.input' op type 'tensor<?x?xf32, #eider.dims<n>>' needs one dim an axis}}
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<n>>
}

// -----

eider.program @unknown_dim(n) {
  // expected-error @below {{'eider.input' op dim 'm' is not a dim of @unknown_dim}}
  %x = eider.input "x" : tensor<?xf32, #eider.dims<m>>
}

// -----

eider.program @unknown_dim_of_a_scaled_type(n) {
  // expected-error @below {{'eider.input' op dim 'm' is not a dim of @unknown_dim_of_a_scaled_type}}
  %x = eider.input "x" : !eider.scaled<?xf8E5M2, dims = <m>, block = [16], scale = f32, layout = row_major>
}

// -----

eider.program @static_tensor_of_a_dynamic_dim(n) {
  // expected-error @below {{'eider.input' op type 'tensor<4xf32, #eider.dims<n>>' disagrees with dim 'n'}}
  %x = eider.input "x" : tensor<4xf32, #eider.dims<n>>
}

// -----

eider.program @dynamic_tensor_of_a_static_dim(n = 4) {
  // expected-error @below {{'eider.input' op type 'tensor<?xf32, #eider.dims<n>>' disagrees with dim 'n'}}
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @wrong_quotient(n = 100) {
  // expected-error @below {{'eider.input' op type 'tensor<6xf32, #eider.dims<n / 16>>' disagrees with dim 'n / 16'}}
  %x = eider.input "x" : tensor<6xf32, #eider.dims<n / 16>>
}

// -----

eider.program @wrong_constant() {
  // expected-error @below {{'eider.input' op type 'tensor<8xf32, #eider.dims<7>>' disagrees with dim '7'}}
  %x = eider.input "x" : tensor<8xf32, #eider.dims<7>>
}

// -----

eider.program @beyond_64_bits(n = 4611686018427387904) {
  // expected-error @below {{'eider.input' op dim '2 * n' is beyond 64 bits}}
  %x = eider.input "x" : tensor<9223372036854775807xf32, #eider.dims<2 * n>>
}

// -----

eider.program @store_of_nothing(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.store' op there is no in-out 'x'}}
  eider.store "x", %x : tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @stored_twice(n) {
  %x = eider.inout "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.store' op the in-out 'x' is stored twice}}
  eider.store "x", %x : tensor<?xf32, #eider.dims<n>>
  eider.store "x", %x : tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @stored_as_another_type(n) {
  %x = eider.inout "x" : tensor<?xbf16, #eider.dims<n>>
  %y = eider.input "y" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.store' op the in-out 'x' is 'tensor<?xbf16, #eider.dims<n>>', not 'tensor<?xf32, #eider.dims<n>>'}}
  eider.store "x", %y : tensor<?xf32, #eider.dims<n>>
}

// -----

// expected-error @below {{'eider.input' op expects parent op 'eider.program'}}
%x = eider.input "x" : tensor<?xf32, #eider.dims<n>>

// -----

// expected-error @below {{'eider.scalar' op expects parent op 'eider.program'}}
%x = eider.scalar "x" = 1.0

// -----

eider.program @integers(n) {
  // expected-error @below {{'eider.input' op result #0 must be ranked tensor of f32, bf16 or f16 or FP8 or FP4 code or scale or i32 or i64 values or scaled tensor, but got 'tensor<?xi16, #eider.dims<n>>'}}
  %x = eider.input "x" : tensor<?xi16, #eider.dims<n>>
}

// -----

eider.program @codes_are_no_inout(n) {
  // expected-error @below {{'eider.inout' op result #0 must be ranked tensor of f32, bf16 or f16 values, but got 'tensor<?xf8E5M2, #eider.dims<n>>'}}
  %x = eider.inout "x" : tensor<?xf8E5M2, #eider.dims<n>>
}
