// What the ops on values refuse.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

eider.program @codes_of_another_shape(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  // expected-error @below {{'eider.quantize' op the result's codes must be 'tensor<?x?xf8E4M3FN, #eider.dims<m, n>>', not 'tensor<?x?xf8E4M3FN, #eider.dims<n, m>>'}}
  %q = eider.quantize %x numerics<> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <n, m>, block = [1, 128], scale = f32, layout = row_major>
}

// -----

eider.program @scale_of_another_block(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  %s = eider.input "s" : tensor<?x?xf32, #eider.dims<m, n / 64>>
  // expected-error @below {{'eider.quantize' op the given scale must be 'tensor<?x?xf32, #eider.dims<m, n / 128>>', not 'tensor<?x?xf32, #eider.dims<m, n / 64>>'}}
  %q = eider.quantize %x by %s : tensor<?x?xf32, #eider.dims<m, n / 64>> numerics<> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [1, 128], scale = f32, layout = row_major>
}

// -----

eider.program @scale_of_another_type(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  %s = eider.input "s" : tensor<1x1xbf16, #eider.dims<1, 1>>
  // expected-error @below {{'eider.quantize' op the given scale must be 'tensor<1x1xf32, #eider.dims<1, 1>>', not 'tensor<1x1xbf16, #eider.dims<1, 1>>'}}
  %q = eider.quantize %x by %s : tensor<1x1xbf16, #eider.dims<1, 1>> numerics<> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [*, *], scale = f32, layout = row_major>
}

// -----

eider.program @quantizes_f32(n) {
  %x = eider.input "x" : tensor<?xbf16, #eider.dims<n>>
  // expected-error @below {{'eider.quantize' op operand #0 must be ranked tensor of 32-bit float values, but got 'tensor<?xbf16, #eider.dims<n>>'}}
  %q = eider.quantize %x numerics<> : tensor<?xbf16, #eider.dims<n>> -> !eider.scaled<?xf8E4M3FN, dims = <n>, block = [16], scale = f32, layout = row_major>
}

// -----

eider.program @dequantizes_to_its_dims(m, n) {
  %q = eider.input "q" : !eider.scaled<?xf8E4M3FN, dims = <n>, block = [16], scale = f32, layout = row_major>
  // expected-error @below {{'eider.dequantize' op the result must be 'tensor<?xf32, #eider.dims<n>>', not 'tensor<?xf32, #eider.dims<m>>'}}
  %x = eider.dequantize %q : !eider.scaled<?xf8E4M3FN, dims = <n>, block = [16], scale = f32, layout = row_major> -> tensor<?xf32, #eider.dims<m>>
}

// -----

eider.program @divisor_of_another_type(m, n) {
  %x = eider.input "x" : tensor<?xbf16, #eider.dims<n>>
  %s = eider.input "s" : tensor<?xf32, #eider.dims<m>>
  // expected-error @below {{'eider.encode' op the divisor must be 'tensor<?xf32, #eider.dims<n>>', not 'tensor<?xf32, #eider.dims<m>>'}}
  %c = eider.encode %x by %s : tensor<?xf32, #eider.dims<m>> : tensor<?xbf16, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<n>>
}

// -----

eider.program @draws_for_its_elements(m, n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  %bits = eider.random %seed, %seed : tensor<?xi16, #eider.dims<m>>
  // expected-error @below {{'eider.encode' op the random bits must be 'tensor<?xi16, #eider.dims<n>>', not 'tensor<?xi16, #eider.dims<m>>'}}
  %c = eider.encode %x random %bits : tensor<?xi16, #eider.dims<m>> : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<n>>
}

// -----

eider.program @draws_bytes_for_four_bits(m, n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  %bits = eider.random %seed, %seed : tensor<?xi16, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op the random bits must be 'tensor<?xi8, #eider.dims<n>>', not 'tensor<?xi16, #eider.dims<n>>'}}
  %c = eider.encode %x random %bits : tensor<?xi16, #eider.dims<n>> : tensor<?xf32, #eider.dims<n>> -> tensor<?xf4E2M1FN, #eider.dims<n>>
}

// -----

eider.program @within_and_overflows(m, n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op within a largest magnitude saturates and keeps NaN}}
  %y = eider.encode %x within %x : tensor<?xf32, #eider.dims<n>> {overflow_to_format} : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E4M3FN, #eider.dims<n>>
  eider.output "y", %y : tensor<?xf8E4M3FN, #eider.dims<n>>
}

// -----

eider.program @bounded_by_nothing(m, n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op is bounded by nothing: give a divisor or a largest magnitude}}
  %y = eider.encode %x {bounded} : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E4M3FN, #eider.dims<n>>
  eider.output "y", %y : tensor<?xf8E4M3FN, #eider.dims<n>>
}

// -----

eider.program @bounded_draws(m, n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  %bits = eider.random %seed, %seed : tensor<?xi16, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op of random bits is not bounded by a largest magnitude, which they may pass}}
  %y = eider.encode %x within %x : tensor<?xf32, #eider.dims<n>> random %bits : tensor<?xi16, #eider.dims<n>> {bounded} : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E4M3FN, #eider.dims<n>>
  eider.output "y", %y : tensor<?xf8E4M3FN, #eider.dims<n>>
}

// -----

eider.program @draws_and_saturates(m, n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  %bits = eider.random %seed, %seed : tensor<?xi16, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op rounds stochastically, which saturates}}
  %c = eider.encode %x random %bits : tensor<?xi16, #eider.dims<n>> {overflow_to_format} : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<n>>
}

// -----

eider.program @draws_in_software(m, n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  %bits = eider.random %seed, %seed : tensor<?xi16, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op rounds stochastically, which no instruction does from these bits}}
  %c = eider.encode %x random %bits : tensor<?xi16, #eider.dims<n>> {codec = #eider<codec hardware>} : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<n>>
}

// -----

eider.program @draws_for_f32(m, n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xbf16, #eider.dims<n>>
  %bits = eider.random %seed, %seed : tensor<?xi16, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op rounds f32, or a quotient, stochastically; widen first}}
  %c = eider.encode %x random %bits : tensor<?xi16, #eider.dims<n>> : tensor<?xbf16, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<n>>
}

// -----

eider.program @encodes_to_its_dims(m, n) {
  %x = eider.input "x" : tensor<?xbf16, #eider.dims<n>>
  // expected-error @below {{'eider.encode' op the result must be 'tensor<?xf8E5M2, #eider.dims<n>>', not 'tensor<?xf8E5M2, #eider.dims<m>>'}}
  %c = eider.encode %x : tensor<?xbf16, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<m>>
}

// -----

eider.program @decodes_to_its_dims(m, n) {
  %x = eider.input "x" : tensor<?xf8E5M2, #eider.dims<n>>
  // expected-error @below {{'eider.decode' op the result must be 'tensor<?xf32, #eider.dims<n>>', not 'tensor<?xf32, #eider.dims<m>>'}}
  %c = eider.decode %x : tensor<?xf8E5M2, #eider.dims<n>> -> tensor<?xf32, #eider.dims<m>>
}

// -----

eider.program @decodes_codes(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.decode' op operand #0 must be ranked tensor of FP8 or FP4 code values, but got 'tensor<?xf32, #eider.dims<n>>'}}
  %c = eider.decode %x : tensor<?xf32, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @sum_of_bf16(n) {
  %x = eider.input "x" : tensor<?xbf16, #eider.dims<n>>
  // expected-error @below {{'eider.reduce' op sum reduces f32, not 'bf16'}}
  %s = eider.reduce sum %x over [*] : tensor<?xbf16, #eider.dims<n>> -> tensor<1xf32, #eider.dims<1>>
}

// -----

eider.program @block_of_another_rank(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.reduce' op a block has its tensor's rank 1, not 2}}
  %s = eider.reduce sum %x over [1, *] : tensor<?xf32, #eider.dims<n>> -> tensor<1xf32, #eider.dims<1>>
}

// -----

eider.program @empty_block(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.reduce' op a block's extents are 1 to 2147483647, or *}}
  %s = eider.reduce sum %x over [0] : tensor<?xf32, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @negative_block(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.reduce' op a block's extents are 1 to 2147483647, or *}}
  %s = eider.reduce sum %x over [-4] : tensor<?xf32, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @reduced_to_another_type(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.reduce' op the result must be 'tensor<?xf32, #eider.dims<n / 16>>', not 'tensor<1xf32, #eider.dims<1>>'}}
  %s = eider.reduce sum %x over [16] : tensor<?xf32, #eider.dims<n>> -> tensor<1xf32, #eider.dims<1>>
}

// -----

eider.program @unknown_reduction(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @+2 {{expected ::eider::ir::Reduction to be one of: sum, mean, max, min, amax, amax_number}}
  // expected-error @+1 {{failed to parse Eider_ReductionAttr parameter 'value'}}
  %s = eider.reduce median %x over [*] : tensor<?xf32, #eider.dims<n>> -> tensor<1xf32, #eider.dims<1>>
}

// -----

%c = arith.constant dense<1.0> : tensor<4xf32>
// expected-error @below {{'eider.reduce' op tensor type 'tensor<4xf32>' has no #eider.dims}}
%s = eider.reduce sum %c over [*] : tensor<4xf32> -> tensor<1xf32>

// -----

eider.program @broadcast_converts_nothing(n) {
  %e = eider.scalar "e" = 1.0
  // expected-error @below {{'eider.broadcast' op keeps the element type 'f32', not 'bf16'}}
  %s = eider.broadcast %e : f32 to tensor<?xbf16, #eider.dims<n>>
}

// -----

%c = arith.constant dense<1.0> : tensor<4xf32>
// expected-error @below {{'eider.broadcast' op needs tensors with #eider.dims}}
%s = eider.broadcast %c : tensor<4xf32> to tensor<4x4xf32>

// -----

eider.program @broadcast_drops_dims(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  // expected-error @below {{'eider.broadcast' op cannot drop dims of 'tensor<?x?xf32, #eider.dims<m, n>>'}}
  %s = eider.broadcast %x : tensor<?x?xf32, #eider.dims<m, n>> to tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @broadcast_to_another_dim(m, n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<m>>
  // expected-error @below {{'eider.broadcast' op dim 'm' does not broadcast to 'n'}}
  %s = eider.broadcast %x : tensor<?xf32, #eider.dims<m>> to tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @broadcast_to_a_coarser_dim(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n / 16>>
  // expected-error @below {{'eider.broadcast' op dim 'n / 16' does not broadcast to 'n / 32'}}
  %s = eider.broadcast %x : tensor<?xf32, #eider.dims<n / 16>> to tensor<?xf32, #eider.dims<n / 32>>
}

// -----

eider.program @broadcast_to_an_uneven_dim(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n / 24>>
  // expected-error @below {{'eider.broadcast' op dim 'n / 24' does not broadcast to 'n / 16'}}
  %s = eider.broadcast %x : tensor<?xf32, #eider.dims<n / 24>> to tensor<?xf32, #eider.dims<n / 16>>
}

// -----

eider.program @half_of_another_rank(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, 2 * n>>
  // expected-error @below {{'eider.half' op halves the last axis of a tensor and keeps the rest}}
  %s = eider.half first %x : tensor<?x?xf32, #eider.dims<m, 2 * n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @half_converts_nothing(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<2 * n>>
  // expected-error @below {{'eider.half' op halves the last axis of a tensor and keeps the rest}}
  %s = eider.half first %x : tensor<?xf32, #eider.dims<2 * n>> -> tensor<?xbf16, #eider.dims<n>>
}

// -----

eider.program @half_of_another_axis(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<2 * m, 2 * n>>
  // expected-error @below {{'eider.half' op 'n' is not half of '2 * n'}}
  %s = eider.half first %x : tensor<?x?xf32, #eider.dims<2 * m, 2 * n>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @half_of_a_third(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<3 * n>>
  // expected-error @below {{'eider.half' op 'n' is not half of '3 * n'}}
  %s = eider.half second %x : tensor<?xf32, #eider.dims<3 * n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @half_of_a_quotient(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<2 * n / 3>>
  // expected-error @below {{'eider.half' op 'n / 3' is not half of '2 * n / 3'}}
  %s = eider.half first %x : tensor<?xf32, #eider.dims<2 * n / 3>> -> tensor<?xf32, #eider.dims<n / 3>>
}

// -----

eider.program @unknown_half(n) {
  %x = eider.input "x" : tensor<?xf32, #eider.dims<2 * n>>
  // expected-error @+2 {{expected ::eider::ir::Half to be one of: first, second}}
  // expected-error @+1 {{failed to parse Eider_HalfAttr parameter 'value'}}
  %s = eider.half third %x : tensor<?xf32, #eider.dims<2 * n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @sigmoid_of_bf16(n) {
  %x = eider.input "x" : tensor<?xbf16, #eider.dims<n>>
  // expected-error @below {{'eider.sigmoid' op operand #0 must be 32-bit float or ranked tensor of 32-bit float values, but got 'tensor<?xbf16, #eider.dims<n>>'}}
  %s = eider.sigmoid %x : tensor<?xbf16, #eider.dims<n>>
}

// -----

eider.program @powers_of_two_by_their_type(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  // expected-error @below {{'eider.quantize' op scales of e8m0 are powers of two, but power_of_two is none; take floor, ceil, rceil or even}}
  %q = eider.quantize %x numerics<> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [1, 32], scale = f8E8M0FNU, layout = row_major>
}

// -----

eider.program @multiplies_by_what_is_not_stored(m, n) {
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<m, n>>
  // expected-error @below {{'eider.quantize' op arithmetic max_over_amax multiplies by the inverse of a scale that was not rounded}}
  %q = eider.quantize %x numerics<arithmetic = max_over_amax> : tensor<?x?xf32, #eider.dims<m, n>> -> !eider.scaled<?x?xf8E4M3FN, dims = <m, n>, block = [1, 32], scale = bf16, layout = row_major>
}

// -----

eider.program @a_vector_of_another_dim(n, k) {
  %w = eider.input "w" : tensor<?x?xf32, #eider.dims<n, k>>
  %x = eider.input "x" : tensor<?xf32, #eider.dims<n>>
  // expected-error @below {{'eider.contract' op the vector}}
  %y = eider.contract %w, %x : tensor<?x?xf32, #eider.dims<n, k>>, tensor<?xf32, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @scales_twice(n, k) {
  %w = eider.input "w" : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 32], scale = f32, layout = row_major>
  %s = eider.input "s" : tensor<?x?xf32, #eider.dims<n, k / 32>>
  %x = eider.input "x" : tensor<?xf32, #eider.dims<k>>
  // expected-error @below {{'eider.contract' op weights that are scaled have their scales; others are given `by`}}
  %y = eider.contract %w by %s : tensor<?x?xf32, #eider.dims<n, k / 32>>, %x : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 32], scale = f32, layout = row_major>, tensor<?xf32, #eider.dims<k>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @groups_of_no_matrices(m, n, k, g) {
  %w = eider.input "w" : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 32], scale = f32, layout = row_major>
  %x = eider.input "x" : tensor<?x?xbf16, #eider.dims<m, k>>
  %e = eider.input "e" : tensor<?xi32, #eider.dims<g>>
  // expected-error @below {{'eider.contract' op weights are a matrix a group with #eider.dims, one an axis}}
  %y = eider.contract %w, %x groups %e : tensor<?xi32, #eider.dims<g>> : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 32], scale = f32, layout = row_major>, tensor<?x?xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @a_vector_of_batches(n, k, g) {
  %w = eider.input "w" : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 32], scale = f32, layout = row_major>
  %x = eider.input "x" : tensor<?xf32, #eider.dims<k>>
  // expected-error @below {{'eider.contract' op weights are a matrix, or one a batch of a matrix' rows, with #eider.dims, one an axis}}
  %y = eider.contract %w, %x : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 32], scale = f32, layout = row_major>, tensor<?xf32, #eider.dims<k>> -> tensor<?xf32, #eider.dims<n>>
}

// -----

eider.program @ends_of_others(m, n, k, g) {
  %w = eider.input "w" : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 32], scale = f32, layout = row_major>
  %x = eider.input "x" : tensor<?x?xbf16, #eider.dims<m, k>>
  %e = eider.input "e" : tensor<?xi32, #eider.dims<m>>
  // expected-error @below {{'eider.contract' op has groups of a matrix's rows, and an end for each of the weights'}}
  %y = eider.contract %w, %x groups %e : tensor<?xi32, #eider.dims<m>> : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 32], scale = f32, layout = row_major>, tensor<?x?xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// -----

eider.program @codes_that_nobody_scales(m, n, k) {
  %w = eider.input "w" : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 32], scale = f32, layout = row_major>
  %x = eider.input "x" : tensor<?x?xf8E4M3FN, #eider.dims<m, k>>
  // expected-error @below {{'eider.contract' op multiplies codes that are a matrix, by their scales as the weights are}}
  %y = eider.contract %w, %x : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 32], scale = f32, layout = row_major>, tensor<?x?xf8E4M3FN, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
}
