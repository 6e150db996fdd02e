// A kernel names each of its arguments; a loop over tiles has one tile.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'simt.kernel' op has 1 arguments, not 2 parameters and 1 of the contract}}
simt.kernel @names ["x", "y"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

simt.kernel @no_tile [] threads = 64 grid = "1" arguments = [] alignments = {} header = [] {
  %rows = arith.constant 1 : i64
  // expected-error @below {{'simt.for_tiles' op has one argument, the tile at its position}}
  simt.for_tiles %rows {
  }
}
