// A parameter that stands twice is a slip of the writer: which of the two was meant?
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'threads' stands twice}}
eider.program @p() attributes {test.a = #eider.schedule<row<threads = 32, threads = 64, vector = 1>>} {}

// -----

// expected-error @+1 {{'nan' stands twice}}
eider.program @p() attributes {test.a = #eider.numerics<nan = ignore, nan = propagate>} {}
