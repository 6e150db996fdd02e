// A dim is named by a keyword: its name becomes a parameter of the text.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected valid keyword}}
eider.program @dims("a dim") {
}

// -----

eider.program @dims(n) {
  // expected-error @below {{expected valid keyword}}
  %x = eider.input "x" : tensor<?xf32, #eider.dims<"a dim">>
}
