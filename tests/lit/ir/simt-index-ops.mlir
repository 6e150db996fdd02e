// A tile in another row, positions, and turned halves; and what of them is refused.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics | FileCheck %s

!row = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>

// CHECK-LABEL: simt.kernel @chosen
simt.kernel @chosen ["p", "n"] threads = 32 grid = "n" arguments = ["tensor:p", "dim:n"] alignments = {} header = [] {
^bb0(%p: !simt.pointer<f32>, %n: i64):
  simt.for_tiles %n {
  ^bb0(%at: !row):
    // CHECK: %[[ROW:.*]] = simt.position rows at %[[AT:.*]] : <{{.*}}> -> i64
    %row = simt.position rows at %at : !row -> i64
    // CHECK: simt.position columns at %[[AT]] : <{{.*}}> -> vector<4xi64>
    %columns = simt.position columns at %at : !row -> vector<4xi64>
    // CHECK: %[[CHOSEN:.*]] = simt.at_row %[[AT]], %[[ROW]] of %{{.*}} : <{{.*}}>
    %chosen = simt.at_row %at, %row of %n : !row
    // CHECK: %[[X:.*]] = simt.load repeated %{{.*}} at %[[CHOSEN]] {each = 2 : i64, group = 64 : i64} : <f32>, <{{.*}}> -> vector<4xf32>
    %x = simt.load repeated %p at %chosen {group = 64, each = 2} : !simt.pointer<f32>, !row -> vector<4xf32>
    // CHECK: simt.rotate %[[X]] over 64 at %[[AT]] : vector<4xf32>, <{{.*}}>
    %y = simt.rotate %x over 64 at %at : vector<4xf32>, !row
    simt.store elements %y to %p at %at : vector<4xf32>, !simt.pointer<f32>, !row
    // CHECK: %[[SEEN:.*]] = simt.seen %[[CHOSEN]] from %[[ROW]] to %{{.*}} : <{{.*}}>
    %seen = simt.seen %chosen from %row to %n : !row
    // CHECK: simt.seen %[[SEEN]] to %[[ROW]] : <{{.*}}>
    %before = simt.seen %seen to %row : !row
    // CHECK: simt.seen %[[SEEN]] from %[[ROW]] : <{{.*}}>
    %behind = simt.seen %seen from %row : !row
  }
}

// -----

!row = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>

simt.kernel @positions ["n"] threads = 32 grid = "n" arguments = ["dim:n"] alignments = {} header = [] {
^bb0(%n: i64):
  simt.for_tiles %n {
  ^bb0(%at: !row):
    // expected-error @below {{a thread holds 4 positions under}}
    %columns = simt.position columns at %at : !row -> vector<2xi64>
  }
}

// -----

!row = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>

simt.kernel @of_groups ["n"] threads = 32 grid = "n" arguments = ["dim:n"] alignments = {} header = [] {
^bb0(%n: i64):
  simt.for_tiles %n {
  ^bb0(%at: !row):
    // expected-error @below {{is that of rows or of columns}}
    %columns = simt.position groups at %at : !row -> i64
  }
}

// -----

!tile = !simt.cursor<<block, threads = 32, vector = 4, rows = 8, columns = 128, loads = 8, width = 128>>

simt.kernel @blocks ["n"] threads = 32 grid = "n" arguments = ["dim:n"] alignments = {} header = [] {
^bb0(%n: i64):
  simt.for_tiles %n {
  ^bb0(%at: !tile):
    // expected-error @below {{of a tile that lies in one row alone}}
    %chosen = simt.at_row %at, %n of %n : !tile
  }
}

// -----

!tile = !simt.cursor<<block, threads = 32, vector = 4, rows = 32, columns = 64, loads = 16, width = 64>>

simt.kernel @seen_of_a_block ["n"] threads = 32 grid = "1" arguments = ["dim:n"] alignments = {} header = [] {
^bb0(%n: i64):
  simt.for_tiles %n {
  ^bb0(%at: !tile):
    // expected-error @below {{of a tile that lies in one row alone}}
    %seen = simt.seen %at to %n : !tile
  }
}

// -----

!row = !simt.cursor<<row, threads = 32, vector = 4, rows = 1, columns = 128, loads = 1, width = 128>>

simt.kernel @seen_from_nowhere ["n"] threads = 32 grid = "1" arguments = ["dim:n"] alignments = {} header = [] {
^bb0(%n: i64):
  simt.for_tiles %n {
  ^bb0(%at: !row):
    // expected-error @below {{from a column, to one, or both}}
    %seen = simt.seen %at : !row
  }
}
