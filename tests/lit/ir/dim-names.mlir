// A dim's name that is no keyword is quoted wherever it is printed, or else it does not read back.
//
// XFAIL: *
// RUN: eider-opt %s | eider-opt | FileCheck %s

// CHECK: eider.program @dims("a dim") {
eider.program @dims("a dim") {
  // CHECK: eider.input "x" : tensor<?x?xf32, #eider.dims<"a dim", 2 * "a dim" / 3>>
  %x = eider.input "x" : tensor<?x?xf32, #eider.dims<"a dim", 2 * "a dim" / 3>>
}
