// Ops that have no text.
//
// RUN: eider-opt %s -eider-print-cuda -split-input-file -verify-diagnostics -o /dev/null

simt.kernel @power ["a", "b"] threads = 32 grid = "1" arguments = ["scalar:a", "scalar:b"] alignments = {} header = [] {
^bb0(%a: f32, %b: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // expected-error @below {{has no text}}
    %v = math.powf %a, %b : f32
  }
}

// -----

simt.kernel @unordered ["a", "b"] threads = 32 grid = "1" arguments = ["scalar:a", "scalar:b"] alignments = {} header = [] {
^bb0(%a: f32, %b: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // expected-error @below {{has no text}}
    %v = arith.cmpf ult, %a, %b : f32
  }
}

// -----

simt.kernel @nan ["a", "b"] threads = 32 grid = "1" arguments = ["scalar:a", "scalar:b"] alignments = {} header = [] {
^bb0(%a: f32, %b: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // expected-error @below {{a constant that is no number has no text}}
    %v = arith.constant 0x7FC00000 : f32
    %w = arith.addf %a, %v : f32
  }
}

// -----

simt.kernel @dense ["a", "b"] threads = 32 grid = "1" arguments = ["scalar:a", "scalar:b"] alignments = {} header = [] {
^bb0(%a: f32, %b: f32):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // expected-error @below {{a constant of this type has no text}}
    %v = arith.constant dense<1.0> : vector<8xf32>
  }
}
