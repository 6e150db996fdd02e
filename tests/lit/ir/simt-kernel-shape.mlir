// A kernel names each of its arguments; a loop over tiles has one tile.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'simt.kernel' op}}
simt.kernel @names ["x", "y"] threads = 64 grid = "1" arguments = ["tensor:x"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>):
}

// -----

simt.kernel @no_tile [] threads = 64 grid = "1" arguments = [] alignments = {} header = [] {
  %rows = arith.constant 1 : i64
  // expected-error @below {{'simt.for_tiles' op}}
  simt.for_tiles %rows {
  }
}
