// A kernel names and describes each of its arguments; a loop over tiles has one tile.
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

simt.kernel @no_tile [] threads = 64 grid = "1" arguments = [] alignments = {} header = [] {
  %rows = arith.constant 1 : i64
  // expected-error @below {{'simt.for_tiles' op has one argument, the tile at its position}}
  simt.for_tiles %rows {
  }
}
