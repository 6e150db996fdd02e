// A kernel names and describes each of its arguments; a loop over tiles has one tile and what it
// carries; products are summed over rows, or groups of one row a thread.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'simt.kernel' op has 1 arguments, not 2 parameters and 1 of the contract}}
simt.kernel @names ["x", "y"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

// expected-error @below {{'simt.kernel' op has 1 arguments, not 1 parameters and 0 of the contract}}
simt.kernel @undescribed ["x"] threads = 64 grid = "1" arguments = [] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

// expected-error @below {{'simt.kernel' op argument "texture:x" is not tensor:, workspace:, scalar:, stride: or dim: and a name}}
simt.kernel @kind ["x"] threads = 64 grid = "1" arguments = ["texture:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

// expected-error @below {{'simt.kernel' op argument "tensor:" is not tensor:}}
simt.kernel @nameless ["x"] threads = 64 grid = "1" arguments = ["tensor:"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

// expected-error @below {{'simt.kernel' op argument "dim:x" cannot be '!simt.pointer<f32>'}}
simt.kernel @another_type ["x"] threads = 64 grid = "1" arguments = ["dim:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

// expected-error @below {{'simt.kernel' op argument "scalar:x" cannot be 'i32'}}
simt.kernel @scalar_type ["x"] threads = 64 grid = "1" arguments = ["scalar:x"] alignments = {} header = [] {
^bb0(%x: i32):
}

// -----

simt.kernel @no_tile [] threads = 64 grid = "1" arguments = [] alignments = {} header = [] {
  %rows = arith.constant 1 : i64
  // expected-error @below {{'simt.for_tiles' op has as arguments the tile at its position and the carried values}}
  simt.for_tiles %rows {
  }
}

// -----

!cursor = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>
simt.kernel @carries_nothing ["x"] threads = 32 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  %first = simt.first_tile %rows : !cursor
  %initial = simt.load elements %x at %first : !simt.pointer<f32>, !cursor -> vector<4xf32>
  // expected-error @below {{'simt.for_tiles' op carries on, by its last op, other values than it began with}}
  simt.for_tiles %rows carrying %initial : vector<4xf32> {
  ^bb0(%at: !cursor, %held: vector<4xf32>):
  }
}

// -----

!cursor = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>
simt.kernel @carries_from_its_only_tile ["x"] threads = 32 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  %first = simt.first_tile %rows : !cursor
  %initial = simt.load elements %x at %first : !simt.pointer<f32>, !cursor -> vector<4xf32>
  // expected-error @below {{'simt.for_tiles' op carries nothing on where each block has one tile}}
  simt.for_tiles only %rows carrying %initial : vector<4xf32> {
  ^bb0(%at: !cursor, %held: vector<4xf32>):
    simt.carry %held : vector<4xf32>
  }
}

// -----

!cursor = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>
simt.kernel @products ["x"] threads = 32 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    %f = simt.load elements %x at %at : !simt.pointer<f32>, !cursor -> vector<4xf32>
    // expected-error @below {{'simt.reduce' op products are summed, of a row's elements and a column vector}}
    %s = simt.reduce max %f times %f : vector<4xf32> at %at : vector<4xf32>, !cursor -> f32
  }
}

// -----

!cursor = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>
simt.kernel @factor ["x"] threads = 32 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  %s = arith.constant 2.0 : f32
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    %f = simt.load elements %x at %at : !simt.pointer<f32>, !cursor -> vector<4xf32>
    // expected-error @below {{'simt.reduce' op one float multiplies what a maximum along the row is of, bf16 or f16}}
    %m = simt.reduce max %f times %s : f32 at %at : vector<4xf32>, !cursor -> f32
  }
}

// -----

!cursor = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>
simt.kernel @smallest ["x"] threads = 32 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<bf16>):
  %rows = arith.constant 1 : i64
  %s = arith.constant 2.0 : f32
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    %f = simt.load elements %x at %at : !simt.pointer<bf16>, !cursor -> vector<4xbf16>
    // expected-error @below {{'simt.reduce' op one float multiplies what a maximum along the row is of, bf16 or f16}}
    %m = simt.reduce min %f times %s : f32 at %at : vector<4xbf16>, !cursor -> f32
  }
}

// -----

!cursor = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>
simt.kernel @scaled_products_of_groups ["x", "s"] threads = 32 grid = "1" arguments = ["tensor:x", "tensor:s"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %s: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    %f = simt.load elements %x at %at : !simt.pointer<f32>, !cursor -> vector<4xf32>
    %g = simt.load groups %s at %at {group = 4 : i64} : !simt.pointer<f32>, !cursor -> vector<1xf32>
    // expected-error @below {{'simt.reduce' op a group's products have no scales, nor do tensor cores multiply them}}
    %d = simt.reduce sum %f times %f : vector<4xf32> by %g : vector<1xf32> at %at {group = 4 : i64} : vector<4xf32>, !cursor -> vector<1xf32>
  }
}

// -----

!cursor = !simt.cursor<<rows, threads = 32, vector = 4, rows = 2, columns = 128, loads = 2, width = 128>>
simt.kernel @scaled_products ["w", "x", "s"] threads = 32 grid = "1" arguments = ["tensor:w", "tensor:x", "tensor:s"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f32>, %x: !simt.pointer<f32>, %s: !simt.pointer<f32>):
  %rows = arith.constant 2 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    %f = simt.load elements %w at %at : !simt.pointer<f32>, !cursor -> vector<8xf32>
    %c = simt.load columns %x at %at : !simt.pointer<f32>, !cursor -> vector<4xf32>
    %g = simt.load groups %s at %at {group = 4 : i64} : !simt.pointer<f32>, !cursor -> vector<2xf32>
    %d = simt.reduce sum %f times %c : vector<4xf32> by %g : vector<2xf32> at %at : vector<8xf32>, !cursor -> vector<2xf32>
    // expected-error @below {{'simt.reduce' op of several rows a thread only products are summed, over whole rows}}
    %e = simt.reduce sum %f by %g : vector<2xf32> at %at : vector<8xf32>, !cursor -> vector<2xf32>
  }
}

// -----

!cursor = !simt.cursor<<rows, threads = 32, vector = 4, rows = 2, columns = 128, loads = 2, width = 128>>
simt.kernel @products_of_groups ["w", "x"] threads = 32 grid = "1" arguments = ["tensor:w", "tensor:x"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f32>, %x: !simt.pointer<f32>):
  %rows = arith.constant 2 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    %f = simt.load elements %w at %at : !simt.pointer<f32>, !cursor -> vector<8xf32>
    %c = simt.load columns %x at %at : !simt.pointer<f32>, !cursor -> vector<4xf32>
    // expected-error @below {{'simt.reduce' op of several rows a thread only products are summed, over whole rows}}
    %h = simt.reduce sum %f times %c : vector<4xf32> at %at {group = 4 : i64} : vector<8xf32>, !cursor -> vector<2xf32>
  }
}

// -----

!cursor = !simt.cursor<<block, threads = 32, vector = 4, rows = 8, columns = 16, loads = 1, width = 16>>
simt.kernel @ends_of_no_groups ["e"] threads = 32 grid = "1" arguments = ["tensor:e"] alignments = {} header = [] {
^bb0(%e: !simt.pointer<i32>):
  %rows = arith.constant 1 : i64
  // expected-error @below {{'simt.for_tiles' op goes by groups of rows where its tile does, with their ends or none, and no other way then}}
  simt.for_tiles %rows groups %e : !simt.pointer<i32> {
  ^bb0(%at: !cursor):
  }
}

// -----

!cursor = !simt.cursor<<block, threads = 32, vector = 4, rows = 8, columns = 16, loads = 1, width = 16>>
simt.kernel @codes_that_are_none ["w", "s", "x"] threads = 32 grid = "1" arguments = ["tensor:w", "tensor:s", "tensor:x"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %s: !simt.pointer<f32>, %x: !simt.pointer<bf16>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !cursor):
    // expected-error @below {{'simt.contract' op multiplies codes as they are where both are such, and by instruction}}
    %y = simt.contract %x, %w by %s at %at {length = 64, block_rows = 1, block_columns = 64, meets_codes, split = 1, loads = 1, ahead = 2, vectors_alignment = 2, weights_alignment = 1, codec = #eider<codec hardware>} : !simt.pointer<bf16>, !simt.pointer<f8E4M3FN>, !simt.pointer<f32>, !cursor -> vector<4xf32>
  }
}

// -----

!cursor = !simt.cursor<<block, threads = 32, vector = 4, rows = 8, columns = 16, loads = 1, width = 16, row_groups = 2>>
simt.kernel @groups_of_strided_weights ["w", "s", "x", "e"] threads = 32 grid = "1" arguments = ["tensor:w", "tensor:s", "tensor:x", "tensor:e"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %s: !simt.pointer<f32>, %x: !simt.pointer<bf16>, %e: !simt.pointer<i32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows groups %e : !simt.pointer<i32> {
  ^bb0(%at: !cursor):
    // expected-error @below {{'simt.contract' op has weights and scales apart where rows are in groups and have pitches}}
    %y = simt.contract %x, %w by %s at %at pitches %rows, %rows, %rows {length = 64, block_rows = 1, block_columns = 64, split = 1, loads = 1, ahead = 2, vectors_alignment = 2, weights_alignment = 1, codec = #eider<codec software>} : !simt.pointer<bf16>, !simt.pointer<f8E4M3FN>, !simt.pointer<f32>, !cursor -> vector<4xf32>
  }
}

// -----

simt.kernel @queries_that_are_no_codes ["q", "k", "v", "o", "s"] threads = 32 grid = "1" arguments = ["tensor:q", "tensor:k", "tensor:v", "tensor:o", "dim:s"] alignments = {} header = [] {
^bb0(%q: !simt.pointer<bf16>, %k: !simt.pointer<f8E4M3FN>, %v: !simt.pointer<f8E4M3FN>, %o: !simt.pointer<bf16>, %s: i64):
  // expected-error @below {{'simt.attend_rows' op has queries that are codes, and the hardware codec, where they meet keys as codes by warps}}
  simt.attend_rows %q, %k, %v of %s to %o {alignment = 16 : i64, codec = #eider<codec hardware>, head_dim = 64 : i64, value_dim = 64 : i64, meets_codes, heads = 4 : i64, keys_at_once = 16 : i64, kv_heads = 2 : i64, rows = 16 : i64, scales_of_each = 0 : i64, split = 1 : i64, warps = 1 : i64} : <bf16>, <f8E4M3FN>, <f8E4M3FN>, <bf16>
}

// -----

simt.kernel @codes_by_software ["q", "k", "v", "o", "s"] threads = 32 grid = "1" arguments = ["tensor:q", "tensor:k", "tensor:v", "tensor:o", "dim:s"] alignments = {} header = [] {
^bb0(%q: !simt.pointer<f8E4M3FN>, %k: !simt.pointer<f8E4M3FN>, %v: !simt.pointer<f8E4M3FN>, %o: !simt.pointer<bf16>, %s: i64):
  // expected-error @below {{'simt.attend_rows' op has queries that are codes, and the hardware codec, where they meet keys as codes by warps}}
  simt.attend_rows %q, %k, %v of %s to %o {alignment = 16 : i64, codec = #eider<codec software>, head_dim = 64 : i64, value_dim = 64 : i64, meets_codes, heads = 4 : i64, keys_at_once = 16 : i64, kv_heads = 2 : i64, rows = 16 : i64, scales_of_each = 0 : i64, split = 1 : i64, warps = 1 : i64} : <f8E4M3FN>, <f8E4M3FN>, <f8E4M3FN>, <bf16>
}

// -----

simt.kernel @more_columns_than_keys ["q", "k", "v", "o", "s"] threads = 32 grid = "1" arguments = ["tensor:q", "tensor:k", "tensor:v", "tensor:o", "dim:s"] alignments = {} header = [] {
^bb0(%q: !simt.pointer<f8E4M3FN>, %k: !simt.pointer<f8E4M3FN>, %v: !simt.pointer<f8E4M3FN>, %o: !simt.pointer<bf16>, %s: i64):
  // expected-error @below {{'simt.attend_rows' op has columns of keys and of values, which are the keys' or others}}
  simt.attend_rows %q, %k, %k of %s to %o {alignment = 16 : i64, codec = #eider<codec hardware>, head_dim = 64 : i64, value_dim = 96 : i64, heads = 4 : i64, keys_at_once = 16 : i64, kv_heads = 2 : i64, rows = 16 : i64, scales_of_each = 0 : i64, split = 1 : i64, warps = 1 : i64} : <f8E4M3FN>, <f8E4M3FN>, <f8E4M3FN>, <bf16>
}

// -----

simt.kernel @some_columns_by_warpgroups ["q", "k", "v", "o", "s"] threads = 32 grid = "1" arguments = ["tensor:q", "tensor:k", "tensor:v", "tensor:o", "dim:s"] alignments = {} header = [] {
^bb0(%q: !simt.pointer<f8E4M3FN>, %k: !simt.pointer<f8E4M3FN>, %v: !simt.pointer<f8E4M3FN>, %o: !simt.pointer<bf16>, %s: i64):
  // expected-error @below {{'simt.attend_rows' op has values of their own, or all columns of keys, by warpgroups}}
  simt.attend_rows %q, %k, %k of %s to %o {alignment = 16 : i64, codec = #eider<codec hardware>, head_dim = 64 : i64, value_dim = 32 : i64, warpgroups, heads = 4 : i64, keys_at_once = 16 : i64, kv_heads = 2 : i64, rows = 16 : i64, scales_of_each = 0 : i64, split = 1 : i64, warps = 1 : i64} : <f8E4M3FN>, <f8E4M3FN>, <f8E4M3FN>, <bf16>
}

// -----

simt.kernel @pages_without_a_table ["q", "k", "v", "l", "o", "b"] threads = 32 grid = "1" arguments = ["tensor:q", "tensor:k", "tensor:v", "tensor:l", "tensor:o", "dim:b"] alignments = {} header = [] {
^bb0(%q: !simt.pointer<bf16>, %k: !simt.pointer<f8E4M3FN>, %v: !simt.pointer<f8E4M3FN>, %l: !simt.pointer<i32>, %o: !simt.pointer<f32>, %b: i64):
  // expected-error @below {{'simt.attend' op has a table where its tokens are in pages}}
  simt.attend %q, %k, %v lengths %l of %b to %o {alignment = 16 : i64, heads = 4 : i64, kv_heads = 2 : i64, tiles = 1 : i64, head_dim = 64 : i64, value_dim = 64 : i64, places = 8 : i64, page = 16 : i64, scales = 0 : i64, scale_axes = 0 : i64, window = 0 : i64, warps = 1 : i64, split = 1 : i64, ahead = 2 : i64, codec = #eider<codec software>} : <bf16>, <f8E4M3FN> values <f8E4M3FN> lengths <i32>, <f32>
}

// -----

simt.kernel @sequences_without_pitches ["q", "k", "v", "l", "o", "b"] threads = 32 grid = "1" arguments = ["tensor:q", "tensor:k", "tensor:v", "tensor:l", "tensor:o", "dim:b"] alignments = {} header = [] {
^bb0(%q: !simt.pointer<bf16>, %k: !simt.pointer<f8E4M3FN>, %v: !simt.pointer<f8E4M3FN>, %l: !simt.pointer<i32>, %o: !simt.pointer<f32>, %b: i64):
  // expected-error @below {{'simt.attend' op has the pitches of queries, keys, values and scales, or none of pages without gaps}}
  simt.attend %q, %k, %v lengths %l of %b to %o {alignment = 16 : i64, heads = 4 : i64, kv_heads = 2 : i64, tiles = 1 : i64, head_dim = 64 : i64, value_dim = 64 : i64, places = 8 : i64, page = 0 : i64, scales = 0 : i64, scale_axes = 0 : i64, window = 0 : i64, warps = 1 : i64, split = 1 : i64, ahead = 2 : i64, codec = #eider<codec software>} : <bf16>, <f8E4M3FN> values <f8E4M3FN> lengths <i32>, <f32>
}
