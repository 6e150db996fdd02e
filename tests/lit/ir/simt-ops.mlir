// Every op, attribute and type of the simt dialect, in its own syntax and in the generic one.
//
// RUN: eider-opt %s > %t.once
// RUN: eider-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice
// RUN: eider-opt %s --mlir-print-op-generic | eider-opt > %t.generic
// RUN: diff %t.once %t.generic
// RUN: FileCheck %s < %t.once

// CHECK: simt.kernel @row ["x", "s", "w", "scales", "y", "eps", "stride", "tokens"] threads = 64 grid = "min(tokens, 2147483647)" arguments = ["tensor:x", "tensor:s", "tensor:w", "tensor:scales", "tensor:y", "scalar:eps", "stride:x:0", "dim:tokens"] alignments = {x = 16 : i64} header = ["row: one line", "another"] {
simt.kernel @row ["x", "s", "w", "scales", "y", "eps", "stride", "tokens"] threads = 64 grid = "min(tokens, 2147483647)" arguments = ["tensor:x", "tensor:s", "tensor:w", "tensor:scales", "tensor:y", "scalar:eps", "stride:x:0", "dim:tokens"] alignments = {x = 16 : i64} header = ["row: one line", "another"] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !simt.pointer<bf16>, %[[S:.*]]: !simt.pointer<f32>, %[[W:.*]]: !simt.pointer<bf16>, %[[SCALES:.*]]: !simt.pointer<f32>, %[[Y:.*]]: !simt.pointer<f8E4M3FN>, %[[EPS:.*]]: f32, %[[STRIDE:.*]]: i64, %[[TOKENS:.*]]: i64):
^bb0(%x: !simt.pointer<bf16>, %s: !simt.pointer<f32>, %w: !simt.pointer<bf16>, %scales: !simt.pointer<f32>, %y: !simt.pointer<f8E4M3FN>, %eps: f32, %stride: i64, %tokens: i64):
  // CHECK: simt.for_tiles %[[TOKENS]] {
  simt.for_tiles %tokens {
  // CHECK-NEXT: ^bb0(%[[AT:.*]]: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>):
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>):
    // CHECK: %[[A:.*]] = simt.load elements %[[X]] at %[[AT]] pitch %[[STRIDE]] : i64 {alignment = 2 : i64} : <bf16>, <{{.*}}> -> vector<16xbf16>
    %a = simt.load elements %x at %at pitch %stride : i64 {alignment = 2 : i64} : !simt.pointer<bf16>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> vector<16xbf16>
    // CHECK: %[[FURTHER:.*]] = simt.offset %[[X]], 1024 : <bf16>
    %further = simt.offset %x, 1024 : !simt.pointer<bf16>
    // CHECK: simt.load elements %[[FURTHER]] at %[[AT]] : <bf16>, {{.*}} -> vector<16xbf16>
    %b = simt.load elements %further at %at : !simt.pointer<bf16>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> vector<16xbf16>
    // CHECK: simt.load columns %[[W]] at %[[AT]] : {{.*}} -> vector<16xbf16>
    %c = simt.load columns %w at %at : !simt.pointer<bf16>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> vector<16xbf16>
    // CHECK: simt.load groups %[[S]] at %[[AT]] {group = 128 : i64, group_rows = 128 : i64} : {{.*}} -> vector<2xf32>
    %g = simt.load groups %s at %at {group = 128 : i64, group_rows = 128 : i64} : !simt.pointer<f32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> vector<2xf32>
    // CHECK: simt.load rows %[[S]] at %[[AT]] : {{.*}} -> f32
    %r = simt.load rows %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> f32
    // CHECK: simt.load uniform %[[S]] at %[[AT]] : {{.*}} -> f32
    %u = simt.load uniform %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> f32
    // CHECK: %[[F:.*]] = arith.extf %[[A]] : vector<16xbf16> to vector<16xf32>
    %f = arith.extf %a : vector<16xbf16> to vector<16xf32>
    // CHECK: simt.reduce sum %[[F]] at %[[AT]] : vector<16xf32>, {{.*}} -> f32
    %sum = simt.reduce sum %f at %at : vector<16xf32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> f32
    // CHECK: simt.reduce_columns amax %{{.*}} at %[[AT]] : vector<16xbf16>, 
    %of_columns = simt.reduce_columns amax %c at %at : vector<16xbf16>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>
    // CHECK: simt.reduce_columns sum %[[F]] times %[[F]] : vector<16xf32> at %[[AT]] : vector<16xf32>, {{.*}}
    %of_products = simt.reduce_columns sum %f times %f : vector<16xf32> at %at : vector<16xf32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>
    // CHECK: simt.inside_columns %{{.*}} at %[[AT]] : vector<16xbf16>
    %inside = simt.inside_columns %c at %at : vector<16xbf16>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>
    // CHECK: %[[AMAX:.*]] = simt.reduce amax_number %[[A]] at %[[AT]] {group = 128 : i64} : vector<16xbf16>, {{.*}} -> vector<2xf32>
    %amax = simt.reduce amax_number %a at %at {group = 128 : i64} : vector<16xbf16>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>> -> vector<2xf32>
    // CHECK: %[[WIDE:.*]] = simt.spread %[[AMAX]] : vector<2xf32> to vector<16xf32>
    %wide = simt.spread %amax : vector<2xf32> to vector<16xf32>
    // CHECK: simt.spread %[[EPS]] : f32 to vector<16xf32>
    %wide_eps = simt.spread %eps : f32 to vector<16xf32>
    // CHECK: simt.sigmoid %[[F]] : vector<16xf32>
    %sigmoid = simt.sigmoid %f : vector<16xf32>
    // CHECK: simt.power_of_two below %[[F]] : vector<16xf32>
    %power = simt.power_of_two below %f : vector<16xf32>
    // CHECK: %[[CODES:.*]] = simt.encode %[[A]] by %[[WIDE]] : vector<16xf32> codec hardware : vector<16xbf16> -> vector<16xf8E4M3FN>
    %codes = simt.encode %a by %wide : vector<16xf32> codec hardware : vector<16xbf16> -> vector<16xf8E4M3FN>
    // CHECK: simt.encode %[[F]] codec software {ignore_nan, overflow_to_format} : vector<16xf32> -> vector<16xf8E4M3FN>
    %others = simt.encode %f codec software {ignore_nan, overflow_to_format} : vector<16xf32> -> vector<16xf8E4M3FN>
    // CHECK: simt.decode %[[CODES]] codec software : vector<16xf8E4M3FN> -> vector<16xf32>
    %values = simt.decode %codes codec software : vector<16xf8E4M3FN> -> vector<16xf32>
    // CHECK: simt.store elements %[[CODES]] to %[[Y]] at %[[AT]] pitch %[[STRIDE]] : i64 {alignment = 1 : i64} : vector<16xf8E4M3FN>, <f8E4M3FN>, <
    simt.store elements %codes to %y at %at pitch %stride : i64 {alignment = 1 : i64} : vector<16xf8E4M3FN>, !simt.pointer<f8E4M3FN>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>
    // CHECK: simt.store groups %[[AMAX]] to %[[SCALES]] at %[[AT]] {group = 128 : i64} : vector<2xf32>
    simt.store groups %amax to %scales at %at {group = 128 : i64} : vector<2xf32>, !simt.pointer<f32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 1024, loads = 2, width = 1024>>
  }
}

// CHECK: simt.kernel @block ["x", "scale", "left"] threads = 256 grid = "1" arguments = ["tensor:x", "tensor:scale", "workspace:left"] alignments = {} header = [] {
simt.kernel @block ["x", "scale", "left"] threads = 256 grid = "1" arguments = ["tensor:x", "tensor:scale", "workspace:left"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f16>, %scale: !simt.pointer<f32>, %left: !simt.pointer<f32>):
  %rows = arith.constant 128 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>>):
    // CHECK: simt.load elements %{{.*}} at %{{.*}} : <f16>, <<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> vector<64xf16>
    %a = simt.load elements %x at %at : !simt.pointer<f16>, !simt.cursor<<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> vector<64xf16>
    // CHECK: simt.load rows %{{.*}} at %{{.*}} : {{.*}} -> vector<4xf32>
    %r = simt.load rows %left at %at : !simt.pointer<f32>, !simt.cursor<<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> vector<4xf32>
    // CHECK: simt.reduce amax %{{.*}} at %{{.*}} : vector<64xf16>, {{.*}} -> f32
    %amax = simt.reduce amax %a at %at : vector<64xf16>, !simt.cursor<<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>> -> f32
    // CHECK: simt.store block %{{.*}} to %{{.*}} at %{{.*}} : f32
    simt.store block %amax to %scale at %at : f32, !simt.pointer<f32>, !simt.cursor<<block, threads = 256, vector = 16, rows = 128, columns = 128, loads = 4, width = 300>>
  }
}

// All blocks at once, each with one tile.
// CHECK: simt.kernel @cooperative ["s", "state", "m"] threads = 64 resident = 2 cooperative grid = "m"
simt.kernel @cooperative ["s", "state", "m"] threads = 64 resident = 2 cooperative grid = "m" arguments = ["tensor:s", "workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %state: !simt.pointer<i64>, %m: i64):
  // CHECK: %[[GRID:.*]] = simt.grid_barrier %{{.*}} : <i64>
  %grid = simt.grid_barrier %state : !simt.pointer<i64>
  // CHECK: simt.for_tiles only %{{.*}} {
  simt.for_tiles only %m {
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>):
    %a = simt.load elements %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>> -> vector<8xf32>
    // CHECK: simt.reduce_grid amax %{{.*}} in %[[GRID]] at %{{.*}} : vector<8xf32>, <<row,
    %amax = simt.reduce_grid amax %a in %grid at %at : vector<8xf32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  }
}

// Blocks combine what they have seen into one value.
// CHECK: simt.kernel @given ["s", "amax", "m"]
simt.kernel @given ["s", "amax", "m"] threads = 64 grid = "m" arguments = ["tensor:s", "tensor:amax", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %amax: !simt.pointer<f32>, %m: i64):
  %first = simt.first_tile %m : !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  // CHECK: %[[SEEN:.*]] = simt.partial amax at
  %seen = simt.partial amax at %first : !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  // CHECK: simt.combine %[[SEEN]] into %{{.*}} : <f32>
  simt.combine %seen into %amax : !simt.pointer<f32>
}

// The last of them combines what all have left.
// CHECK: simt.kernel @last ["amax", "state", "m"]
simt.kernel @last ["amax", "state", "m"] threads = 64 grid = "m" arguments = ["tensor:amax", "workspace:grid_state", "dim:m"] alignments = {} header = [] {
^bb0(%amax: !simt.pointer<f32>, %state: !simt.pointer<i64>, %m: i64):
  %first = simt.first_tile %m : !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  // CHECK: simt.partial amax in %{{.*}} : !simt.pointer<i64> at
  %seen = simt.partial amax in %state : !simt.pointer<i64> at %first : !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 512, loads = 1, width = 512>>
  simt.combine %seen into %amax : !simt.pointer<f32>
}

// A row to four blocks: columns are those of all of them.
// CHECK: simt.kernel @cluster ["s", "m"] threads = 64 resident = 2 cluster = 4 grid = "m * 4"
simt.kernel @cluster ["s", "m"] threads = 64 resident = 2 cluster = 4 grid = "m * 4" arguments = ["tensor:s", "dim:m"] alignments = {} header = [] {
^bb0(%s: !simt.pointer<f32>, %m: i64):
  simt.for_tiles %m {
  // CHECK: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 4000, loads = 2, width = 4000, cluster = 4>>
  ^bb0(%at: !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 4000, loads = 2, width = 4000, cluster = 4>>):
    %a = simt.load elements %s at %at : !simt.pointer<f32>, !simt.cursor<<row, threads = 64, vector = 8, rows = 1, columns = 4000, loads = 2, width = 4000, cluster = 4>> -> vector<16xf32>
  }
}

// Rows of codes come two by two to blocks that stay.
// CHECK: simt.kernel @coming ["w", "s", "x", "m", "pitch"] threads = 32 resident = 2 stays grid = "m"
simt.kernel @coming ["w", "s", "x", "m", "pitch"] threads = 32 resident = 2 stays grid = "m" arguments = ["tensor:w", "tensor:s", "tensor:x", "dim:m", "stride:w:0"] alignments = {} header = [] {
^bb0(%w: !simt.pointer<f8E4M3FN>, %s: !simt.pointer<f32>, %x: !simt.pointer<bf16>, %m: i64, %pitch: i64):
  // CHECK: %[[ROWS:.*]] = simt.rows_ahead %{{.*}} of %{{.*}} ahead = 2 under !simt.cursor<<rows, {{.*}}>> by %{{.*}} : !simt.pointer<f32> pitch %{{.*}} scales_pitch %{{.*}} : i64 {group = 128 : i64} : <f8E4M3FN>
  %rows = simt.rows_ahead %w of %m ahead = 2 under !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> by %s : !simt.pointer<f32> pitch %pitch scales_pitch %pitch : i64 {group = 128 : i64} : !simt.pointer<f8E4M3FN>
  simt.for_tiles %m {
  ^bb0(%at: !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>>):
    %v = simt.load columns %x at %at : !simt.pointer<bf16>, !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> -> vector<16xbf16>
    // CHECK: simt.sum_ahead %[[ROWS]] times %{{.*}} at %{{.*}} {codec = #eider<codec software>} : vector<16xbf16>
    %sum = simt.sum_ahead %rows times %v at %at {codec = #eider<codec software>} : vector<16xbf16>, !simt.cursor<<rows, threads = 32, vector = 16, rows = 2, columns = 512, loads = 2, width = 512>> -> vector<2xf32>
  }
}
