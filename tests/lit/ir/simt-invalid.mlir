// What tiles and accesses refuse.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a tile's numbers are at least 1}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 0, vector = 1, rows = 1, columns = 1, loads = 1, width = 1>} {}

// -----

// expected-error @+1 {{a tile's numbers are at least 1}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 1, vector = 1, rows = 1, columns = 1, loads = 1, width = 0>} {}

// -----

// expected-error @+1 {{a block has at most 1024 threads, not 2048}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 1, rows = 64, columns = 32, loads = 1, width = 32>} {}

// -----

// expected-error @+1 {{a block has at most 1024 threads, not 1056}}
eider.program @p() attributes {test.a = #simt.tile<block, threads = 1056, vector = 1, rows = 1, columns = 1056, loads = 1, width = 32>} {}

// -----

// expected-error @+1 {{vector is a power of two up to 64, not 12}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 12, rows = 1, columns = 32, loads = 1, width = 32>} {}

// -----

// expected-error @+1 {{vector is a power of two up to 64, not 128}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 128, rows = 1, columns = 32, loads = 1, width = 32>} {}

// -----

// expected-error @+1 {{threads is a power of two below 32 or a multiple of 32, not 48}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 48, vector = 1, rows = 1, columns = 32, loads = 1, width = 32>} {}

// -----

// expected-error @+1 {{threads is a power of two below 32 or a multiple of 32, not 12}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 12, vector = 1, rows = 1, columns = 12, loads = 1, width = 12>} {}

// -----

// expected-error @+1 {{32 threads × 8 × 3 loads do not cover 769 columns}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 8, rows = 1, columns = 769, loads = 3, width = 769>} {}

// -----

// expected-error @+1 {{64 threads × 16 × 4 loads are not 64 × 128}}
eider.program @p() attributes {test.a = #simt.tile<block, threads = 64, vector = 16, rows = 64, columns = 128, loads = 4, width = 128>} {}

// -----

// expected-error @+1 {{vector 16 does not divide 8 columns}}
eider.program @p() attributes {test.a = #simt.tile<block, threads = 32, vector = 16, rows = 64, columns = 8, loads = 1, width = 8>} {}

// -----

simt.kernel @p ["x"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<bf16>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.load' op holds 'vector<8xf32>' of memory of 'bf16'}}
    %a = simt.load elements %x at %at : <bf16>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<8xf32>
  }
}

// -----

simt.kernel @p ["x"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.load' op a thread holds 8 values of access 'elements' under #simt.tile<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>, not 'vector<4xf32>'}}
    %a = simt.load elements %x at %at : <f32>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<4xf32>
  }
}

// -----

simt.kernel @p ["x"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.load' op access groups needs group}}
    %a = simt.load groups %x at %at : <f32>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<1xf32>
  }
}

// -----

simt.kernel @p ["x"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.load' op a thread holds 2 values of access 'groups'}}
    %a = simt.load groups %x at %at {group = 4 : i64} : <f32>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<1xf32>
  }
}

// -----

simt.kernel @p ["x"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.load' op a thread holds 0 values of access 'rows'}}
    %a = simt.load rows %x at %at : <f32>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<1xf32>
  }
}

// -----

simt.kernel @p ["x"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<block, threads = 64, vector = 8, rows = 16, columns = 64, loads = 2, width = 512>>):
    // expected-error @below {{'simt.load' op a thread holds 2 values of access 'rows'}}
    %a = simt.load rows %x at %at : <f32>, <<block, threads = 64, vector = 8, rows = 16, columns = 64, loads = 2, width = 512>> -> f32
  }
}

// -----

simt.kernel @p ["y", "e"] threads = 64 grid = "1" arguments = ["tensor:y", "scalar:e"] alignments = {} header = [] {
^bb0(%y: !simt.pointer<f32>, %e: f32):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.store' op a thread holds 8 values of access 'elements'}}
    simt.store elements %e to %y at %at : f32, <f32>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  }
}

// -----

simt.kernel @p ["y", "e"] threads = 64 grid = "1" arguments = ["tensor:y", "scalar:e"] alignments = {} header = [] {
^bb0(%y: !simt.pointer<f32>, %e: f32):
  %rows = arith.constant 1 : i64
  %stores = simt.bulk_stores
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.store' op in bulk is of elements of rows on 16 bytes, which whole warps hold}}
    simt.store rows %e to %y at %at in %stores : f32, <f32>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  }
}

// -----

simt.kernel @p ["y", "x"] threads = 64 grid = "1" arguments = ["tensor:y", "tensor:x"] alignments = {} header = [] {
^bb0(%y: !simt.pointer<f16>, %x: !simt.pointer<f16>):
  %rows = arith.constant 1 : i64
  %stores = simt.bulk_stores
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    %row = simt.load elements %x at %at : <f16>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<8xf16>
    // expected-error @below {{'simt.store' op for products is of 16-bit elements of rows of a multiple of 128, not in bulk}}
    simt.store elements %row to %y at %at in %stores {for_products = 64 : i64} : vector<8xf16>, <f16>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  }
}

// -----

simt.kernel @p ["y", "e"] threads = 64 grid = "1" arguments = ["tensor:y", "scalar:e"] alignments = {} header = [] {
^bb0(%y: !simt.pointer<bf16>, %e: f32):
  %rows = arith.constant 1 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    // expected-error @below {{'simt.store' op holds 'f32' of memory of 'bf16'}}
    simt.store rows %e to %y at %at : f32, <bf16>, <<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  }
}

// -----

// expected-error @+1 {{a cluster is 1, 2, 4 or 8 blocks, not 0}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 1, rows = 1, columns = 32, loads = 1, width = 32, cluster = 0>} {}

// -----

// expected-error @+1 {{a cluster is 1, 2, 4 or 8 blocks, not 3}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 1, rows = 1, columns = 96, loads = 1, width = 96, cluster = 3>} {}

// -----

// expected-error @+1 {{a cluster is 1, 2, 4 or 8 blocks, not 16}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 1, rows = 1, columns = 512, loads = 1, width = 512, cluster = 16>} {}

// -----

// expected-error @+1 {{a cluster holds one row, in whole warps of each of its blocks}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 1, rows = 2, columns = 64, loads = 1, width = 64, cluster = 2>} {}

// -----

// expected-error @+1 {{a cluster holds one row, in whole warps of each of its blocks}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 16, vector = 1, rows = 1, columns = 32, loads = 1, width = 32, cluster = 2>} {}

// -----

// expected-error @+1 {{the blocks of a cluster are whole warps}}
eider.program @p() attributes {test.a = #simt.tile<block, threads = 16, vector = 2, rows = 1, columns = 32, loads = 1, width = 32, cluster = 2>} {}

// -----

// expected-error @+1 {{128 threads × 1 × 1 loads do not cover 129 columns}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 1, rows = 1, columns = 129, loads = 1, width = 129, cluster = 4>} {}

// -----

%rows = arith.constant 8 : i64
// expected-error @+1 {{has columns that are known, and others at the launch; give one of them}}
%layout = simt.scale_layout<mn_major_aligned> columns = 2 of %rows by %rows

// -----

// expected-error @+1 {{says not how many of its blocks, which run at once, a multiprocessor holds}}
simt.kernel @k ["state", "m"] threads = 32 cooperative grid = "m" arguments = ["workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%state: !simt.pointer<i64>, %m: i64):
}

// -----

// expected-error @+1 {{whose blocks stay is not cooperative, has no clusters, and says how many a multiprocessor holds}}
simt.kernel @k ["s", "m"] threads = 32 stays grid = "m" arguments = ["tensor:s", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %m: i64):
}

// -----

simt.kernel @k ["w", "m"] threads = 32 resident = 1 stays grid = "m" arguments = ["tensor:w", "dim:m"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %m: i64):
  // expected-error @+1 {{come two by two, to tiles of several rows}}
  %rows = simt.rows_ahead %w of %m ahead = 2 under !simt.cursor<<rows, threads = 32, vector = 16, rows = 3, columns = 512, loads = 3, width = 512>> : <f8E4M3FN>
}

// -----

simt.kernel @k ["w", "m"] threads = 32 resident = 1 stays grid = "m" arguments = ["tensor:w", "dim:m"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<bf16>, %m: i64):
  // expected-error @+1 {{are codes, in chunks of 16 bytes}}
  %rows = simt.rows_ahead %w of %m ahead = 2 under !simt.cursor<<rows, threads = 32, vector = 8, rows = 2, columns = 256, loads = 2, width = 256>> : <bf16>
}

// -----

simt.kernel @k ["w", "s", "m"] threads = 32 resident = 1 stays grid = "m" arguments = ["tensor:w", "tensor:s", "dim:m"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %s: !simt.pointer<f32>, %m: i64):
  // expected-error @+1 {{have a pair or more on its way, and scales of groups or none}}
  %rows = simt.rows_ahead %w of %m ahead = 2 under !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> by %s : !simt.pointer<f32> : <f8E4M3FN>
}

// -----

simt.kernel @k ["w", "x", "m"] threads = 32 resident = 1 stays grid = "m" arguments = ["tensor:w", "tensor:x", "dim:m"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %x: !simt.pointer<f32>, %m: i64):
  %rows = simt.rows_ahead %w of %m ahead = 2 under !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> : <f8E4M3FN>
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>>):
    %v = simt.load columns %x at %at : <f32>, <<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> -> vector<16xf32>
    // expected-error @+1 {{multiplies a column vector of bf16 or f16}}
    %sum = simt.sum_ahead %rows times %v at %at {codec = #eider<codec software>} : vector<16xf32>, <<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> -> vector<2xf32>
  }
}

// -----

simt.kernel @k ["w", "x", "m"] threads = 32 resident = 1 stays grid = "m" arguments = ["tensor:w", "tensor:x", "dim:m"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %x: !simt.pointer<bf16>, %m: i64):
  %rows = simt.rows_ahead %w of %m ahead = 2 under !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> : <f8E4M3FN>
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<rows, threads = 32, vector = 16, rows = 4, columns = 512, loads = 4, width = 512>>):
    %v = simt.load columns %x at %at : <bf16>, <<rows, threads = 32, vector = 16, rows = 4, columns = 512, loads = 4, width = 512>> -> vector<16xbf16>
    // expected-error @+1 {{is of rows that come to such tiles}}
    %sum = simt.sum_ahead %rows times %v at %at {codec = #eider<codec software>} : vector<16xbf16>, <<rows, threads = 32, vector = 16, rows = 4, columns = 512, loads = 4, width = 512>> -> vector<4xf32>
  }
}

// -----

// expected-error @+1 {{all of whose blocks meet has no clusters of them}}
simt.kernel @k ["state", "m"] threads = 32 resident = 1 cluster = 2 cooperative grid = "m" arguments = ["workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%state: !simt.pointer<i64>, %m: i64):
}

// -----

simt.kernel @k ["s", "state", "m"] threads = 32 resident = 1 cooperative grid = "m" arguments = ["tensor:s", "workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %state: !simt.pointer<i64>, %m: i64):
  %grid = simt.grid_barrier %state : !simt.pointer<i64>
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %a = simt.load elements %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // expected-error @+1 {{under each block's only tile: elsewhere blocks meet different times}}
    %amax = simt.reduce_grid amax %a in %grid at %at : vector<8xf32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// -----

simt.kernel @k ["s", "state", "m"] threads = 32 resident = 1 grid = "m" arguments = ["tensor:s", "workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %state: !simt.pointer<i64>, %m: i64):
  %grid = simt.grid_barrier %state : !simt.pointer<i64>
  simt.for_tiles only %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %a = simt.load elements %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // expected-error @+1 {{in a kernel that is not cooperative, whose blocks may wait for blocks that have not begun}}
    %amax = simt.reduce_grid amax %a in %grid at %at : vector<8xf32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// -----

simt.kernel @k ["s", "state", "m"] threads = 32 resident = 1 cooperative grid = "m" arguments = ["tensor:s", "workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %state: !simt.pointer<i64>, %m: i64):
  %grid = simt.grid_barrier %state : !simt.pointer<i64>
  simt.for_tiles only %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %a = simt.load elements %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // expected-error @+1 {{combines maxima and minima, which have no order}}
    %amax = simt.reduce_grid sum %a in %grid at %at : vector<8xf32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// -----

// expected-error @+1 {{rows in groups are of two-dimensional blocks, of rows one by one}}
eider.program @p() attributes {test.a = #simt.tile<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128, row_groups = 2>} {}

// -----

simt.kernel @k ["x", "w", "m"] threads = 32 grid = "m" arguments = ["tensor:x", "tensor:w", "dim:m"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %w: !simt.pointer<f8E4M3FN>, %m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %codes = simt.load elements %w at %at : !simt.pointer<f8E4M3FN>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf8E4M3FN>
    %a = simt.load columns %x at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // expected-error @+1 {{tensor cores multiply codes and bf16 or f16}}
    %sum = simt.reduce sum %codes times %a : vector<8xf32> at %at {codec = #eider<codec software>} : vector<8xf8E4M3FN>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
  }
}

// -----

simt.kernel @k ["x", "w", "m"] threads = 16 grid = "m" arguments = ["tensor:x", "tensor:w", "dim:m"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<bf16>, %w: !simt.pointer<f8E4M3FN>, %m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 16, vector = 8, rows = 1, columns = 128, loads = 1, width = 128>>):
    %codes = simt.load elements %w at %at : !simt.pointer<f8E4M3FN>, !simt.cursor<<row, threads = 16, vector = 8, rows = 1, columns = 128, loads = 1, width = 128>> -> vector<8xf8E4M3FN>
    %a = simt.load columns %x at %at : !simt.pointer<bf16>, !simt.cursor<<row, threads = 16, vector = 8, rows = 1, columns = 128, loads = 1, width = 128>> -> vector<8xbf16>
    // expected-error @+1 {{tensor cores multiply four neighbours, whole words, of whole warps}}
    %sum = simt.reduce sum %codes times %a : vector<8xbf16> at %at {codec = #eider<codec software>} : vector<8xf8E4M3FN>, !simt.cursor<<row, threads = 16, vector = 8, rows = 1, columns = 128, loads = 1, width = 128>> -> f32
  }
}

// -----

simt.kernel @k ["x", "m"] threads = 32 grid = "m" arguments = ["tensor:x", "dim:m"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<bf16>, %m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %a = simt.load columns %x at %at : !simt.pointer<bf16>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xbf16>
    %f = arith.extf %a : vector<8xbf16> to vector<8xf32>
    // expected-error @+1 {{is of f32, or the largest magnitude of bf16 or f16}}
    %r = simt.reduce_columns sum %a at %at : vector<8xbf16>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// -----

simt.kernel @k ["x", "m"] threads = 32 grid = "m" arguments = ["tensor:x", "dim:m"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<bf16>, %m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %a = simt.load columns %x at %at : !simt.pointer<bf16>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xbf16>
    %f = arith.extf %a : vector<8xbf16> to vector<8xf32>
    // expected-error @+1 {{products are summed, of two column vectors}}
    %r = simt.reduce_columns max %f times %f : vector<8xf32> at %at : vector<8xf32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// -----

simt.kernel @k ["m"] threads = 32 grid = "m" arguments = ["dim:m"] alignments = {} header = [] {
^bb0(%m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %f = arith.constant dense<1.0> : vector<4xf32>
    // expected-error @+1 {{is of a column vector, under tiles that span the row}}
    %r = simt.reduce_columns max %f at %at : vector<4xf32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// -----

simt.kernel @k ["m"] threads = 32 grid = "m" arguments = ["dim:m"] alignments = {} header = [] {
^bb0(%m: i64):
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %f = arith.constant dense<1.0> : vector<4xf32>
    // expected-error @+1 {{is of a column vector, under tiles that span the row}}
    %r = simt.inside_columns %f at %at : vector<4xf32>, !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}
